import { conditionPhrases } from '../grant-condition.js';
import type { Phrase } from '../phrase.js';
import type { RoleSource } from './attempt.js';
import type { ContextualFactsBody } from './contextual-rows.js';

/** Formats a role `<type>:<key>#<role>`, such as "`reader` on document:plan". */
export function heldRolePhrases(name: string): readonly Phrase[] {
	const mark = name.lastIndexOf('#');
	return [{ name: name.slice(mark + 1) }, ' on ', { key: name.slice(0, mark) }];
}

/** Formats a role source, such as "from `member` on team:engineers, via the relation `readers`". */
export function roleSourcePhrases({ type, user, role, relation = '', condition }: RoleSource): readonly Phrase[] {
	const under = condition === undefined ? [] : [' under ', ...conditionPhrases(condition)];
	if (type === 'role_assignment') {
		return [user === undefined ? 'assigned on the instance' : 'assigned to everyone', ...under];
	}
	const source: readonly Phrase[] = ['from ', ...heldRolePhrases(role)];
	return type === 'computed_role' ? source : [...source, ', via the relation ', { name: relation }, ...under];
}

/** True if the source is a contextual fact, or a role given to the user by the check itself. */
export function isContextualSource(
	{ contextual = false, role, user, condition }: RoleSource,
	facts: ContextualFactsBody | undefined,
): boolean {
	const given = facts?.role_assignments ?? [];
	const isUnconditional = user === undefined && condition === undefined;
	return contextual || (isUnconditional && given.some((one) => `${one.resource_instance}#${one.role}` === role));
}

/** Adds the facts that a check carries to its input. The facts are validated like writes, and never stored. */

import { Failure, notFound, type Problem, unprocessable } from '../../failure.js';
import type { Query } from '../../wire/decision/check.js';
import type { ContextualFacts } from '../../wire/decision/contextual-facts.js';
import type { EngineInput, Holdings } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { parseInstanceName } from '../facts/instance-name.js';
import type { DecisionContext } from './decide.js';
import { type Mode, normalise } from './normalise.js';

/** Location of a check in the request. */
export type CheckPlace = Problem['loc'];

/**
 * Returns the engine input for a check, with its contextual facts. Throws `Failure`: `contextual_facts_off` if the
 * environment does not allow them, and `unprocessable` if they do not fit the schema or refer to unknown objects.
 */
export function checkInput(
	context: DecisionContext,
	query: Query,
	mode: Mode = 'edge',
	place: CheckPlace = ['body'],
): EngineInput {
	const input = normalise(query, context.time, mode);
	return query.contextual_facts ? withContextualFacts(context, input, query.contextual_facts, place) : input;
}

/** Returns an input with contextual facts in addition to the stored facts. `place` is the check's. Throws like `checkInput`. */
export function withContextualFacts(
	{ facts, denial }: Pick<DecisionContext, 'facts' | 'denial'>,
	input: EngineInput,
	given: ContextualFacts,
	place: CheckPlace,
): EngineInput {
	const asked = { ...input, contextual_facts: given };
	// The check is denied in any case, and the index may be outdated.
	if (denial !== undefined) return asked;
	if (!facts.allowsContextualFacts) {
		const message = 'the environment does not allow contextual facts: its setting `contextual_facts` is not true';
		throw new Failure('contextual_facts_off', message);
	}
	const problems = problemsIn(facts, given, [...place, 'contextual_facts']);
	if (problems.length > 0) throw unprocessable(problems);
	const { user, time } = input;
	const own = (given.role_assignments ?? []).filter((assignment) => assignment.user === user.key);
	if (own.length === 0) return asked;
	const added = own.map(({ resource_instance, role }) => [resource_instance, role] as const);
	return { ...asked, user: { ...user, holdings: holdings([...facts.instanceRoles.from(user.key, time), ...added]) } };
}

function problemsIn(facts: FactsIndex, given: ContextualFacts, place: CheckPlace): readonly Problem[] {
	return (given.role_assignments ?? []).flatMap(({ user, role, resource_instance }, index) => {
		const missing = (field: string, kind: string, reference: string): Problem => ({
			loc: [...place, 'role_assignments', index, field],
			msg: notFound(kind, reference).message,
			type: 'not_found',
		});
		const { type } = parseInstanceName(resource_instance);
		return [
			...(facts.hasUser(user) ? [] : [missing('user', 'User', user)]),
			...(facts.tenantKey(resource_instance) === undefined
				? [missing('resource_instance', 'ResourceInstance', resource_instance)]
				: facts.schema.rolesOn(type).includes(role)
					? []
					: [missing('role', 'Role', role)]),
		];
	});
}

/** Returns roles on instances as the policy reads them. Keys may be names of inherited object members. */
function holdings(roles: Iterable<readonly [instance: string, role: string]>): Holdings {
	const byType = new Map<string, Map<string, Map<string, null>>>();
	for (const [instance, role] of roles) {
		const { type } = parseInstanceName(instance);
		const byRole = byType.get(type) ?? new Map<string, Map<string, null>>();
		const instances = byRole.get(role) ?? new Map<string, null>();
		byType.set(type, byRole.set(role, instances.set(instance, null)));
	}
	return Object.fromEntries(
		Array.from(byType, ([type, byRole]) => [
			type,
			Object.fromEntries(Array.from(byRole, ([role, instances]) => [role, Object.fromEntries(instances)])),
		]),
	);
}

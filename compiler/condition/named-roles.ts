import { parseConditions } from './parse/grammar.js';
import { type NamedRole, rolesNamedIn } from './resource-roles.js';

/** Returns the roles on the resource that a user set's conditions name. Invalid conditions name none. */
export function rolesNamedBy(conditions: unknown): readonly NamedRole[] {
	const parsed = parseConditions(conditions, { type: 'userset', bound: true });
	return 'condition' in parsed ? rolesNamedIn(parsed.condition) : [];
}

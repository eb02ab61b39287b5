import type { RoleOperand } from '../role-expression.js';
import { parseConditions } from './parse/grammar.js';
import { rolesNamedIn } from './resource-roles.js';

/** Returns the roles on the resource that a user set's conditions name. Invalid conditions name none. */
export function rolesNamedBy(conditions: unknown): readonly RoleOperand[] {
	const parsed = parseConditions(conditions, { type: 'userset', bound: true });
	return 'condition' in parsed ? rolesNamedIn(parsed.condition) : [];
}

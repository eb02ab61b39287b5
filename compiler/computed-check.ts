/** Checks computed roles. */
import { type Diagnostic, finding, tick } from './diagnostic.js';
import type { Resource, ResourceRole } from './model.js';
import { extendsCycles } from './policy/grant.js';
import { operandKeys, requiresRole, roleFormula, roleOperands } from './role-expression.js';

/** Returns all findings about a resource type's computed roles, in no particular order. */
export function checkComputedRoles({ key, roles }: Resource): readonly Diagnostic[] {
	const place = ['resources', key, 'roles'];
	const operands = roles.map((role) => ({ key: role.key, extends: operandKeys(role.computed) }));
	return [
		...roles.flatMap((role) => checkComputedRole([...place, role.key], role, roles)),
		...extendsCycles(operands).map((chain) => {
			const [first = ''] = chain;
			const cycle = [...chain, first].map(tick).join(' from ');
			const message = `roles are computed from each other in a cycle: ${cycle}`;
			return finding('misplaced_computed_role', [...place, first, 'computed'], message);
		}),
	];
}

function checkComputedRole(
	place: readonly string[],
	{ key, computed, derivations }: ResourceRole,
	roles: readonly ResourceRole[],
): readonly Diagnostic[] {
	if (computed === undefined) return [];
	const at = [...place, 'computed'];
	const misplaced = (message: string) => finding('misplaced_computed_role', at, message);
	return [
		...roleOperands(computed)
			.filter(({ role }) => !roles.some((other) => other.key === role))
			.map(({ role, at: within }) =>
				finding('unknown_role', [...at, ...within.map(String)], `role ${tick(role)} does not exist`),
			),
		...(requiresRole(roleFormula(computed))
			? []
			: [misplaced(`an alternative of the computed role ${tick(key)} requires no role`)]),
		...(derivations.length === 0 ? [] : [misplaced(`the computed role ${tick(key)} has derivations`)]),
	];
}

/** Computed roles. Their expressions name roles on the same resource by key. */

import { computedLinkMessage, computedLinkProblems } from '../../../compiler/computed-check.js';
import { unknownRoleMessage } from '../../../compiler/condition/resource-roles.js';
import { groupBy } from '../../../compiler/group-by.js';
import { extendsCycles } from '../../../compiler/policy/grant.js';
import { operandKeys, requiresRole, roleFormula, roleOperands, roleWords } from '../../../compiler/role-expression.js';
import { Failure, notAssignable, type Problem, unprocessable } from '../../failure.js';
import { computedRoleIds, derivationsWith } from '../../store/model/graph-walk.js';
import { Resource } from '../../store/table/resource.js';
import { Role, rolesOfResources } from '../../store/table/role.js';
import { assignmentsBy } from '../../store/table/role-assignment.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { schemaOfIds } from '../check-limit/check-steps.js';

/** An edited role. `at` is its location in the request. */
export interface EditedRole {
	readonly role: Role;
	readonly at: readonly (string | number)[];
}

/**
 * Validates the computed roles among edited roles, after the edit. Throws `unprocessable` if a derivation or an
 * expression is unsound, and `conflict` if a computed role is assigned.
 */
export async function refuseUnsoundComputedRoles(unit: ReadingUnit, edits: readonly EditedRole[]): Promise<void> {
	const resourceIds = [...new Set(edits.flatMap(({ role }) => role.resource_id ?? []))];
	if (resourceIds.length === 0) return;
	await refuseUnsoundLinks(unit);
	const rows = await rolesOfResources(unit, resourceIds).all();
	const places = new Map(edits.map(({ role, at }) => [role.id, at]));
	const edited = rows.filter(({ id, computed }) => computed !== null && places.has(id));
	if (edited.length === 0) return;
	const owners = await unit.findMany(Resource, resourceIds);
	const byResource = groupBy(rows, ({ resource_id }) => resource_id);
	const circular = new Map([...byResource].map(([id, roles]) => [id, rolesInCycles(roles)]));
	const long = new Map([...byResource].map(([id, roles]) => [id, rolesTooLong(roles)]));
	const derived = new Set((await derivationsWith(unit, 'all')).map(({ role_id }) => role_id));
	const problems = edited.flatMap((role): readonly Problem[] => {
		const at = places.get(role.id) ?? [];
		const { resource_id } = role;
		const siblings = byResource.get(resource_id) ?? [];
		const circle = circular.get(resource_id);
		const isCircular = circle !== undefined && circle.size > 0;
		const tooLong = isCircular ? undefined : long.get(resource_id)?.find(({ id }) => id === role.id || !places.has(id));
		return [
			...unknownOperands(role, siblings, owners.get(resource_id ?? '')?.key ?? ''),
			...misplaced(role, circle?.get(role.key), derived.has(role.id)),
			...(tooLong === undefined ? [] : [tooManyLookUps(tooLong)]),
		].map(({ loc, ...problem }) => ({ ...problem, loc: [...at, ...loc] }));
	});
	if (problems.length > 0) throw unprocessable(problems);
	await refuseAssigned(unit, edited);
}

/** Rejects unsupported derivations from computed roles. Throws `unprocessable`. */
export async function refuseUnsoundLinks(unit: ReadingUnit): Promise<void> {
	const computed = await computedRoleIds(unit);
	if (computed.length === 0) return;
	const [problem] = computedLinkProblems(schemaOfIds(await derivationsWith(unit, 'all'), computed));
	if (problem === undefined) return;
	const { key } = await unit.find(Role, problem.role.role);
	const msg = computedLinkMessage(problem.reason, `the role \`${key}\``);
	throw unprocessable([{ loc: ['body'], msg, type: 'computed_role' }]);
}

function unknownOperands({ key, computed }: Role, siblings: readonly Role[], resource: string): readonly Problem[] {
	if (computed === null) return [];
	const known = siblings.map((role) => role.key);
	const others = known.filter((other) => other !== key);
	return roleOperands(computed)
		.filter(({ role }) => !known.includes(role))
		.map(({ role, at }) => {
			return { loc: ['computed', ...at], msg: unknownRoleMessage(resource, role, others), type: 'unknown_role' };
		});
}

function misplaced(role: Role, cycle: string | undefined, isDerived: boolean): readonly Problem[] {
	const { computed, grant_conditions } = role;
	if (computed === null) return [];
	const problem = (member: string, msg: string) => ({ loc: [member], msg, type: 'computed_role' });
	return [
		...(requiresRole(roleFormula(computed))
			? []
			: [
					problem(
						'computed',
						'each alternative must require a role outside `not`, or users without any role would hold this role',
					),
				]),
		...(cycle === undefined ? [] : [problem('computed', `the role would be computed from itself: ${cycle}`)]),
		...(isDerived
			? [
					problem(
						'granted_to',
						'a computed role is neither derived nor assigned to sets of users: remove `granted_to` and `grantable_to`, or `computed`',
					),
				]
			: []),
		...(role.public
			? [problem('public', 'a computed role is never assigned: set `public` to false or `computed` to null')]
			: []),
		...(grant_conditions.length === 0
			? []
			: [
					problem(
						'grant_conditions',
						'a computed role is never assigned, so it declares no conditions: remove `grant_conditions` or set `computed` to null',
					),
				]),
	];
}

/**
 * Maximum number of role lookups for a computed role in a check, including the lookups for each computed role in its
 * expression. Policies do not cache lookups: a chain of a few roles, in which each expression names the previous role
 * twenty times, would take minutes.
 */
const maxLookUps = 100;

function tooManyLookUps({ key }: Role): Problem {
	const msg =
		`the role \`${key}\` would take more than ${maxLookUps} role lookups per check, including the lookups for each computed ` +
		'role in its expression: name fewer computed roles, and each role once';
	return { loc: ['computed'], msg, type: 'computed_role' };
}

/** Returns the computed roles for which a check would look up too many roles. */
function rolesTooLong(roles: readonly Role[]): readonly Role[] {
	const operands = new Map(
		roles.flatMap(({ key, computed }) => (computed === null ? [] : [[key, roleOperands(computed)] as const])),
	);
	/** Counts the lookups for a role, and stops once there are too many, so that cycles and long chains end too. */
	const count = (key: string, before: number): number =>
		(operands.get(key) ?? []).reduce((sum, { role }) => (sum > maxLookUps ? sum : count(role, sum + 1)), before);
	return roles.filter(({ key, computed }) => computed !== null && count(key, 0) > maxLookUps);
}

/** Returns the cycle of each role that is computed from itself, in words, keyed by role key. */
function rolesInCycles(roles: readonly Role[]): ReadonlyMap<string, string> {
	const operands = roles.map(({ key, computed }) => ({ key, extends: operandKeys(computed) }));
	return new Map(
		extendsCycles(operands).flatMap((chain) => {
			const words = [...chain, ...chain.slice(0, 1)].map((key) => `\`${key}\``).join(' from ');
			return chain.map((key) => [key, words] as const);
		}),
	);
}

/** Rejects a computed role that users hold by assignment. Throws `conflict`. */
async function refuseAssigned(unit: ReadingUnit, roles: readonly Role[]): Promise<void> {
	const [row] = await assignmentsBy(unit, { role_ids: roles.map(({ id }) => id) }).slice({ page: 1, per_page: 1 });
	if (row === undefined) return;
	const { role, user, resource_instance } = row;
	const message =
		`the role \`${role}\` is assigned, for example to \`${user}\` on \`${resource_instance}\`: remove its assignments ` +
		'before it becomes a computed role';
	throw new Failure('conflict', message, { role });
}

/** Rejects the assignment of a computed role. Throws `invalid` with its expression. */
export function refuseToAssign({ key, computed }: Pick<Role, 'key' | 'computed'>): void {
	if (computed !== null) throw notAssignable(key, roleWords(computed));
}

/** Returns the computed roles with these roles as operands, keyed by the id of the operand. */
export async function computedFrom(
	unit: ReadingUnit,
	roles: readonly Role[],
): Promise<ReadonlyMap<string, readonly Role[]>> {
	const resourceIds = [...new Set(roles.flatMap(({ resource_id }) => resource_id ?? []))];
	const all = resourceIds.length === 0 ? [] : await rolesOfResources(unit, resourceIds).all();
	const nameOf = (resourceId: string | null, key: string) => JSON.stringify([resourceId, key]);
	const readers = groupBy(
		all.flatMap((role) => operandKeys(role.computed).map((key) => ({ role, name: nameOf(role.resource_id, key) }))),
		({ name }) => name,
	);
	return new Map(
		roles.flatMap(({ id, key, resource_id }) => {
			const own = readers.get(nameOf(resource_id, key));
			return own === undefined ? [] : [[id, own.map(({ role }) => role)] as const];
		}),
	);
}

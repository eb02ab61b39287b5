import { rolesNamedBy } from '../../../compiler/condition/named-roles.js';
import { groupBy } from '../../../compiler/group-by.js';
import { roleOperands } from '../../../compiler/role-expression.js';
import { Failure } from '../../failure.js';
import { type ConditionSet, userSetsOfResources } from '../../store/table/condition-set.js';
import { Resource } from '../../store/table/resource.js';
import { computedRoles, type Role, rolesOfResources } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { computedFrom } from './computed-role.js';

/** Resource roles named by user sets and computed roles. Neither may outlive a role that it names. */

/** Returns the user sets that name each of these roles, keyed by role id. */
export async function setsNaming(
	unit: ReadingUnit,
	roles: readonly Role[],
): Promise<ReadonlyMap<string, readonly ConditionSet[]>> {
	const resourceIds = [...new Set(roles.flatMap(({ resource_id }) => resource_id ?? []))];
	const sets = resourceIds.length === 0 ? [] : await userSetsOfResources(unit, resourceIds).all();
	const named = sets.map((set) => ({ set, keys: new Set(rolesNamedBy(set.conditions).map(({ role }) => role)) }));
	const found = roles.map(({ id, key, resource_id }) => {
		const naming = named.filter(({ set, keys }) => set.resource_id === resource_id && keys.has(key));
		return [id, naming.map(({ set }) => set)] as const;
	});
	return new Map(found.filter(([, naming]) => naming.length > 0));
}

/** Rejects the deletion of roles that user sets name. Throws `conflict` with the keys of the sets. */
export async function refuseNamedRoles(unit: ReadingUnit, roles: readonly Role[]): Promise<void> {
	const naming = await setsNaming(unit, roles);
	const role = roles.find(({ id }) => naming.has(id));
	if (role === undefined) return;
	const sets = naming.get(role.id) ?? [];
	const message = `the role \`${role.key}\` is named in the conditions of ${nameObjects(sets)}`;
	throw new Failure('conflict', message, { role: role.key, condition_sets: sets.map(({ key }) => key) });
}

/**
 * Rejects the deletion of roles in the expressions of computed roles. Throws `conflict` with the computed roles' keys.
 */
export async function refuseOperands(unit: ReadingUnit, roles: readonly Role[]): Promise<void> {
	const readers = await computedFrom(unit, roles);
	const role = roles.find(({ id }) => readers.has(id));
	if (role === undefined) return;
	const computed = readers.get(role.id) ?? [];
	const message = `the role \`${role.key}\` is in the expression of ${nameObjects(computed)}`;
	throw new Failure('conflict', message, { role: role.key, computed_roles: computed.map(({ key }) => key) });
}

const maxListed = 10;

/** Returns the keys of sets or roles for a message. */
export function nameObjects(objects: readonly { readonly key: string }[]): string {
	const names = objects.slice(0, maxListed).map(({ key }) => `\`${key}\``);
	const more = objects.length > maxListed ? ` and ${objects.length - maxListed} more` : '';
	return `${names.join(', ')}${more}`;
}

/** Rejects an environment with a user set or a computed role that names a missing role. Throws `conflict`. */
export async function refuseMissingRoles(unit: ReadingUnit): Promise<void> {
	await refuseMissingOperands(unit);
	const sets = await userSetsOfResources(unit, 'all').all();
	const resourceIds = [...new Set(sets.flatMap(({ resource_id }) => resource_id ?? []))];
	if (resourceIds.length === 0) return;
	const roles = groupBy(await rolesOfResources(unit, resourceIds).all(), ({ resource_id }) => resource_id);
	for (const set of sets) {
		const known = new Set((roles.get(set.resource_id) ?? []).map(({ key }) => key));
		const missing = rolesNamedBy(set.conditions).find(({ role }) => !known.has(role))?.role;
		if (missing === undefined) continue;
		const { key } = await unit.find(Resource, set.resource_id ?? '');
		const message = `the condition set \`${set.key}\` names the role \`${missing}\`, which the resource \`${key}\` does not have`;
		throw new Failure('conflict', message, { role: missing, condition_sets: [set.key] });
	}
}

async function refuseMissingOperands(unit: ReadingUnit): Promise<void> {
	const computed = await computedRoles(unit).all();
	if (computed.length === 0) return;
	const resourceIds = [...new Set(computed.flatMap(({ resource_id }) => resource_id ?? []))];
	const roles = groupBy(await rolesOfResources(unit, resourceIds).all(), ({ resource_id }) => resource_id);
	for (const { key, resource_id, computed: expression } of computed) {
		const known = new Set((roles.get(resource_id) ?? []).map((role) => role.key));
		const missing = expression === null ? undefined : roleOperands(expression).find(({ role }) => !known.has(role));
		if (missing === undefined) continue;
		const { role } = missing;
		const resource = await unit.find(Resource, resource_id ?? '');
		const message = `the computed role \`${key}\` names the role \`${role}\`, which the resource \`${resource.key}\` does not have`;
		throw new Failure('conflict', message, { role, computed_roles: [key] });
	}
}

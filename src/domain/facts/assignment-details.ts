import { groupBy } from '../../../compiler/group-by.js';
import { isUserSet } from '../../../compiler/user-set.js';
import { type InstanceRow, instancesBy } from '../../store/table/resource-instance.js';
import { grantRows, Role } from '../../store/table/role.js';
import type { AssignmentRow } from '../../store/table/role-assignment.js';
import { Tenant } from '../../store/table/tenant.js';
import { Holder } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { RoleAssignmentDetailedRead } from '../../wire/facts/role-assignment.js';
import { readCondition } from '../schema/condition-values.js';

/** Converts assignments to API objects with their user, role, tenant and instance. */
export async function readDetailedAssignments(
	unit: ReadingUnit,
	rows: readonly AssignmentRow[],
): Promise<readonly RoleAssignmentDetailedRead[]> {
	const users = await unit.findMany(
		Holder,
		rows.map((row) => row.user_id),
	);
	const tenants = await unit.findMany(
		Tenant,
		rows.map((row) => row.tenant_id),
	);
	const roles = await findDetailedRoles(unit, rows);
	const instances = await findAssignedInstances(unit, rows);
	return rows.flatMap((row) => {
		const user = isUserSet(row.user) ? userOfSet(row) : users.get(row.user_id);
		const role = roles.get(row.role_id);
		const tenant = tenants.get(row.tenant_id);
		if (user === undefined || role === undefined || tenant === undefined) return [];
		const details = {
			user,
			role,
			tenant: { ...tenant, attributes: tenant.attributes ?? {} },
			resource_instance: instances.get(row.resource_instance_id) ?? null,
		};
		const expires_at = row.expires_at ?? undefined;
		return [{ ...row, ...unit.scope, ...details, expires_at, condition: readCondition(row) }];
	});
}

/** Returns a set of users in the format of a user. */
function userOfSet({ user_id, user }: AssignmentRow) {
	return { id: user_id, key: user, email: null, first_name: null, last_name: null, attributes: {} };
}

/** Returns the assigned roles, keyed by id. A resource role lists its permissions by action key only. */
async function findDetailedRoles(unit: ReadingUnit, rows: readonly AssignmentRow[]) {
	const roles = await unit.findMany(
		Role,
		rows.map((row) => row.role_id),
	);
	const ids = [...roles.values()].map((role) => role.id);
	const grants = groupBy(await grantRows(unit, ids), (grant) => grant.role_id);
	const detailed = [...roles.values()].map((role) => {
		const permissions = (grants.get(role.id) ?? []).map(({ resource, action }) =>
			role.resource_id === null ? `${resource}:${action}` : action,
		);
		return [role.id, { ...role, permissions }] as const;
	});
	return new Map(detailed);
}

async function findAssignedInstances(
	unit: ReadingUnit,
	rows: readonly AssignmentRow[],
): Promise<ReadonlyMap<string | null, InstanceRow>> {
	const ids = [...new Set(rows.flatMap((row) => row.resource_instance_id ?? []))];
	if (ids.length === 0) return new Map();
	const instances = await instancesBy(unit, { ids }).all();
	return new Map(instances.map((instance) => [instance.id, instance]));
}

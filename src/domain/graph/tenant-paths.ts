import type { Schema } from '../../../compiler/model.js';
import { roleAndRelationKeys } from '../../store/model/fact-names.js';
import { readSchema } from '../../store/model/model.js';
import { rolesAssignedIn } from '../../store/model/role-steps.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Path } from './write-paths.js';

/** Maximum number of roles examined per user and tenant. */
const maxTenantRoles = 100;

/**
 * Returns the paths through the user's tenant roles that allow an action on the instance. The roles are in the
 * instance's tenant.
 */
export async function pathsThroughTenant(
	unit: ReadingUnit,
	userId: string,
	{ id: instance_id, tenant_id, resource }: InstanceRow,
): Promise<readonly Path[]> {
	const assigned = await rolesAssignedIn(unit, userId, tenant_id, maxTenantRoles);
	if (assigned.length === 0) return [];
	const roleIds = assigned.map(({ role_id }) => role_id);
	const keys = await roleAndRelationKeys(unit, roleIds);
	const schema = await readSchema(unit);
	return assigned.flatMap(({ id, role_id, expires_at }): Path[] => {
		const role = keys.get(role_id) ?? '';
		const actions = actionsAllowed(schema, role, resource);
		if (actions.length === 0) return [];
		const [from, to] = [{ kind: 'user', id: userId } as const, { kind: 'tenant', id: tenant_id } as const];
		const fact = { id, from, to, by: { kind: 'role', id: role_id } as const, tenant_id, expires_at };
		return [[{ fact }, { tenant_id, instance_id, role, actions }]];
	});
}

/** Returns the keys of the actions that a tenant role grants on a resource, including grants from extended roles. */
function actionsAllowed({ roles, resources }: Schema, role: string, resource: string): readonly string[] {
	const byKey = new Map(roles.map((one) => [one.key, one]));
	const reached = new Set([role]);
	// The loop also visits the keys that it adds.
	for (const key of reached) for (const parent of byKey.get(key)?.extends ?? []) reached.add(parent);
	const granted = new Set(
		[...reached].flatMap((key) =>
			(byKey.get(key)?.permissions ?? []).flatMap((one) => (one.resource === resource ? [one.action] : [])),
		),
	);
	const actions = resources.find(({ key }) => key === resource)?.actions ?? [];
	return actions.map(({ key }) => key).filter((key) => granted.has(key));
}

import { Tenant } from '../../store/table/tenant.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { TenantCreate } from '../../wire/facts/tenant.js';
import { removeUserInvites } from '../element/remove-user-invites.js';
import { removeRequests } from '../element/request-record.js';
import { refuseTakenKeys } from '../refuse-taken-keys.js';
import { definedFields } from '../schema/defined-fields.js';
import { removeAssignments } from './assignment.js';
import { removeInstances } from './resource-instance.js';
import { removeTenantUsers } from './tenant-user.js';

/** Adds a tenant. Throws `duplicate` if its key is taken. */
export async function createTenant(unit: WritingUnit, body: TenantCreate): Promise<Tenant> {
	return unit.create(Tenant, tenantColumns(unit, body), body.key);
}

/** Adds many tenants. Throws `duplicate` for the first key that is taken or repeated. */
export async function createTenants(unit: WritingUnit, bodies: readonly TenantCreate[]): Promise<readonly Tenant[]> {
	const givenKeys = bodies.map(({ key }) => key);
	await refuseTakenKeys(unit, Tenant, givenKeys);
	return unit.createMany(
		Tenant,
		bodies.map((body) => tenantColumns(unit, body)),
		(tenant) => tenant.key,
	);
}

/** Deletes a tenant with its resource instances, role assignments, memberships, invites and requests. */
export async function removeTenant(unit: WritingUnit, tenant: Tenant): Promise<void> {
	await removeTenants(unit, [tenant]);
}

/** Deletes tenants, each once. Like `removeTenant`, it deletes everything that belongs to them. */
export async function removeTenants(unit: WritingUnit, tenants: readonly Tenant[]): Promise<void> {
	const tenant_ids = tenants.map((tenant) => tenant.id);
	await removeAssignments(unit, { tenant_ids });
	await removeTenantUsers(unit, { tenant_ids });
	await removeUserInvites(unit, { tenant_ids });
	await removeRequests(unit, { tenant_ids });
	await removeInstances(unit, { tenant_ids });
	await unit.removeMany(Tenant, tenants, (tenant) => tenant.key);
}

function tenantColumns(unit: WritingUnit, body: TenantCreate) {
	return { ...definedFields(body), last_action_at: unit.now };
}

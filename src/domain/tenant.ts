import { Tenant } from '../store/table/tenant.js';
import type { WritingUnit } from '../store/unit.js';
import { removeAssignments } from './assignment.js';
import { removeTenantUsers } from './tenant-user.js';

/** Deletes a tenant with the roles held in it and the places of its users. */
export async function removeTenant(unit: WritingUnit, tenant: Tenant): Promise<void> {
	await removeAssignments(unit, { tenant_ids: [tenant.id] });
	await removeTenantUsers(unit, { tenant_ids: [tenant.id] });
	await unit.remove(Tenant, tenant, tenant.key);
}

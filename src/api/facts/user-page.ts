import { readUsers } from '../../domain/facts/user.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import type { Tenant } from '../../store/table/tenant.js';
import { usersBy } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { UserQuery } from '../../wire/facts/user.js';

/** Returns a page with users from the environment or a tenant. */
export async function userPage(unit: ReadingUnit, query: UserQuery, tenant?: Tenant) {
	const { search, search_operator, role, include_resource_instance_roles: withInstanceRoles } = query;
	const role_ids = role === undefined ? undefined : await rolesCalled(unit, role, withInstanceRoles);
	const page = await usersBy(unit, { search, search_operator, role_ids, tenant_id: tenant?.id }).page(query);
	return { ...page, data: [...(await readUsers(unit, page.data, withInstanceRoles))] };
}

/**
 * Resolves a role reference to tenant role ids and, on request, resource role ids. An unknown role has no id, so no
 * user has it.
 */
async function rolesCalled(unit: ReadingUnit, reference: string, withInstanceRoles: boolean) {
	const roles = withInstanceRoles
		? await unit.findNamed(Role, [reference])
		: [...(await unit.findMany(Role, [reference], tenantRolesOnly)).values()];
	return roles.map(({ id }) => id);
}

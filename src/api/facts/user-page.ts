import { readUsers } from '../../domain/user.js';
import { pageOf } from '../../store/filter.js';
import { ofTenants, Role } from '../../store/table/role.js';
import type { Tenant } from '../../store/table/tenant.js';
import { usersBy } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit.js';
import type { UserQuery } from '../../wire/user.js';

/** One page of the environment's users that the query asks for, or of the users of a tenant. */
export async function userPage(unit: ReadingUnit, query: UserQuery, tenant?: Tenant) {
	const { search, role, include_resource_instance_roles: withInstanceRoles } = query;
	const role_ids = role === undefined ? undefined : await rolesCalled(unit, role, withInstanceRoles);
	const page = await pageOf(usersBy(unit, { search, role_ids, tenant_id: tenant?.id }), query);
	return { ...page, data: [...(await readUsers(unit, page.data, withInstanceRoles))] };
}

/** Tenant roles, and where asked for those of resources as well. A role that does not exist is held by nobody. */
async function rolesCalled(unit: ReadingUnit, reference: string, withInstanceRoles: boolean) {
	const roles = withInstanceRoles
		? await unit.findNamed(Role, [reference])
		: [...(await unit.findMany(Role, [reference], ofTenants)).values()];
	return roles.map(({ id }) => id);
}

import { removeTenantUser } from '../../domain/facts/tenant-user.js';
import { addUserToTenant, readUser } from '../../domain/facts/user.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import { Reference } from '../../wire/common.js';
import { UserCreate, UserQuery, UserRead } from '../../wire/facts/user.js';
import { paginated } from '../../wire/list.js';
import { endpoint } from '../access.js';
import { TenantPath } from './tenants.js';
import { userPage } from './user-page.js';

const tag = 'Tenants';
const collection = '/v2/facts/:proj_id/:env_id/tenants/:tenant_id/users';
const collectionPlace = methods({ tag, path: collection, params: TenantPath });

/** Tenant users: members, and users with a role in the tenant. */
export const tenantUsers = [
	endpoint({
		...collectionPlace.get,
		name: 'listTenantUsers',
		summary: 'List tenant users',
		description:
			'Lists users added to the tenant and users with a role in it. With `role`, lists only holders of this role.',
		access: 'environment.read',
		query: UserQuery,
		returns: { 200: paginated(UserRead) },
		failures: { 404: 'No such tenant' },
		handle: async ({ params, query }, { unit }) =>
			reply(200, await userPage(unit, query, await unit.find(Tenant, params.tenant_id))),
	}),
	endpoint({
		...collectionPlace.post,
		name: 'addUserToTenant',
		summary: 'Add a user to a tenant, creating the user if missing',
		description:
			'An existing user is unchanged except for the new roles in `role_assignments`. Tenant membership itself ' +
			'grants no permissions.',
		access: 'environment.write',
		body: UserCreate,
		example: { key: 'alice@example.com', email: 'alice@example.com', first_name: 'Alice', last_name: 'Doe' },
		returns: { 200: UserRead },
		failures: { 404: 'No such tenant, or an object in a role assignment does not exist' },
		handle: async ({ params, body }, { unit }) =>
			reply(200, await readUser(unit, await addUserToTenant(unit, await unit.find(Tenant, params.tenant_id), body))),
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:user_id`, params: TenantPath.extend({ user_id: Reference }) }).delete,
		name: 'removeUserFromTenant',
		summary: 'Remove a user from a tenant, with all roles in it',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such tenant or user, or the user does not belong to the tenant' },
		handle: async ({ params }, { unit }) => {
			const tenant = await unit.find(Tenant, params.tenant_id);
			return emptied(removeTenantUser(unit, tenant, await unit.find(User, params.user_id)));
		},
	}),
];

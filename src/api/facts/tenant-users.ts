import { removeTenantUser } from '../../domain/facts/tenant-user.js';
import { addUserToTenant, readUser } from '../../domain/facts/user.js';
import { reply } from '../../http/endpoint.js';
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
const collectionPlace = { tag, path: collection, params: TenantPath } as const;

/** Tenant users: members, and users with a role in the tenant. */
export const tenantUsers = [
	endpoint({
		...collectionPlace,
		name: 'listTenantUsers',
		summary: 'List the users of a tenant',
		description: 'Those who were added to it and those who hold a role there; with `role`, who hold that role there.',
		method: 'get',
		access: 'environment.read',
		query: UserQuery,
		returns: { 200: paginated(UserRead) },
		failures: { 404: 'No such tenant' },
		handle: async ({ params, query }, { unit }) => {
			return reply(200, await userPage(unit, query, await unit.find(Tenant, params.tenant_id)));
		},
	}),
	endpoint({
		...collectionPlace,
		name: 'addUserToTenant',
		summary: 'Add a user to a tenant, creating it when it does not exist',
		description:
			'An existing user is not changed, but is given the roles in `role_assignments`. Belonging to a tenant permits ' +
			'nothing: roles do.',
		method: 'post',
		access: 'environment.write',
		body: UserCreate,
		example: { key: 'alice@example.com', email: 'alice@example.com', first_name: 'Alice', last_name: 'Doe' },
		returns: { 200: UserRead },
		failures: { 404: 'No such tenant, or a role assignment names nothing' },
		handle: async ({ params, body }, { unit }) => {
			return reply(
				200,
				await readUser(unit, await addUserToTenant(unit, await unit.find(Tenant, params.tenant_id), body)),
			);
		},
	}),
	endpoint({
		name: 'removeUserFromTenant',
		summary: 'Take a user out of a tenant, with the roles it holds there',
		tag,
		method: 'delete',
		path: `${collection}/:user_id`,
		access: 'environment.write',
		params: TenantPath.extend({ user_id: Reference }),
		returns: { 204: null },
		failures: { 404: 'No such tenant or user, or the user does not belong to the tenant' },
		handle: async ({ params }, { unit }) => {
			const tenant = await unit.find(Tenant, params.tenant_id);
			await removeTenantUser(unit, tenant, await unit.find(User, params.user_id));
			return reply(204);
		},
	}),
];

import { assign, readAssignment, unassign } from '../../domain/facts/assignment.js';
import {
	changeUser,
	createUser,
	createUsers,
	readNewUser,
	readUser,
	removeUser,
	removeUsers,
	syncUser,
	syncUsers,
} from '../../domain/facts/user.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { User } from '../../store/table/user.js';
import { Reference, UserKey } from '../../wire/common.js';
import { BulkReport } from '../../wire/facts/bulk.js';
import { RoleAssignmentRead, RoleAssignmentRemoveQuery } from '../../wire/facts/role-assignment.js';
import {
	maxBulkUsers,
	UserBulkCreate,
	UserBulkRemove,
	UserBulkReplace,
	UserCreate,
	UserQuery,
	UserRead,
	UserReplace,
	UserRoleCreate,
	UserRoleRemove,
	UserUpdate,
} from '../../wire/facts/user.js';
import { paginated } from '../../wire/list.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { userPage } from './user-page.js';

const tag = 'Users';
const collection = '/v2/facts/:proj_id/:env_id/users';
const member = `${collection}/:user_id`;
const bulk = '/v2/facts/:proj_id/:env_id/bulk/users';
const UserPath = EnvironmentPath.extend({ user_id: Reference });
const example = { key: 'alice@example.com', email: 'alice@example.com', first_name: 'Alice', last_name: 'Doe' };
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: UserPath });
const bulkPlace = methods({ tag, path: bulk, params: EnvironmentPath });

export const users = [
	endpoint({
		...collectionPlace.get,
		name: 'listUsers',
		summary: 'List users',
		access: 'environment.read',
		query: UserQuery,
		returns: { 200: paginated(UserRead) },
		handle: async ({ query }, { unit }) => reply(200, await userPage(unit, query)),
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createUser',
		summary: 'Create a user',
		access: 'environment.write',
		body: UserCreate,
		example,
		returns: { 200: UserRead },
		failures: { 404: 'An object in a role assignment does not exist', 409: 'A user with this key exists' },
		handle: async ({ body }, { unit }) => reply(200, await readNewUser(unit, await createUser(unit, body), body)),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getUser',
		summary: 'Get a user',
		access: 'environment.read',
		returns: { 200: UserRead },
		failures: { 404: 'No such user' },
		handle: async ({ params }, { unit }) => reply(200, await readUser(unit, await unit.find(User, params.user_id))),
	}),
	endpoint({
		...methods({ tag, path: member, params: EnvironmentPath.extend({ user_id: UserKey.describe('User key.') }) }).put,
		name: 'syncUser',
		summary: 'Create or replace a user',
		description:
			'Missing fields are reset. `role_assignments` replaces all roles in tenants and on resource instances; if it ' +
			'is missing, the roles stay.',
		access: 'environment.write',
		body: UserReplace,
		example,
		returns: { 200: UserRead, 201: UserRead },
		failures: { 404: 'An object in a role assignment does not exist' },
		handle: async ({ params, body }, { unit }) => {
			const { user, created } = await syncUser(unit, params.user_id, body);
			const read = await readUser(unit, user);
			return created ? reply(201, read) : reply(200, read);
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateUser',
		summary: 'Update a user',
		description: 'Null clears a field; `attributes` are replaced as a whole.',
		access: 'environment.write',
		body: UserUpdate,
		example: { first_name: 'Alicia' },
		returns: { 200: UserRead },
		failures: { 404: 'No such user' },
		handle: async ({ params, body }, { unit }) =>
			reply(200, await readUser(unit, await changeUser(unit, await unit.find(User, params.user_id), body))),
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteUser',
		summary: 'Delete a user with all role assignments',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such user' },
		handle: async ({ params }, { unit }) => emptied(removeUser(unit, await unit.find(User, params.user_id))),
	}),
	endpoint({
		...methods({ tag, path: `${member}/roles`, params: UserPath }).post,
		name: 'assignRoleToUser',
		summary: 'Assign a role to a user',
		access: 'environment.write',
		body: UserRoleCreate,
		example: { role: 'editor', tenant: 'default' },
		returns: { 200: RoleAssignmentRead },
		failures: { 404: 'No such user, role or tenant', 409: 'The user already has this role in the same scope' },
		handle: async ({ params, body }, { unit }) =>
			reply(200, readAssignment(unit, await assign(unit, { ...body, user: params.user_id }))),
	}),
	endpoint({
		...methods({ tag, path: `${member}/roles`, params: UserPath }).delete,
		name: 'unassignRoleFromUser',
		summary: 'Remove a role from a user',
		access: 'environment.write',
		query: RoleAssignmentRemoveQuery,
		body: UserRoleRemove,
		example: { role: 'editor', tenant: 'default' },
		returns: { 200: RoleAssignmentRead, 204: null },
		failures: { 404: 'No such user, role or tenant, or the user does not have the role in this scope' },
		handle: async ({ params, query, body }, { unit }) => {
			const row = await unassign(unit, { ...body, user: params.user_id });
			return query.return_deleted ? reply(200, readAssignment(unit, row)) : reply(204);
		},
	}),
	endpoint({
		...bulkPlace.post,
		name: 'createUsers',
		summary: 'Create users in bulk',
		description: `At most ${maxBulkUsers} users per call; all or none are created.`,
		access: 'environment.write',
		body: UserBulkCreate,
		example: { operations: [example] },
		returns: { 200: BulkReport },
		failures: {
			404: 'An object in a role assignment does not exist',
			409: 'A user with one of the keys already exists, or a key is repeated',
		},
		handle: async ({ body }, { unit }) => {
			await createUsers(unit, body.operations);
			return reply(200, {});
		},
	}),
	endpoint({
		...bulkPlace.put,
		name: 'syncUsers',
		summary: 'Create or replace users in bulk',
		description:
			`At most ${maxBulkUsers} users per call; all or none are written. Each item works as in \`PUT\` for a single ` +
			'user. If several items have the same key, the last item applies.',
		access: 'environment.write',
		body: UserBulkReplace,
		example: { operations: [example] },
		returns: { 200: BulkReport },
		failures: { 404: 'An object in a role assignment does not exist' },
		handle: async ({ body }, { unit }) => {
			await syncUsers(unit, body.operations);
			return reply(200, {});
		},
	}),
	endpoint({
		...bulkPlace.delete,
		name: 'deleteUsers',
		summary: 'Delete users in bulk, with their role assignments',
		description: `At most ${maxBulkUsers} users per call; all or none are deleted.`,
		access: 'environment.write',
		body: UserBulkRemove,
		example: { idents: ['alice@example.com'] },
		returns: { 200: BulkReport },
		failures: { 404: 'A user does not exist' },
		handle: async ({ body }, { unit }) => {
			await removeUsers(unit, await unit.findEach(User, body.idents));
			return reply(200, {});
		},
	}),
];

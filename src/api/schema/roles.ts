import { syncRolesOfEitherKind } from '../../domain/schema/resource-role.js';
import { changeRole, createRole, readRole, readRoles, removeRole } from '../../domain/schema/role.js';
import { grantPermissions, revokePermissions } from '../../domain/schema/role-permission.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { Role, rolesBy, tenantRolesOnly } from '../../store/table/role.js';
import { Reference } from '../../wire/common.js';
import { arrayOrPaginated } from '../../wire/list.js';
import { attributeFilterText } from '../../wire/query.js';
import {
	maxBulkRoles,
	RoleBulkRead,
	RoleBulkReplace,
	RoleCreate,
	RolePermissions,
	RolePermissionsRemove,
	RoleQuery,
	RoleRead,
	RoleUpdate,
} from '../../wire/schema/role.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listAnswer } from '../list-answer.js';

const tag = 'Roles';
const collection = '/v2/schema/:proj_id/:env_id/roles';
const member = `${collection}/:role_id`;

export const RolePath = EnvironmentPath.extend({ role_id: Reference });
const missing = 'No such role, or a permission or parent does not exist';
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: RolePath });
const permissionsPlace = methods({ tag, path: `${member}/permissions`, params: RolePath });

export const roles = [
	endpoint({
		...collectionPlace.get,
		name: 'listRoles',
		summary: 'List tenant roles',
		description: attributeFilterText,
		access: 'environment.read',
		query: RoleQuery,
		returns: { 200: arrayOrPaginated(RoleRead) },
		handle: async ({ query }, { unit }) => {
			const page = await rolesBy(unit, query).list(query);
			return reply(200, listAnswer(page, await readRoles(unit, page.data)));
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createRole',
		summary: 'Create a tenant role',
		access: 'environment.write',
		body: RoleCreate,
		example: { key: 'editor', name: 'Editor', permissions: ['document:read', 'document:write'] },
		returns: { 200: RoleRead },
		failures: {
			400: 'A permission does not have the form `resource:action`',
			404: 'A permission or parent does not exist',
			409: 'A role with this key already exists',
		},
		handle: async ({ body }, { unit }) => reply(200, await readRole(unit, await createRole(unit, body))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getRole',
		summary: 'Get a tenant role',
		access: 'environment.read',
		returns: { 200: RoleRead },
		failures: { 404: 'No such role' },
		handle: async ({ params }, { unit }) =>
			reply(200, await readRole(unit, await unit.find(Role, params.role_id, tenantRolesOnly))),
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateRole',
		summary: 'Update a tenant role',
		description: '`permissions`, `extends` and `attributes` are replaced as a whole.',
		access: 'environment.write',
		body: RoleUpdate,
		example: { description: 'Reads and writes documents' },
		returns: { 200: RoleRead },
		failures: { 400: 'A permission does not have the form `resource:action`', 404: missing },
		handle: async ({ params, body }, { unit }) =>
			reply(
				200,
				await readRole(unit, await changeRole(unit, await unit.find(Role, params.role_id, tenantRolesOnly), body)),
			),
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteRole',
		summary: 'Delete a tenant role with its assignments',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such role' },
		handle: async ({ params }, { unit }) =>
			emptied(removeRole(unit, await unit.find(Role, params.role_id, tenantRolesOnly))),
	}),
	endpoint({
		...permissionsPlace.post,
		name: 'assignPermissionsToRole',
		summary: 'Add permissions to a role',
		description: 'Existing permissions are skipped.',
		access: 'environment.write',
		body: RolePermissions,
		example: { permissions: ['document:read'] },
		returns: { 200: RoleRead },
		failures: { 400: 'A permission does not have the form `resource:action`', 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const role = await grantPermissions(
				unit,
				await unit.find(Role, params.role_id, tenantRolesOnly),
				body.permissions,
			);
			return reply(200, await readRole(unit, role));
		},
	}),
	endpoint({
		...permissionsPlace.delete,
		name: 'removePermissionsFromRole',
		summary: 'Remove permissions from a role',
		description: 'Missing permissions are skipped.',
		access: 'environment.write',
		body: RolePermissionsRemove,
		example: { permissions: ['document:read'] },
		returns: { 200: RoleRead },
		failures: { 400: 'A permission does not have the form `resource:action`', 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const role = await revokePermissions(
				unit,
				await unit.find(Role, params.role_id, tenantRolesOnly),
				body.permissions,
			);
			return reply(200, await readRole(unit, role));
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/schema/:proj_id/:env_id/bulk/roles', params: EnvironmentPath }).put,
		name: 'syncRoles',
		summary: 'Create or replace roles in bulk',
		description:
			`At most ${maxBulkRoles} roles per call; all or none are written. An item with \`resource\` is a resource ` +
			'role, and an item without it is a tenant role. Missing fields are reset. If several items have the same key, ' +
			'the last item applies.',
		access: 'environment.write',
		body: RoleBulkReplace,
		example: {
			operations: [
				{ key: 'editor', name: 'Editor', permissions: ['document:read', 'document:write'] },
				{ key: 'editor', name: 'Editor', resource: 'document', permissions: ['read', 'write'] },
			],
		},
		returns: { 200: RoleBulkRead },
		failures: {
			400:
				'A permission is malformed or belongs to a different resource, a relation does not fit a derivation, or a role ' +
				'would be derived from too many roles in a cycle',
			404: 'A resource, permission, parent or derivation refers to a missing object',
		},
		handle: async ({ body }, { unit }) => reply(200, await syncRolesOfEitherKind(unit, body.operations)),
	}),
];

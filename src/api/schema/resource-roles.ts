import { z } from 'zod';
import { findResourceRole, readResourceRole, readResourceRoles } from '../../domain/schema/resource-role.js';
import { changeRole, createRole, removeRole } from '../../domain/schema/role.js';
import { grantPermissions, revokePermissions } from '../../domain/schema/role-permission.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { Resource } from '../../store/table/resource.js';
import { rolesOfResources } from '../../store/table/role.js';
import { Reference } from '../../wire/common.js';
import { PageQuery } from '../../wire/query.js';
import {
	ResourceRoleCreate,
	ResourceRolePermissions,
	ResourceRolePermissionsRemove,
	ResourceRoleRead,
	ResourceRoleUpdate,
} from '../../wire/schema/resource-role.js';
import { endpoint } from '../access.js';
import { ResourcePath } from './resources.js';

const tag = 'Resource roles';
const collection = '/v2/schema/:proj_id/:env_id/resources/:resource_id/roles';
const member = `${collection}/:role_id`;

export const ResourceRolePath = ResourcePath.extend({ role_id: Reference });

const noSuch = 'No such resource or role';
const wrongPermission = 'A permission is malformed or belongs to a different resource';
const wrongLink = `${wrongPermission}, a relation does not fit a derivation, or a role would be derived from too many roles in a cycle`;
const missing = 'No such resource or role, or a permission, parent or derivation refers to a missing object';
const collectionPlace = methods({ tag, path: collection, params: ResourcePath });
const memberPlace = methods({ tag, path: member, params: ResourceRolePath });
const permissionsPlace = methods({ tag, path: `${member}/permissions`, params: ResourceRolePath });

/** Roles on resource instances. */
export const resourceRoles = [
	endpoint({
		...collectionPlace.get,
		name: 'listResourceRoles',
		summary: 'List the roles of a resource',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: z.array(ResourceRoleRead) },
		failures: { 404: 'No such resource' },
		handle: async ({ params, query }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const data = await rolesOfResources(unit, [resource.id]).slice(query);
			return reply(200, [...(await readResourceRoles(unit, data))]);
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createResourceRole',
		summary: 'Add a role to a resource',
		description:
			'Users hold the role on instances of the resource, by assignment or through the derivations in `granted_to`.',
		access: 'environment.write',
		body: ResourceRoleCreate,
		example: { key: 'editor', name: 'Editor', permissions: ['read', 'write'], extends: ['viewer'] },
		returns: { 200: ResourceRoleRead },
		failures: { 400: wrongLink, 404: missing, 409: 'The resource already has a role with this key' },
		handle: async ({ params, body }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			return reply(200, await readResourceRole(unit, await createRole(unit, body, resource)));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getResourceRole',
		summary: 'Get a resource role',
		access: 'environment.read',
		returns: { 200: ResourceRoleRead },
		failures: { 404: noSuch },
		handle: async ({ params }, { unit }) =>
			reply(200, await readResourceRole(unit, await findResourceRole(unit, params))),
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateResourceRole',
		summary: 'Update a resource role',
		description:
			'`permissions`, `extends`, `attributes` and `granted_to` are replaced as a whole. Null clears `granted_to`.',
		access: 'environment.write',
		body: ResourceRoleUpdate,
		example: { description: 'Reads and writes documents' },
		returns: { 200: ResourceRoleRead },
		failures: { 400: wrongLink, 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const role = await changeRole(unit, await findResourceRole(unit, params), body);
			return reply(200, await readResourceRole(unit, role));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteResourceRole',
		summary: 'Delete a resource role with its assignments and dependent derivations',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: noSuch },
		handle: async ({ params }, { unit }) => emptied(removeRole(unit, await findResourceRole(unit, params))),
	}),
	endpoint({
		...permissionsPlace.post,
		name: 'assignPermissionsToResourceRole',
		summary: 'Add permissions to a resource role',
		description: 'Existing permissions are skipped.',
		access: 'environment.write',
		body: ResourceRolePermissions,
		example: { permissions: ['read'] },
		returns: { 200: ResourceRoleRead },
		failures: { 400: wrongPermission, 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const role = await grantPermissions(unit, await findResourceRole(unit, params), body.permissions);
			return reply(200, await readResourceRole(unit, role));
		},
	}),
	endpoint({
		...permissionsPlace.delete,
		name: 'removePermissionsFromResourceRole',
		summary: 'Remove permissions from a resource role',
		description: 'Missing permissions are skipped.',
		access: 'environment.write',
		body: ResourceRolePermissionsRemove,
		example: { permissions: ['read'] },
		returns: { 200: ResourceRoleRead },
		failures: { 400: wrongPermission, 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const role = await revokePermissions(unit, await findResourceRole(unit, params), body.permissions);
			return reply(200, await readResourceRole(unit, role));
		},
	}),
];

import {
	changeResource,
	createResource,
	readResource,
	readResources,
	removeResource,
} from '../../domain/schema/resource.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { Resource, resourcesBy } from '../../store/table/resource.js';
import { Reference } from '../../wire/common.js';
import { arrayOrPaginated } from '../../wire/list.js';
import { attributeFilterText } from '../../wire/query.js';
import {
	ResourceCreate,
	ResourceQuery,
	ResourceRead,
	ResourceReplace,
	ResourceUpdate,
} from '../../wire/schema/resource.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listAnswer } from '../list-answer.js';

const tag = 'Resources';
const collection = '/v2/schema/:proj_id/:env_id/resources';
const member = `${collection}/:resource_id`;

export const ResourcePath = EnvironmentPath.extend({ resource_id: Reference });

const unlike = 'A built-in attribute would change, or a role would be derived from too many roles in a cycle';

const replacement = {
	name: 'Document',
	actions: { read: { name: 'Read' }, write: { name: 'Write' } },
	attributes: { private: { type: 'bool' } },
};
const example = { key: 'document', ...replacement };
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: ResourcePath });

/** Resource types. */
export const resources = [
	endpoint({
		...collectionPlace.get,
		name: 'listResources',
		summary: 'List resources',
		description: attributeFilterText,
		access: 'environment.read',
		query: ResourceQuery,
		returns: { 200: arrayOrPaginated(ResourceRead) },
		handle: async ({ query }, { unit }) => {
			const page = await resourcesBy(unit, query).list(query);
			return reply(200, listAnswer(page, await readResources(unit, page.data)));
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createResource',
		summary: 'Create a resource with its actions, attributes and relations',
		access: 'environment.write',
		body: ResourceCreate,
		example,
		returns: { 200: ResourceRead },
		failures: {
			404: 'The subject resource of a relation does not exist',
			409: 'A resource with this key already exists',
		},
		handle: async ({ body }, { unit }) => reply(200, await readResource(unit, await createResource(unit, body))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getResource',
		summary: 'Get a resource',
		access: 'environment.read',
		returns: { 200: ResourceRead },
		failures: { 404: 'No such resource' },
		handle: async ({ params }, { unit }) =>
			reply(200, await readResource(unit, await unit.find(Resource, params.resource_id))),
	}),
	endpoint({
		...memberPlace.put,
		name: 'replaceResource',
		summary: 'Replace a resource',
		description:
			'Missing fields are reset. Omitted actions are deleted with their grants, and omitted relations with their ' +
			'relationship tuples.',
		access: 'environment.write',
		body: ResourceReplace,
		example: replacement,
		returns: { 200: ResourceRead },
		failures: { 400: unlike, 404: 'No such resource, or the subject resource of a relation does not exist' },
		handle: async ({ params, body }, { unit }) => {
			const {
				urn = null,
				description = null,
				type_attributes = null,
				attributes = null,
				relations = {},
				roles = {},
				...given
			} = body;
			const replacement = { ...given, urn, description, type_attributes, attributes, relations, roles };
			const resource = await changeResource(unit, await unit.find(Resource, params.resource_id), replacement);
			return reply(200, await readResource(unit, resource));
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateResource',
		summary: 'Update a resource',
		description:
			'`actions`, `attributes` and `relations` in the body replace the stored values as a whole. Null clears an ' +
			'optional field.',
		access: 'environment.write',
		body: ResourceUpdate,
		example: { description: 'Written by users' },
		returns: { 200: ResourceRead },
		failures: { 400: unlike, 404: 'No such resource, or the subject resource of a relation does not exist' },
		handle: async ({ params, body }, { unit }) => {
			const resource = await changeResource(unit, await unit.find(Resource, params.resource_id), body);
			return reply(200, await readResource(unit, resource));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteResource',
		summary: 'Delete a resource with its definitions and instances',
		description:
			'Deletes its actions with their grants, its attributes, action groups and roles, its relations as subject or ' +
			'object, and its instances with their relationship tuples.',
		access: 'environment.write',
		returns: { 204: null },
		failures: {
			400: 'The resource is built in',
			404: 'No such resource',
			409: 'Conditions of other resources read its instances by `fk_resource_type`',
		},
		handle: async ({ params }, { unit }) =>
			emptied(removeResource(unit, await unit.find(Resource, params.resource_id))),
	}),
];

import { z } from 'zod';
import { definedFields } from '../../domain/schema/defined-fields.js';
import { removeActions } from '../../domain/schema/resource-action.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { actionsBy, Resource, ResourceAction } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { attributeFilterText, pageShape, withAttributeFilters } from '../../wire/query.js';
import { ResourceActionCreate, ResourceActionRead, ResourceActionUpdate } from '../../wire/schema/resource-action.js';
import { endpoint } from '../access.js';
import { ResourcePath } from './resources.js';

const tag = 'Resource actions';
const collection = '/v2/schema/:proj_id/:env_id/resources/:resource_id/actions';
const member = `${collection}/:action_id`;
const ActionPath = ResourcePath.extend({ action_id: Reference });
const collectionPlace = methods({ tag, path: collection, params: ResourcePath });
const memberPlace = methods({ tag, path: member, params: ActionPath });

export const resourceActions = [
	endpoint({
		...collectionPlace.get,
		name: 'listResourceActions',
		summary: 'List the actions of a resource',
		description: attributeFilterText,
		access: 'environment.read',
		query: withAttributeFilters(pageShape),
		returns: { 200: z.array(ResourceActionRead) },
		failures: { 404: 'No such resource' },
		handle: async ({ params, query }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const data = await actionsBy(unit, [resource.id], query.attribute_filters).slice(query);
			const items = data.map((action) => readAction(unit, resource, action));
			return reply(200, items);
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createResourceAction',
		summary: 'Add an action to a resource',
		access: 'environment.write',
		body: ResourceActionCreate,
		example: { key: 'publish', name: 'Publish' },
		returns: { 200: ResourceActionRead },
		failures: { 404: 'No such resource', 409: 'The resource already has an action with this key' },
		handle: async ({ params, body }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const columns = { ...definedFields(body), resource_id: resource.id };
			const action = await unit.create(ResourceAction, columns, `${resource.key}:${body.key}`);
			return reply(200, readAction(unit, resource, action));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getResourceAction',
		summary: 'Get an action of a resource',
		access: 'environment.read',
		returns: { 200: ResourceActionRead },
		failures: { 404: 'No such resource or action' },
		handle: async ({ params }, { unit }) => {
			const { resource, action } = await findAction(unit, params);
			return reply(200, readAction(unit, resource, action));
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateResourceAction',
		summary: 'Update an action',
		access: 'environment.write',
		body: ResourceActionUpdate,
		example: { description: 'Make it public' },
		returns: { 200: ResourceActionRead },
		failures: { 404: 'No such resource or action' },
		handle: async ({ params, body }, { unit }) => {
			const { resource, action } = await findAction(unit, params);
			const after = await unit.update(ResourceAction, action, definedFields(body), `${resource.key}:${action.key}`);
			return reply(200, readAction(unit, resource, after));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteResourceAction',
		summary: 'Delete an action with all its grants',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such resource or action' },
		handle: async ({ params }, { unit }) => {
			const { resource, action } = await findAction(unit, params);
			return emptied(removeActions(unit, resource, [action]));
		},
	}),
];

async function findAction(unit: ReadingUnit, params: z.output<typeof ActionPath>) {
	const resource = await unit.find(Resource, params.resource_id);
	const action = await unit.find(ResourceAction, params.action_id, { resource_id: resource.id });
	return { resource, action };
}

function readAction(unit: ReadingUnit, resource: Resource, action: ResourceAction): ResourceActionRead {
	return { ...action, ...unit.scope, permission_name: `${resource.key}:${action.key}` };
}

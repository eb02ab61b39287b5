import { z } from 'zod';
import {
	changeActionGroup,
	createActionGroup,
	readActionGroup,
	readActionGroups,
	removeActionGroups,
} from '../../domain/schema/action-group.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { ActionGroup, actionGroupsBy } from '../../store/table/action-group.js';
import { Resource } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { attributeFilterText, pageShape, withAttributeFilters } from '../../wire/query.js';
import { ActionGroupCreate, ActionGroupRead, ActionGroupUpdate } from '../../wire/schema/action-group.js';
import { endpoint } from '../access.js';
import { ResourcePath } from './resources.js';

const tag = 'Resource action groups';
const collection = '/v2/schema/:proj_id/:env_id/resources/:resource_id/action_groups';
const member = `${collection}/:action_group_id`;
const ActionGroupPath = ResourcePath.extend({ action_group_id: Reference });
const missing = 'No such resource or action group, or the resource does not have an action';
const collectionPlace = methods({ tag, path: collection, params: ResourcePath });
const memberPlace = methods({ tag, path: member, params: ActionGroupPath });

export const actionGroups = [
	endpoint({
		...collectionPlace.get,
		name: 'listResourceActionGroups',
		summary: 'List the action groups of a resource',
		description: attributeFilterText,
		access: 'environment.read',
		query: withAttributeFilters(pageShape),
		returns: { 200: z.array(ActionGroupRead) },
		failures: { 404: 'No such resource' },
		handle: async ({ params, query }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const data = await actionGroupsBy(unit, [resource.id], query.attribute_filters).slice(query);
			return reply(200, [...(await readActionGroups(unit, data))]);
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createResourceActionGroup',
		summary: 'Add an action group to a resource',
		access: 'environment.write',
		body: ActionGroupCreate,
		example: { key: 'editing', name: 'Editing', actions: ['read', 'write'] },
		returns: { 200: ActionGroupRead },
		failures: {
			404: 'No such resource, or the resource does not have an action',
			409: 'The resource already has an action group with this key',
		},
		handle: async ({ params, body }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			return reply(200, await readActionGroup(unit, await createActionGroup(unit, resource, body)));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getResourceActionGroup',
		summary: 'Get an action group of a resource',
		access: 'environment.read',
		returns: { 200: ActionGroupRead },
		failures: { 404: 'No such resource or action group' },
		handle: async ({ params }, { unit }) => {
			const { group } = await findActionGroup(unit, params);
			return reply(200, await readActionGroup(unit, group));
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateResourceActionGroup',
		summary: 'Update an action group',
		description: '`actions` and `attributes` are replaced as a whole. Null clears a field.',
		access: 'environment.write',
		body: ActionGroupUpdate,
		example: { actions: ['write'] },
		returns: { 200: ActionGroupRead },
		failures: { 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const { resource, group } = await findActionGroup(unit, params);
			return reply(200, await readActionGroup(unit, await changeActionGroup(unit, resource, group, body)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteResourceActionGroup',
		summary: 'Delete an action group, but not its actions',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such resource or action group' },
		handle: async ({ params }, { unit }) => {
			const { resource, group } = await findActionGroup(unit, params);
			return emptied(removeActionGroups(unit, resource, [group]));
		},
	}),
];

async function findActionGroup(unit: ReadingUnit, params: z.output<typeof ActionGroupPath>) {
	const resource = await unit.find(Resource, params.resource_id);
	const group = await unit.find(ActionGroup, params.action_group_id, { resource_id: resource.id });
	return { resource, group };
}

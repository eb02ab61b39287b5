import { findInstance } from '../../domain/facts/named-instance.js';
import {
	changeInstance,
	createInstance,
	readDetailedInstances,
	readInstance,
	removeInstance,
	removeNamedInstances,
	syncInstances,
} from '../../domain/facts/resource-instance.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { onlyRow } from '../../store/query/only-row.js';
import type { RowQuery } from '../../store/query/row-query.js';
import { Resource } from '../../store/table/resource.js';
import { type InstanceRow, instancesBy } from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { BulkReport } from '../../wire/facts/bulk.js';
import {
	maxBulkInstances,
	ResourceInstanceBulkRemove,
	ResourceInstanceBulkReplace,
	ResourceInstanceCreate,
	ResourceInstanceDetailedListQuery,
	ResourceInstanceDetailQuery,
	ResourceInstanceQuery,
	ResourceInstanceRead,
	ResourceInstanceUpdate,
} from '../../wire/facts/resource-instance.js';
import { arrayOrPaginated, paginated } from '../../wire/list.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listAnswer } from '../list-answer.js';
import { findIds } from './find-ids.js';

const tag = 'Resource instances';
const collection = '/v2/facts/:proj_id/:env_id/resource_instances';
const member = `${collection}/:instance_id`;
const bulk = '/v2/facts/:proj_id/:env_id/bulk/resource_instances';
const InstancePath = EnvironmentPath.extend({
	instance_id: Reference.describe('`<resource key>:<instance key>`, an id (UUID), or an unambiguous instance key.'),
});
const example = { key: 'budget', resource: 'document', tenant: 'default', attributes: { private: true } };
const filterText =
	'Filters may be repeated: an object must match one value of each filter. Unknown values match nothing. `search` ' +
	'matches keys, `<resource key>:<instance key>` and ids.';
const ambiguous = 'The bare instance key is ambiguous';
const missing = 'No such resource instance';
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: InstancePath });
const bulkPlace = methods({ tag, path: bulk, params: EnvironmentPath });

/** Resource instances. Each instance belongs to a tenant. */
export const resourceInstances = [
	endpoint({
		...collectionPlace.get,
		name: 'listResourceInstances',
		summary: 'List resource instances',
		description: `${filterText} \`detailed\` adds the relationships of each instance, as subject or object.`,
		access: 'environment.read',
		query: ResourceInstanceQuery,
		returns: { 200: arrayOrPaginated(ResourceInstanceRead) },
		handle: async ({ query }, { unit }) => {
			const page = await (await filterInstances(unit, query)).list(query);
			return reply(200, listAnswer(page, await readAll(unit, page.data, query.detailed)));
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/detailed`, params: EnvironmentPath }).get,
		name: 'listDetailedResourceInstances',
		summary: 'List resource instances with their relationships',
		description: filterText,
		access: 'environment.read',
		query: ResourceInstanceDetailedListQuery,
		returns: { 200: paginated(ResourceInstanceRead) },
		handle: async ({ query }, { unit }) => {
			const page = await (await filterInstances(unit, query)).page(query);
			return reply(200, { ...page, data: [...(await readAll(unit, page.data, true))] });
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createResourceInstance',
		summary: 'Create a resource instance',
		access: 'environment.write',
		body: ResourceInstanceCreate,
		example,
		returns: { 200: ResourceInstanceRead },
		failures: { 404: 'No such resource or tenant', 409: 'The resource already has an instance with this key' },
		handle: async ({ body }, { unit }) => reply(200, readInstance(unit, await createInstance(unit, body))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getResourceInstance',
		summary: 'Get a resource instance',
		description: "`detailed` adds the instance's relationships, as subject or object.",
		access: 'environment.read',
		query: ResourceInstanceDetailQuery,
		returns: { 200: ResourceInstanceRead },
		failures: { 400: ambiguous, 404: missing },
		handle: async ({ params, query }, { unit }) => {
			const instance = await findInstance(unit, params.instance_id);
			return reply(200, onlyRow(await readAll(unit, [instance], query.detailed)));
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateResourceInstance',
		summary: 'Update the attributes of a resource instance',
		description: '`attributes` are replaced as a whole; null clears them.',
		access: 'environment.write',
		body: ResourceInstanceUpdate,
		example: { attributes: { private: false } },
		returns: { 200: ResourceInstanceRead },
		failures: { 400: ambiguous, 404: missing },
		handle: async ({ params, body }, { unit }) => {
			const instance = await findInstance(unit, params.instance_id);
			return reply(200, readInstance(unit, await changeInstance(unit, instance, body)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteResourceInstance',
		summary: 'Delete a resource instance with its role assignments and relationships',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 400: ambiguous, 404: missing },
		handle: async ({ params }, { unit }) => emptied(removeInstance(unit, await findInstance(unit, params.instance_id))),
	}),
	endpoint({
		...bulkPlace.put,
		name: 'syncResourceInstances',
		summary: 'Create or replace resource instances in bulk',
		description:
			`At most ${maxBulkInstances} instances per call; all or none are written. Resource and key identify an ` +
			'instance; if several items identify the same instance, the last item applies. An existing instance keeps its ' +
			'tenant.',
		access: 'environment.write',
		body: ResourceInstanceBulkReplace,
		example: { operations: [example] },
		returns: { 200: BulkReport },
		failures: { 400: 'An instance exists in a different tenant', 404: 'A resource or tenant does not exist' },
		handle: async ({ body }, { unit }) => {
			await syncInstances(unit, body.operations);
			return reply(200, {});
		},
	}),
	endpoint({
		...bulkPlace.delete,
		name: 'deleteResourceInstances',
		summary: 'Delete resource instances in bulk, with their role assignments and relationships',
		description: `At most ${maxBulkInstances} instances per call; all or none are deleted.`,
		access: 'environment.write',
		body: ResourceInstanceBulkRemove,
		example: { idents: ['document:budget'] },
		returns: { 200: BulkReport },
		failures: { 400: ambiguous, 404: 'An instance does not exist' },
		handle: async ({ body }, { unit }) => {
			await removeNamedInstances(unit, body.idents);
			return reply(200, {});
		},
	}),
];

async function filterInstances(
	unit: ReadingUnit,
	query: ResourceInstanceDetailedListQuery,
): Promise<RowQuery<InstanceRow>> {
	const filter = {
		tenant_ids: await findIds(unit, Tenant, query.tenant),
		resource_ids: await findIds(unit, Resource, query.resource),
		searches: query.search,
	};
	return instancesBy(unit, filter);
}

async function readAll(unit: ReadingUnit, rows: readonly InstanceRow[], detailed: boolean) {
	return detailed ? readDetailedInstances(unit, rows) : rows.map((row) => readInstance(unit, row));
}

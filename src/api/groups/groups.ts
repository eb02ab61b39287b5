import {
	createGroup,
	findGroup,
	readGroup,
	readGroupSchema,
	readGroups,
	removeGroup,
} from '../../domain/group/group.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import type { RowQuery } from '../../store/query/row-query.js';
import { type GroupRow, groupsBy } from '../../store/table/group/group.js';
import { Resource } from '../../store/table/resource.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { arrayOrPaginated, paginated } from '../../wire/list.js';
import { GroupCreate, GroupListQuery, GroupQuery, GroupRead, GroupReadSchema } from '../../wire/schema/group.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { findIds } from '../facts/find-ids.js';
import { listAnswer } from '../list-answer.js';

/** OpenAPI tag for group endpoints. */
export const groupTag = 'Groups';
const collection = '/v2/schema/:proj_id/:env_id/groups';
export const groupPath = `${collection}/:group_instance_key`;
export const GroupPath = EnvironmentPath.extend({
	group_instance_key: Reference.meta({
		description:
			'`<resource key>:<instance key>`, an id (UUID) or a key. A bare key refers to the group in the resource ' +
			'`group`, or otherwise to the only group with this key.',
		example: 'group:admins',
	}),
});
/** Text for 404 responses. */
export const noSuchGroup = 'No such group';
const filterText =
	'Filters may be repeated: an object must match one value of each filter. Unknown values match nothing. `search` ' +
	'matches keys, `<resource key>:<instance key>` and ids.';
/** Clients written before this date know only the two deprecated endpoints. */
const since = '2025-09-01T00:00:00Z';
const collectionPlace = methods({ tag: groupTag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag: groupTag, path: groupPath, params: GroupPath });

/** User groups. Each group is a resource instance, and its members have the instance role `member`. */
export const groups = [
	endpoint({
		...collectionPlace.post,
		name: 'createGroup',
		summary: 'Create a group',
		description:
			'A missing resource, role `member` or instance is created. Objects created this way are deleted with the last ' +
			'group that needs them; all other objects stay.',
		access: 'environment.write',
		body: GroupCreate,
		example: { group_instance_key: 'admins', group_resource_type_key: 'group', group_tenant: 'acme' },
		returns: { 200: GroupRead },
		failures: {
			400: 'The instance exists in a different tenant',
			404: 'No such tenant',
			409: 'The instance is already a group',
		},
		handle: async ({ body }, { unit }) => reply(200, await readGroup(unit, await createGroup(unit, body))),
	}),
	endpoint({
		...methods({ tag: groupTag, path: `${collection}/direct`, params: EnvironmentPath }).get,
		name: 'listDirectGroups',
		summary: 'List groups',
		description: `Returns a flat list that includes nested groups. ${filterText}`,
		access: 'environment.read',
		query: GroupQuery,
		returns: { 200: paginated(GroupReadSchema) },
		handle: async ({ query }, { unit }) => {
			const page = await (await filterGroups(unit, query)).page(query);
			return reply(200, { ...page, data: page.data.map(readGroupSchema) });
		},
	}),
	endpoint({
		...methods({ tag: groupTag, path: `${collection}/direct/:group_instance_key`, params: GroupPath }).get,
		name: 'getDirectGroup',
		summary: 'Get a group',
		access: 'environment.read',
		returns: { 200: GroupReadSchema },
		failures: { 404: noSuchGroup },
		handle: async ({ params }, { unit }) =>
			reply(200, readGroupSchema(await findGroup(unit, params.group_instance_key))),
	}),
	endpoint({
		...collectionPlace.get,
		name: 'listGroups',
		summary: 'List groups with their roles and users',
		description: filterText,
		access: 'environment.read',
		deprecated: { since, successor: `${collection}/direct` },
		query: GroupListQuery,
		returns: { 200: arrayOrPaginated(GroupRead) },
		handle: async ({ query }, { unit }) => {
			const page = await (await filterGroups(unit, query)).list(query);
			return reply(200, listAnswer(page, await readGroups(unit, page.data)));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getGroup',
		summary: 'Get a group with its roles and users',
		access: 'environment.read',
		deprecated: { since, successor: `${collection}/direct/:group_instance_key` },
		returns: { 200: GroupRead },
		failures: { 404: noSuchGroup },
		handle: async ({ params }, { unit }) =>
			reply(200, await readGroup(unit, await findGroup(unit, params.group_instance_key))),
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteGroup',
		summary: 'Delete a group',
		description:
			'Also deletes its memberships, roles and nesting, and its instance if the instance was created with the group.',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: noSuchGroup },
		handle: async ({ params }, { unit }) =>
			emptied(removeGroup(unit, await findGroup(unit, params.group_instance_key))),
	}),
];

async function filterGroups(unit: ReadingUnit, query: GroupQuery): Promise<RowQuery<GroupRow>> {
	const filter = {
		tenant_ids: await findIds(unit, Tenant, query.tenant),
		resource_ids: await findIds(unit, Resource, query.resource),
		searches: query.search,
	};
	return groupsBy(unit, filter);
}

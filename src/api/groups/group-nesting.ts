import { findGroup, readGroup, readGroupSchema } from '../../domain/group/group.js';
import { nestGroup, releaseGroup } from '../../domain/group/group-nesting.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { type NestingSide, nestedGroups } from '../../store/table/group/group-role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { GroupNesting, GroupNestingRemove, GroupRead, GroupReadSchema } from '../../wire/schema/group.js';
import { endpoint } from '../access.js';
import { GroupPath, groupPath, groupTag, noSuchGroup } from './groups.js';

const collection = `${groupPath}/assign_group`;
const example = { group_instance_key: 'group:accountants' };
const collectionPlace = methods({ tag: groupTag, path: collection, params: GroupPath });

/** Group memberships in groups. */
export const groupNesting = [
	endpoint({
		...collectionPlace.put,
		name: 'assignGroupToGroup',
		summary: 'Nest a group in the group in the path',
		description:
			'Members of the group in the body become members of the group in the path and hold its roles. Nesting an ' +
			'already nested group changes nothing. Two groups may be nested in each other. With the environment setting ' +
			'`group_nesting: parent_joins_child`, membership has the opposite direction: members of the group in the ' +
			'path become members of the group in the body. The lists of children and parents do not depend on the ' +
			'setting.',
		access: 'environment.write',
		body: GroupNesting,
		example,
		returns: { 200: GroupRead },
		failures: { 400: 'The groups belong to different resources or tenants, or are the same group', 404: noSuchGroup },
		handle: async ({ params, body }, { unit }) => {
			const parent = await findGroup(unit, params.group_instance_key);
			await nestGroup(unit, parent, await findGroup(unit, body.group_instance_key), body.expires_at);
			return reply(200, await readGroup(unit, parent));
		},
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'removeGroupFromGroup',
		summary: 'Remove a nested group from the group in the path',
		description: 'Works for both directions of membership.',
		access: 'environment.write',
		body: GroupNestingRemove,
		example,
		returns: { 204: null },
		failures: {
			400: 'A relationship between the groups also grants other roles',
			404: 'No such group, or the group in the body is not nested in the group in the path',
		},
		handle: async ({ params, body }, { unit }) => {
			const parent = await findGroup(unit, params.group_instance_key);
			return emptied(releaseGroup(unit, parent, await findGroup(unit, body.group_instance_key)));
		},
	}),
	nestedGroupsEndpoint('children', 'listChildGroups', 'List the groups nested in a group'),
	nestedGroupsEndpoint('parents', 'listParentGroups', 'List the groups that contain a group'),
];

function nestedGroupsEndpoint(side: NestingSide, name: string, summary: string) {
	return endpoint({
		...methods({ tag: groupTag, path: `${groupPath}/${side}`, params: GroupPath }).get,
		name,
		summary,
		description: 'Lists only direct nesting.',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: paginated(GroupReadSchema) },
		failures: { 404: noSuchGroup },
		handle: async ({ params, query }, { unit }) => {
			const page = await nestedPage(unit, side, params.group_instance_key, query);
			return reply(200, { ...page, data: page.data.map(readGroupSchema) });
		},
	});
}

async function nestedPage(unit: ReadingUnit, side: NestingSide, reference: string, query: PageQuery) {
	const group = await findGroup(unit, reference);
	return nestedGroups(unit, side, group.id).page(query);
}

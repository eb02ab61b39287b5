import { findGroup, readGroup, readGroupSchema } from '../../domain/group/group.js';
import { nestGroup, releaseGroup } from '../../domain/group/group-nesting.js';
import { reply } from '../../http/endpoint.js';
import { type NestingSide, nestedGroups } from '../../store/table/group-role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { readPage } from '../../store/unit/row-query.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { GroupNesting, GroupNestingRemove, GroupRead, GroupReadSchema } from '../../wire/schema/group.js';
import { endpoint } from '../access.js';
import { GroupPath, groupPath, groupTag, noSuchGroup } from './groups.js';

const collection = `${groupPath}/assign_group`;
const example = { group_instance_key: 'group:accountants' };
const collectionPlace = { tag: groupTag, path: collection, params: GroupPath } as const;

/** Group memberships in groups. */
export const groupNesting = [
	endpoint({
		...collectionPlace,
		name: 'assignGroupToGroup',
		summary: 'Put a group into the group of the path',
		description:
			'Members of the group in the body are members of the group in the path from then on, and have its roles. One ' +
			'that is in it already stays. Groups may be in each other. Where `group_nesting` in the settings of the ' +
			'environment is `parent_joins_child`, it is the other way round: members of the group in the path are members of ' +
			'the group in the body. The lists of children and parents are the same.',
		method: 'put',
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
		...collectionPlace,
		name: 'removeGroupFromGroup',
		summary: 'Take a group out of the group of the path',
		description: 'Whichever of them has the roles of the other.',
		method: 'delete',
		access: 'environment.write',
		body: GroupNestingRemove,
		example,
		returns: { 204: null },
		failures: { 400: 'A relationship gives more than this', 404: 'No such group, or it is not in the other' },
		handle: async ({ params, body }, { unit }) => {
			const parent = await findGroup(unit, params.group_instance_key);
			await releaseGroup(unit, parent, await findGroup(unit, body.group_instance_key));
			return reply(204);
		},
	}),
	nestedGroupsEndpoint('children', 'listChildGroups', 'List the groups in a group'),
	nestedGroupsEndpoint('parents', 'listParentGroups', 'List the groups that a group is in'),
];

function nestedGroupsEndpoint(side: NestingSide, name: string, summary: string) {
	return endpoint({
		name,
		summary,
		description: 'Direct ones only.',
		tag: groupTag,
		method: 'get',
		path: `${groupPath}/${side}`,
		access: 'environment.read',
		params: GroupPath,
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
	return readPage(nestedGroups(unit, side, group.id), query);
}

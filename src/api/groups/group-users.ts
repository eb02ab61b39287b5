import { readUsers } from '../../domain/facts/user.js';
import { findGroup, readGroup } from '../../domain/group/group.js';
import { addGroupUser, removeGroupUser } from '../../domain/group/group-member.js';
import { findMemberRole } from '../../domain/group/made-for-groups.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { usersBy } from '../../store/table/user.js';
import { Reference } from '../../wire/common.js';
import { UserRead } from '../../wire/facts/user.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { GroupRead, GroupUserAdd, GroupUserRemove } from '../../wire/schema/group.js';
import { endpoint } from '../access.js';
import { GroupPath, groupPath, groupTag, noSuchGroup } from './groups.js';

const collection = `${groupPath}/users`;
const example = { tenant: 'acme' };
const GroupUserPath = GroupPath.extend({ user_id: Reference });

export const groupUsers = [
	endpoint({
		...methods({ tag: groupTag, path: `${collection}/:user_id`, params: GroupUserPath }).put,
		name: 'assignUserToGroup',
		summary: 'Add a user to a group',
		description:
			"Assigns the role `member` on the group's instance to the user. An existing membership with the same or a " +
			'later expiry stays unchanged.',
		access: 'environment.write',
		body: GroupUserAdd,
		example,
		returns: { 200: GroupRead },
		failures: { 400: "The tenant is not the group's tenant", 404: 'No such group, user or tenant' },
		handle: async ({ params, body }, { unit }) => {
			const group = await findGroup(unit, params.group_instance_key);
			await addGroupUser(unit, group, params.user_id, body);
			return reply(200, await readGroup(unit, group));
		},
	}),
	endpoint({
		...methods({ tag: groupTag, path: `${collection}/:user_id`, params: GroupUserPath }).delete,
		name: 'removeUserFromGroup',
		summary: 'Remove a user from a group',
		description: 'The body and its `tenant` are optional.',
		access: 'environment.write',
		body: GroupUserRemove,
		example,
		returns: { 204: null },
		failures: {
			400: "The tenant is not the group's tenant",
			404: 'No such group, user or tenant, or the user is not a member',
		},
		handle: async ({ params, body }, { unit }) => {
			const group = await findGroup(unit, params.group_instance_key);
			return emptied(removeGroupUser(unit, group, params.user_id, body?.tenant));
		},
	}),
	endpoint({
		...methods({ tag: groupTag, path: collection, params: GroupPath }).get,
		name: 'listGroupUsers',
		summary: 'List the users of a group',
		description:
			'Lists direct members, without members of nested groups and without users with `member` under a condition.',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: paginated(UserRead) },
		failures: { 404: noSuchGroup },
		handle: async ({ params, query }, { unit }) => {
			const group = await findGroup(unit, params.group_instance_key);
			const member = await findMemberRole(unit, group.resource_id);
			const role_ids = member === undefined ? [] : [member.id];
			const filter = { role_ids, resource_instance_id: group.id, unconditional: true } as const;
			const page = await usersBy(unit, filter).page(query);
			return reply(200, { ...page, data: [...(await readUsers(unit, page.data))] });
		},
	}),
];

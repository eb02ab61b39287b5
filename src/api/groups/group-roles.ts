import { findGroup, readGroup } from '../../domain/group/group.js';
import { findGroupRole, type GroupRole, giveGroupRole, takeGroupRole } from '../../domain/group/group-role.js';
import { duplicate, notFound } from '../../failure.js';
import { methods, reply } from '../../http/endpoint.js';
import { type GroupRoleRow, groupRolesBy } from '../../store/table/group/group-role.js';
import { instanceName } from '../../wire/common.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { GroupRead, GroupRoleCreate, GroupRoleRead, GroupRoleRemove } from '../../wire/schema/group.js';
import { endpoint } from '../access.js';
import { GroupPath, groupPath, groupTag, noSuchGroup } from './groups.js';

const collection = `${groupPath}/roles`;
const example = { resource: 'document', resource_instance: 'budget', role: 'editor', tenant: 'acme' };
const notOne = "The instance belongs to a different resource, or an object is outside the group's tenant";
const collectionPlace = methods({ tag: groupTag, path: collection, params: GroupPath });

/** Group roles on resource instances. */
export const groupRoles = [
	endpoint({
		...collectionPlace.post,
		name: 'assignRoleToGroup',
		summary: 'Assign a role on a resource instance to the members of a group',
		description:
			'Future members also hold the role. The role is stored as a relationship from the group to the instance, ' +
			'through a relation that derives only this role from `member`. A missing relationship or relation is created.',
		access: 'environment.write',
		body: GroupRoleCreate,
		example,
		returns: { 200: GroupRead },
		failures: {
			400: notOne,
			404: 'No such group, resource, instance, resource role or tenant',
			409: 'The group already has this role on the instance, with the same or a later expiry',
		},
		handle: async ({ params, body }, { unit }) => {
			const group = await findGroup(unit, params.group_instance_key);
			const wanted = await findGroupRole(unit, group, body);
			if (!(await giveGroupRole(unit, group, { ...wanted, expires_at: body.expires_at })))
				throw duplicate('group role', groupRoleName(wanted));
			return reply(200, await readGroup(unit, group));
		},
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'removeRoleFromGroup',
		summary: 'Remove a role on a resource instance from a group',
		access: 'environment.write',
		body: GroupRoleRemove,
		example,
		returns: { 204: null },
		failures: {
			400: `${notOne}, or a relationship also grants other roles`,
			404: 'The group does not have this role on the instance',
		},
		handle: async ({ params, body }, { unit }) => {
			const group = await findGroup(unit, params.group_instance_key);
			const unwanted = await findGroupRole(unit, group, body);
			if (!(await takeGroupRole(unit, group, unwanted))) throw notFound('GroupRole', groupRoleName(unwanted));
			return reply(204);
		},
	}),
	endpoint({
		...collectionPlace.get,
		name: 'listGroupRoles',
		summary: 'List the roles of a group on resource instances',
		description:
			'Lists roles that members hold directly through this group. A nested group has the role `member` on its parent ' +
			'group.',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: paginated(GroupRoleRead) },
		failures: { 404: noSuchGroup },
		handle: async ({ params, query }, { unit }) => {
			const { id } = await findGroup(unit, params.group_instance_key);
			const page = await groupRolesBy(unit, { group_ids: [id] }).page(query);
			return reply(200, { ...page, data: page.data.map(readGroupRole) });
		},
	}),
];

/** Returns a group role in the API's list format. */
function readGroupRole(row: GroupRoleRow): GroupRoleRead {
	const { role, resource_id, resource, resource_instance_id, resource_instance } = row;
	return {
		...row,
		key: role,
		resource: { id: resource_id, key: resource },
		resource_instance: { id: resource_instance_id, key: resource_instance },
	};
}

function groupRoleName({ role, object }: GroupRole): string {
	return `${instanceName(object.resource, object.key)}#${role.key}`;
}

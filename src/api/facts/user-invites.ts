import {
	approveUserInvite,
	changeUserInvite,
	createUserInvite,
	readUserInvite,
} from '../../domain/element/user-invite.js';
import { readUser } from '../../domain/facts/user.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { UserInvite, userInvitesBy } from '../../store/table/element/user-invite.js';
import { Role } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { Reference } from '../../wire/common.js';
import {
	UserInviteApprove,
	UserInviteCreate,
	UserInviteQuery,
	UserInviteRead,
	UserInviteUpdate,
} from '../../wire/element/user-invite.js';
import { UserRead } from '../../wire/facts/user.js';
import { paginated } from '../../wire/list.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { withItems } from '../list-answer.js';
import { findIds } from './find-ids.js';

const tag = 'User invites';
const collection = '/v2/facts/:proj_id/:env_id/user_invites';
const member = `${collection}/:user_invite_id`;
const UserInvitePath = EnvironmentPath.extend({ user_invite_id: Reference });
const invited = { key: 'ines@example.com', email: 'ines@example.com' };
const unknown = 'No such role, tenant or resource instance';
const elsewhere = 'The resource instance is not in the tenant';
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: UserInvitePath });

export const userInvites = [
	endpoint({
		...collectionPlace.get,
		name: 'listUserInvites',
		summary: 'List user invites',
		access: 'environment.read',
		query: UserInviteQuery,
		returns: { 200: paginated(UserInviteRead) },
		handle: async ({ query }, { unit }) => {
			const filter = {
				search: query.search,
				role_ids: await findIds(unit, Role, query.role),
				tenant_ids: await findIds(unit, Tenant, query.tenant),
			};
			const page = await userInvitesBy(unit, filter).page(query);
			const items = page.data.map((invite) => readUserInvite(unit, invite));
			return reply(200, withItems(page, items));
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createUserInvite',
		summary: 'Invite a user',
		description:
			'Regolith notifies nobody; the caller sends the invite. The user is created when the invite is approved.',
		access: 'environment.write',
		body: UserInviteCreate,
		example: {
			...invited,
			status: 'pending',
			first_name: 'Ines',
			last_name: 'Roe',
			role_id: '0192f0c1-2a5b-7cc3-8d4e-5f60718293a4',
			tenant_id: '0192f0c1-2a5b-7cc3-8d4e-5f60718293a5',
		},
		returns: { 200: UserInviteRead },
		failures: { 400: elsewhere, 404: unknown, 409: 'An invite with this key exists' },
		handle: async ({ body }, { unit }) => reply(200, readUserInvite(unit, await createUserInvite(unit, body))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getUserInvite',
		summary: 'Get a user invite',
		access: 'environment.read',
		returns: { 200: UserInviteRead },
		failures: { 404: 'No such user invite' },
		handle: async ({ params }, { unit }) =>
			reply(200, readUserInvite(unit, await unit.find(UserInvite, params.user_invite_id))),
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateUserInvite',
		summary: 'Update a user invite',
		description: 'Null clears an optional field. Setting `status` creates no user.',
		access: 'environment.write',
		body: UserInviteUpdate,
		example: { last_name: 'Doe' },
		returns: { 200: UserInviteRead },
		failures: { 400: elsewhere, 404: 'No such user invite, role, tenant or resource instance' },
		handle: async ({ params, body }, { unit }) => {
			const invite = await unit.find(UserInvite, params.user_invite_id);
			return reply(200, readUserInvite(unit, await changeUserInvite(unit, invite, body)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteUserInvite',
		summary: 'Delete a user invite, but not the created user',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such user invite' },
		handle: async ({ params }, { unit }) => {
			const invite = await unit.find(UserInvite, params.user_invite_id);
			return emptied(unit.remove(UserInvite, invite, invite.key));
		},
	}),
	endpoint({
		...methods({ tag, path: `${member}/approve`, params: UserInvitePath }).post,
		name: 'approveUserInvite',
		summary: 'Approve a user invite, creating the user with the role',
		access: 'environment.write',
		body: UserInviteApprove,
		example: { ...invited, attributes: { department: 'sales' } },
		returns: { 200: UserRead },
		failures: {
			400: 'The invite has already been approved, or is for a different e-mail address',
			404: 'No such user invite',
			409: 'A user with this key exists',
		},
		handle: async ({ params, body }, { unit }) => {
			const invite = await unit.find(UserInvite, params.user_invite_id);
			return reply(200, await readUser(unit, await approveUserInvite(unit, invite, body)));
		},
	}),
];

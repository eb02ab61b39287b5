import type { z } from 'zod';
import { listDecisions } from '../../domain/audit-log.js';
import { pendingInvites, readElementInvite, readInvitedUsers } from '../../domain/element/invite.js';
import {
	addElementUser,
	assignElementRole,
	elementUsers,
	namedInstance,
	readElementUsers,
	removeElementUser,
	unassignElementRole,
} from '../../domain/element/user.js';
import {
	openElement,
	openUserManagement,
	shownLevels,
	type UserManagement,
} from '../../domain/element/user-management.js';
import { readAssignment } from '../../domain/facts/assignment.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { readJoinedPage } from '../../store/query/row-query.js';
import type { ElementSession } from '../../store/session/element-entrance.js';
import { elementRolesBy } from '../../store/table/element/elements-config.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import {
	ElementAuditLogQuery,
	ElementPlaceQuery,
	ElementRoleAssign,
	ElementRoleRead,
	ElementRoleUnassign,
	ElementUserAdded,
	ElementUserCreate,
	ElementUserPage,
	ElementUserQuery,
} from '../../wire/element/element-user.js';
import { RoleAssignmentRead } from '../../wire/facts/role-assignment.js';
import { AuditLogPage } from '../../wire/general/audit-log.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { sessionActor } from './session-actor.js';

const tag = 'User management';
const data = '/v2/elements/:proj_id/:env_id/config/:elements_config_id/data';
const users = `${data}/users`;
const rolesOfUser = `${users}/:user_id/roles`;
const ElementPath = EnvironmentPath.extend({ elements_config_id: Reference });
const UserPath = ElementPath.extend({ user_id: Reference });
const description =
	"Applies to the session's tenant, or to the instance in `resource_instance_id`, which is required if the " +
	'element settings contain a `resource`. Users below `LEVEL_3` get 404 for the element.';
const failures = {
	400: 'The element has a different type, or the instance belongs to a different resource',
	403: "The user's level does not permit this call",
	404: 'No such element, user, role or instance, or not visible to the user',
};
const seen = { 400: failures[400], 404: failures[404] };

/** Opens the element in the path for the signed-in user. Throws the same errors as `openUserManagement`. */
function openForSession(
	unit: ReadingUnit,
	session: ElementSession,
	{ elements_config_id }: z.output<typeof ElementPath>,
	instance: string | undefined,
): Promise<UserManagement> {
	return openUserManagement(unit, elements_config_id, sessionActor(session), instance);
}
const usersPlace = methods({ tag, path: users, params: ElementPath });
const rolesPlace = methods({ tag, path: rolesOfUser, params: UserPath });

/** User management by signed-in users, within their permission level. */
export const userManagement = [
	endpoint({
		...usersPlace.get,
		name: 'listElementUsers',
		summary: 'List element users, followed by pending invites',
		description,
		access: 'element.read',
		query: ElementUserQuery,
		returns: { 200: ElementUserPage },
		failures: seen,
		handle: async ({ params, query }, { unit, session }) => {
			const opened = await openForSession(unit, session, params, query.resource_instance_id);
			const { search } = query;
			const invited = pendingInvites(unit, opened, { search });
			const page = await readJoinedPage(elementUsers(unit, opened, search), invited, query);
			const data = [
				...(await readElementUsers(unit, opened, page.first)),
				...(await readInvitedUsers(unit, opened, page.second)),
			];
			return reply(200, { data, total_count: page.total_count, page_count: page.page_count });
		},
	}),
	endpoint({
		...usersPlace.post,
		name: 'addElementUser',
		summary: 'Add a user with a role',
		description:
			`${description} Without \`role\`, the user gets the \`default_role\` in the settings, if set. An element with ` +
			'`email_notifications` or a webhook creates an invite instead and returns it.',
		access: 'element.write',
		query: ElementPlaceQuery,
		body: ElementUserCreate,
		example: { key: 'bob@example.com', email: 'bob@example.com', role: 'viewer' },
		returns: { 200: ElementUserAdded },
		failures,
		handle: async ({ params, query, body }, { unit, session }) => {
			const named = namedInstance(query.resource_instance_id, body.resource_instance_id);
			const opened = await openForSession(unit, session, params, named);
			const { user, invite } = await addElementUser(unit, opened, body);
			if (user === undefined) return reply(200, readElementInvite(unit, invite));
			const [read] = await readElementUsers(unit, opened, [user]);
			if (read === undefined) throw new Error('an added user is missing');
			return reply(200, read);
		},
	}),
	endpoint({
		...methods({ tag, path: `${users}/:user_id`, params: UserPath }).delete,
		name: 'removeElementUser',
		summary: "Remove a user or an invite from the tenant, or remove a user's roles on an instance",
		description: `${description} The user record is kept, so the user can be added again.`,
		access: 'element.write',
		query: ElementPlaceQuery,
		returns: { 204: null },
		failures,
		handle: async ({ params, query }, { unit, session }) => {
			const opened = await openForSession(unit, session, params, query.resource_instance_id);
			return emptied(removeElementUser(unit, opened, params.user_id));
		},
	}),
	endpoint({
		...rolesPlace.post,
		name: 'assignElementRole',
		summary: 'Assign a role to a user',
		description,
		access: 'element.write',
		query: ElementPlaceQuery,
		body: ElementRoleAssign,
		example: { role: 'viewer' },
		returns: { 200: RoleAssignmentRead },
		failures: { ...failures, 409: 'The user already has this role in the same scope, with the same or a later expiry' },
		handle: async ({ params, query, body }, { unit, session }) => {
			const named = namedInstance(query.resource_instance_id, body.resource_instance_id);
			const opened = await openForSession(unit, session, params, named);
			return reply(200, readAssignment(unit, await assignElementRole(unit, opened, params.user_id, body)));
		},
	}),
	endpoint({
		...rolesPlace.delete,
		name: 'unassignElementRole',
		summary: 'Remove a role from a user',
		description,
		access: 'element.write',
		query: ElementPlaceQuery,
		body: ElementRoleUnassign,
		example: { role: 'viewer' },
		returns: { 204: null },
		failures,
		handle: async ({ params, query, body }, { unit, session }) => {
			const named = namedInstance(query.resource_instance_id, body.resource_instance_id);
			const opened = await openForSession(unit, session, params, named);
			return emptied(unassignElementRole(unit, opened, params.user_id, body.role));
		},
	}),
	endpoint({
		...methods({ tag, path: `${data}/roles`, params: ElementPath }).get,
		name: 'listElementRoles',
		summary: 'List roles available in an element, with their levels',
		description: `${description} Owners see all roles, and other users see only roles at levels 1 to 4.`,
		access: 'element.read',
		query: ElementUserQuery,
		returns: { 200: ElementRoleRead.array() },
		failures: seen,
		handle: async ({ params, query }, { unit, session }) => {
			const opened = await openForSession(unit, session, params, query.resource_instance_id);
			const filter = {
				config_id: opened.config.id,
				resource_id: opened.instance?.resource_id ?? null,
				search: query.search,
				levels: shownLevels(opened),
			};
			return reply(200, [...(await elementRolesBy(unit, filter).slice(query))]);
		},
	}),
	endpoint({
		...methods({ tag, path: `${data}/audit_logs`, params: ElementPath }).get,
		name: 'listElementAuditLogs',
		summary: "List decisions in the session's tenant, newest first",
		description: 'Same as `listAuditLogs`, for users with a sufficient level in the element.',
		access: 'element.read',
		query: ElementAuditLogQuery,
		returns: { 200: AuditLogPage },
		failures: seen,
		handle: async ({ params, query }, { unit, session }) => {
			await openElement(unit, params.elements_config_id, sessionActor(session), query.resource_instance_id);
			const { search, page, per_page } = query;
			const asked = { tenant: session.tenant.key, search, page, per_page };
			const { data, ...counts } = await listDecisions(unit.auditLogs(), unit.scope, asked);
			// Element users must not see the data that applications send with their checks.
			const unsent = { input: null, result: null, context: null, raw_data: null };
			return reply(200, { ...counts, data: data.map((row) => ({ ...row, ...unsent })) });
		},
	}),
];

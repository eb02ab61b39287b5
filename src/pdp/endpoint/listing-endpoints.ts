/** Listings, consistent with single checks. */

import { z } from 'zod';
import { methods, reply } from '../../http/endpoint.js';
import {
	AuthorizedUsers,
	LocalAssignment,
	LocalAssignmentsQuery,
	PermissionsQuery,
	TenantsQuery,
	UserPermissions,
	UsersQuery,
	UserTenants,
} from '../../wire/decision/check.js';
import { DecidedAnswer } from '../../wire/headers.js';
import { permissionsInput } from '../decide/contextual-facts.js';
import type { DecisionContext } from '../decide/decide.js';
import { type Mode, normaliseUsers } from '../decide/normalise.js';
import { authorizedUsers } from '../listing/authorized-users.js';
import { localAssignments } from '../listing/local-assignments.js';
import { permissions } from '../listing/permissions.js';
import { userTenants } from '../listing/user-tenants.js';
import { chunkedReply, endpoint, revisionHeader, unavailableOrCostly } from './endpoint.js';

export function listingEndpoints(mode: Mode) {
	return [permissionsEndpoint(mode), tenantsEndpoint(), usersEndpoint(mode), assignmentsEndpoint()];
}

const tag = 'Listings';

function permissionsEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/user-permissions' }).post,
		name: 'listUserPermissions',
		summary: 'List user permissions by tenant and instance',
		description:
			'Lists tenants where the user holds a role, and instances on which the user holds an assigned or derived ' +
			'role. With `resources` or `resource_types`, also lists instances with permissions through tenant roles. The ' +
			'permissions on an instance are all permissions that checks allow there, including permissions through tenant ' +
			'roles. Condition sets are skipped unless `context.enable_abac_user_permissions` is true; `resource_types` ' +
			'then also lists instances with permissions through condition sets.',
		access: 'key',
		body: PermissionsQuery,
		example: { user: { key: 'ann@example.com' }, tenants: ['acme'] },
		returns: { 200: UserPermissions },
		answerHeaders: DecidedAnswer,
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const work = (context: DecisionContext) => permissions(context, permissionsInput(context, body, mode));
			return chunkedReply(await read({ kind: 'listing', work, closed }));
		},
	});
}

function tenantsEndpoint() {
	return endpoint({
		...methods({ tag, path: '/user-tenants' }).post,
		name: 'listUserTenants',
		summary: 'List the tenants where a user holds a role',
		description: "A role assigned on an instance counts for the instance's tenant.",
		access: 'key',
		body: TenantsQuery,
		example: { user: 'ann@example.com' },
		returns: { 200: UserTenants },
		answerHeaders: DecidedAnswer,
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const work = (context: DecisionContext) => userTenants(context, permissionsInput(context, body));
			return chunkedReply(await read({ kind: 'listing', work, closed }));
		},
	});
}

function usersEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/authorized_users' }).post,
		name: 'listAuthorizedUsers',
		summary: 'List the users who may perform an action on a resource',
		description:
			'Lists users allowed by the check, with the granting role assignments: in the tenant, on the instance, or on ' +
			'an instance from which the role is derived. Without a resource key, only tenant roles count. With ' +
			'`context.enable_abac_authorized_users`, condition sets also count; a user allowed only by condition sets has ' +
			'no assignments.',
		access: 'key',
		body: UsersQuery,
		example: { action: 'read', resource: { type: 'document', key: 'plan', tenant: 'acme' } },
		returns: { 200: AuthorizedUsers },
		answerHeaders: DecidedAnswer,
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const input = normaliseUsers(body, mode);
			return chunkedReply(await read({ kind: 'listing', work: (context) => authorizedUsers(context, input), closed }));
		},
	});
}

function assignmentsEndpoint() {
	return endpoint({
		...methods({ tag, path: '/local/role_assignments' }).get,
		name: 'listLocalRoleAssignments',
		summary: 'List role assignments known to the decision point',
		description: 'Sorted by user, tenant, instance and role. `resource_instance` is absent for tenant roles.',
		access: 'key',
		query: LocalAssignmentsQuery,
		returns: { 200: z.array(LocalAssignment) },
		answerHeaders: DecidedAnswer,
		failures: unavailableOrCostly,
		handle: async ({ query, closed }, { read }) => {
			const work = (context: DecisionContext) => localAssignments(context, query);
			const { result, ...from } = await read({ kind: 'listing', work, closed });
			return reply(200, result, revisionHeader(from));
		},
	});
}

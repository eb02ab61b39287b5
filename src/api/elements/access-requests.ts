import type { ActingUser } from '../../domain/element/level.js';
import { createAccessRequest, readAccessRequest, readListedAccessRequest } from '../../domain/element/request.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import {
	AccessRequestCreate,
	AccessRequestPage,
	AccessRequestQuery,
	AccessRequestRead,
	AccessRequestReview,
	RequestCancellation,
	RequestComment,
} from '../../wire/element/element-request.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { requestHandlers } from './request-handlers.js';

const tag = 'Access requests';
const collection = '/v2/facts/:proj_id/:env_id/access_requests/:elements_config_id/user/:user_id/tenant/:tenant_id';
const member = `${collection}/:access_request_id`;
const ActorPath = EnvironmentPath.extend({ elements_config_id: Reference, user_id: Reference, tenant_id: Reference });
const RequestPath = ActorPath.extend({ access_request_id: Reference });
const description =
	'The user of the path acts, in the tenant of the path: the application vouches for them with its API key. Who reviews ' +
	'sees all requests of the tenant, others see their own.';
const failures = {
	400: 'Another tenant, a role that cannot be held there, or an element of another type',
	403: 'The user may not do this',
	404: 'No such element, user, tenant or request, or none that the user may see',
	409: 'The request is not pending',
};
const example = { access_request_details: { tenant: 'acme', role: 'editor' }, reason: 'I take over the reports.' };

/** Handlers for access requests. They accept any acting user. */
export const accessRequestHandlers = requestHandlers({
	type: 'access_request',
	create: createAccessRequest,
	read: readAccessRequest,
	readListed: readListedAccessRequest,
});

/** Returns the user and the tenant in a path. Throws `not_found`. */
async function findActor(
	unit: ReadingUnit,
	params: { readonly user_id: string; readonly tenant_id: string },
): Promise<ActingUser> {
	const user = await unit.find(User, params.user_id);
	const tenant = await unit.find(Tenant, params.tenant_id);
	return { user_id: user.id, tenant_id: tenant.id };
}
const collectionPlace = { tag, path: collection, params: ActorPath } as const;

/** Access requests on behalf of users, authenticated by an API key. */
export const accessRequests = [
	endpoint({
		...collectionPlace,
		name: 'listAccessRequestsOfUser',
		summary: 'List access requests that a user may see',
		description,
		method: 'get',
		access: 'environment.read',
		query: AccessRequestQuery,
		returns: { 200: AccessRequestPage },
		failures: { 400: failures[400], 404: failures[404] },
		handle: async ({ params, query }, { unit }) =>
			accessRequestHandlers.list(unit, params.elements_config_id, await findActor(unit, params), query),
	}),
	endpoint({
		...collectionPlace,
		name: 'createAccessRequestOfUser',
		summary: 'Ask for a role on behalf of a user',
		description,
		method: 'post',
		access: 'environment.write',
		body: AccessRequestCreate,
		example,
		returns: { 200: AccessRequestRead },
		failures: { 400: failures[400], 403: 'The user is not a member of the tenant', 404: failures[404] },
		handle: async ({ params, body }, { unit }) =>
			accessRequestHandlers.create(unit, params.elements_config_id, await findActor(unit, params), body),
	}),
	endpoint({
		name: 'getAccessRequestOfUser',
		summary: 'One access request',
		description,
		tag,
		method: 'get',
		path: member,
		access: 'environment.read',
		params: RequestPath,
		returns: { 200: AccessRequestRead },
		failures: { 400: failures[400], 404: failures[404] },
		handle: async ({ params }, { unit }) =>
			accessRequestHandlers.get(
				unit,
				params.elements_config_id,
				await findActor(unit, params),
				params.access_request_id,
			),
	}),
	endpoint({
		name: 'reviewAccessRequestOfUser',
		summary: 'Change the comment of a reviewer, or the role',
		description: `${description} The role may change while the request is pending.`,
		tag,
		method: 'patch',
		path: `${member}/reviewer`,
		access: 'environment.write',
		params: RequestPath,
		body: AccessRequestReview,
		example: { reviewer_comment: 'Only to read.', role: 'viewer' },
		returns: { 200: AccessRequestRead },
		failures,
		handle: async ({ params, body }, { unit }) =>
			accessRequestHandlers.review(
				unit,
				params.elements_config_id,
				await findActor(unit, params),
				params.access_request_id,
				body,
			),
	}),
	endpoint({
		name: 'approveAccessRequestOfUser',
		summary: 'Approve an access request: its role is assigned',
		description: `${description} The role in the body replaces the requested role.`,
		tag,
		method: 'put',
		path: `${member}/approve`,
		access: 'environment.write',
		params: RequestPath,
		body: AccessRequestReview,
		example: { reviewer_comment: 'Welcome.' },
		returns: { 200: AccessRequestRead },
		failures,
		handle: async ({ params, body }, { unit }) =>
			accessRequestHandlers.move(
				unit,
				params.elements_config_id,
				await findActor(unit, params),
				params.access_request_id,
				'approve',
				body,
			),
	}),
	endpoint({
		name: 'denyAccessRequestOfUser',
		summary: 'Deny an access request',
		description,
		tag,
		method: 'put',
		path: `${member}/deny`,
		access: 'environment.write',
		params: RequestPath,
		body: RequestComment,
		example: { reviewer_comment: 'Please ask the owner of the reports.' },
		returns: { 200: AccessRequestRead },
		failures,
		handle: async ({ params, body }, { unit }) =>
			accessRequestHandlers.move(
				unit,
				params.elements_config_id,
				await findActor(unit, params),
				params.access_request_id,
				'deny',
				body,
			),
	}),
	endpoint({
		name: 'cancelAccessRequestOfUser',
		summary: 'Cancel an access request',
		description: `${description} Only who made a request can cancel it.`,
		tag,
		method: 'put',
		path: `${member}/cancel`,
		access: 'environment.write',
		params: RequestPath,
		body: RequestCancellation,
		example: {},
		returns: { 200: AccessRequestRead },
		failures,
		handle: async ({ params }, { unit }) =>
			accessRequestHandlers.move(
				unit,
				params.elements_config_id,
				await findActor(unit, params),
				params.access_request_id,
				'cancel',
			),
	}),
];

import { refuseManyRequests } from '../../domain/element/request-limit.js';
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
import { accessRequestHandlers } from './access-requests.js';
import { sessionActor } from './session-actor.js';

const tag = 'Access requests';
const collection = '/v2/elements/:proj_id/:env_id/config/:elements_config_id/access_requests';
const member = `${collection}/:access_request_id`;
const CollectionPath = EnvironmentPath.extend({ elements_config_id: Reference });
const RequestPath = CollectionPath.extend({ access_request_id: Reference });
const description = 'Who reviews sees all requests of the tenant that they are signed in to, others see their own.';
const failures = {
	400: 'Another tenant, a role that cannot be held there, or an element of another type',
	403: 'The user may not do this',
	404: 'No such element or request, or none that the user may see',
	409: 'The request is not pending',
};
const collectionPlace = { tag, path: collection, params: CollectionPath } as const;

/** Access requests by signed-in users (docs/develop/elements.md). */
export const sessionAccessRequests = [
	endpoint({
		...collectionPlace,
		name: 'listAccessRequests',
		summary: 'List access requests that the user may see',
		description,
		method: 'get',
		access: 'element.read',
		query: AccessRequestQuery,
		returns: { 200: AccessRequestPage },
		failures: { 400: failures[400], 404: 'No such element' },
		handle: ({ params, query }, { unit, session }) =>
			accessRequestHandlers.list(unit, params.elements_config_id, sessionActor(session), query),
	}),
	endpoint({
		...collectionPlace,
		name: 'createAccessRequest',
		summary: 'Ask for a role',
		description,
		method: 'post',
		access: 'element.write',
		body: AccessRequestCreate,
		example: { access_request_details: { tenant: 'acme', role: 'editor' }, reason: 'I take over the reports.' },
		returns: { 200: AccessRequestRead },
		failures: { 400: failures[400], 403: failures[403], 404: failures[404] },
		handle: async ({ params, body }, { unit, session }) => {
			await refuseManyRequests(unit, sessionActor(session));
			return accessRequestHandlers.create(unit, params.elements_config_id, sessionActor(session), body);
		},
	}),
	endpoint({
		name: 'getAccessRequest',
		summary: 'One access request',
		description,
		tag,
		method: 'get',
		path: member,
		access: 'element.read',
		params: RequestPath,
		returns: { 200: AccessRequestRead },
		failures: { 400: failures[400], 404: failures[404] },
		handle: ({ params }, { unit, session }) =>
			accessRequestHandlers.get(unit, params.elements_config_id, sessionActor(session), params.access_request_id),
	}),
	endpoint({
		name: 'reviewAccessRequest',
		summary: 'Change the comment of a reviewer, or the role',
		description,
		tag,
		method: 'patch',
		path: `${member}/reviewer`,
		access: 'element.write',
		params: RequestPath,
		body: AccessRequestReview,
		example: { reviewer_comment: 'Only to read.', role: 'viewer' },
		returns: { 200: AccessRequestRead },
		failures,
		handle: ({ params, body }, { unit, session }) =>
			accessRequestHandlers.review(
				unit,
				params.elements_config_id,
				sessionActor(session),
				params.access_request_id,
				body,
			),
	}),
	endpoint({
		name: 'approveAccessRequest',
		summary: 'Approve an access request',
		description: `${description} The role is assigned in the same unit of work.`,
		tag,
		method: 'put',
		path: `${member}/approve`,
		access: 'element.write',
		params: RequestPath,
		body: AccessRequestReview,
		example: { reviewer_comment: 'Welcome.' },
		returns: { 200: AccessRequestRead },
		failures,
		handle: ({ params, body }, { unit, session }) =>
			accessRequestHandlers.move(
				unit,
				params.elements_config_id,
				sessionActor(session),
				params.access_request_id,
				'approve',
				body,
			),
	}),
	endpoint({
		name: 'denyAccessRequest',
		summary: 'Deny an access request',
		description,
		tag,
		method: 'put',
		path: `${member}/deny`,
		access: 'element.write',
		params: RequestPath,
		body: RequestComment,
		example: { reviewer_comment: 'Please ask the owner.' },
		returns: { 200: AccessRequestRead },
		failures,
		handle: ({ params, body }, { unit, session }) =>
			accessRequestHandlers.move(
				unit,
				params.elements_config_id,
				sessionActor(session),
				params.access_request_id,
				'deny',
				body,
			),
	}),
	endpoint({
		name: 'cancelAccessRequest',
		summary: 'Cancel an access request',
		description,
		tag,
		method: 'put',
		path: `${member}/cancel`,
		access: 'element.write',
		params: RequestPath,
		body: RequestCancellation,
		example: {},
		returns: { 200: AccessRequestRead },
		failures,
		handle: ({ params }, { unit, session }) =>
			accessRequestHandlers.move(
				unit,
				params.elements_config_id,
				sessionActor(session),
				params.access_request_id,
				'cancel',
			),
	}),
];

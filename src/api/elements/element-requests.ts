import { decideRequest, readElementRequest, readPlacedRequest } from '../../domain/element/request.js';
import { methods, reply } from '../../http/endpoint.js';
import { requestsInTurn } from '../../store/table/element/element-request.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { Resource } from '../../store/table/resource.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import { Reference } from '../../wire/common.js';
import {
	AccessRequestReview,
	ElementRequestPage,
	ElementRequestQuery,
	ElementRequestRead,
	RequestComment,
} from '../../wire/element/element-request.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { findIds } from '../facts/find-ids.js';
import { withItems } from '../list-answer.js';

const tag = 'Element requests';
const collection = '/v2/facts/:proj_id/:env_id/element_requests';
const RequestPath = EnvironmentPath.extend({ element_request_id: Reference });
const description =
	'The caller reviews with its API key, not as an elements user, so `reviewer_user_id` is null and the change ' +
	'log records the key. Element levels do not apply, because the key may assign any role.';
const failures = {
	400: 'The role cannot be assigned in the requested scope, or the expiry is later than requested',
	404: 'No such project, environment, request or role',
	409: 'The request is not pending, the requested expiry has passed, or the user has left the tenant',
};

/** Access requests and operation approvals in all elements, for environment administrators. */
export const elementRequests = [
	endpoint({
		...methods({ tag, path: collection, params: EnvironmentPath }).get,
		name: 'listElementRequests',
		summary: 'List access requests and operation approvals for all elements and tenants',
		description: 'Pending requests come first, oldest first, then all other requests, newest first.',
		access: 'environment.read',
		query: ElementRequestQuery,
		returns: { 200: ElementRequestPage },
		failures: { 404: 'No such project or environment' },
		handle: async ({ query }, { unit }) => {
			const list = (reference: string | undefined) => (reference === undefined ? undefined : [reference]);
			const rows = requestsInTurn(unit, {
				status: query.status,
				type: query.type,
				config_ids: await findIds(unit, ElementsConfig, list(query.element)),
				tenant_ids: await findIds(unit, Tenant, list(query.tenant)),
				requesting_user_ids: await findIds(unit, User, list(query.requesting_user)),
				resource_ids: await findIds(unit, Resource, list(query.resource)),
			});
			const page = await rows.page(query);
			const items = page.data.map((row) => readPlacedRequest(unit, row));
			return reply(200, withItems(page, items));
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:element_request_id/approve`, params: RequestPath }).put,
		name: 'approveElementRequest',
		summary: 'Approve a request in any element',
		description: `${description} The request is granted in the same revision; a role in the body replaces the requested role.`,
		access: 'environment.write',
		body: AccessRequestReview,
		example: { reviewer_comment: 'Welcome.' },
		returns: { 200: ElementRequestRead },
		failures,
		handle: async ({ params, body }, { unit }) =>
			reply(200, readElementRequest(unit, await decideRequest(unit, params.element_request_id, 'approve', body))),
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:element_request_id/deny`, params: RequestPath }).put,
		name: 'denyElementRequest',
		summary: 'Deny a request in any element',
		description,
		access: 'environment.write',
		body: RequestComment,
		example: { reviewer_comment: 'Please ask the owner of the reports.' },
		returns: { 200: ElementRequestRead },
		failures: { 404: 'No such project, environment or request', 409: 'The request is not pending' },
		handle: async ({ params, body }, { unit }) =>
			reply(200, readElementRequest(unit, await decideRequest(unit, params.element_request_id, 'deny', body))),
	}),
];

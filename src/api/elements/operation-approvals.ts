import { createOperationApproval, readListedApproval, readOperationApproval } from '../../domain/element/request.js';
import { consumeApproval } from '../../domain/element/request-consumption.js';
import { refuseManyRequests } from '../../domain/element/request-limit.js';
import { reply } from '../../http/endpoint.js';
import { Reference } from '../../wire/common.js';
import {
	OperationApprovalCreate,
	OperationApprovalPage,
	OperationApprovalQuery,
	OperationApprovalRead,
	OperationApprovalReview,
	RequestCancellation,
	RequestComment,
} from '../../wire/element/element-request.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { requestHandlers } from './request-handlers.js';
import { sessionActor } from './session-actor.js';

const tag = 'Operation approvals';
const collection = '/v2/elements/:proj_id/:env_id/config/:elements_config_id/operation_approval';
const member = `${collection}/:operation_approval_id`;
const CollectionPath = EnvironmentPath.extend({ elements_config_id: Reference });
const RequestPath = CollectionPath.extend({ operation_approval_id: Reference });
const description = 'Who reviews sees all requests of the tenant that they are signed in to, others see their own.';
const failures = {
	400: 'Another tenant, or an element of another type',
	403: 'The user may not do this',
	404: 'No such element or request, or none that the user may see',
	409: 'The request is not pending',
};

const handlers = requestHandlers({
	type: 'operation_approval',
	create: createOperationApproval,
	read: readOperationApproval,
	readListed: readListedApproval,
});
const collectionPlace = { tag, path: collection, params: CollectionPath } as const;

/** Operation approvals by signed-in users (docs/develop/elements.md). */
export const operationApprovals = [
	endpoint({
		...collectionPlace,
		name: 'listOperationApprovals',
		summary: 'List operation approvals that the user may see',
		description,
		method: 'get',
		access: 'element.read',
		query: OperationApprovalQuery,
		returns: { 200: OperationApprovalPage },
		failures: { 400: failures[400], 404: 'No such element' },
		handle: ({ params, query }, { unit, session }) =>
			handlers.list(unit, params.elements_config_id, sessionActor(session), {
				...query,
				resource_instance_id: query.resource_instance,
			}),
	}),
	endpoint({
		...collectionPlace,
		name: 'createOperationApproval',
		summary: 'Ask for the approval of an operation',
		description,
		method: 'post',
		access: 'element.write',
		body: OperationApprovalCreate,
		example: {
			access_request_details: { tenant: 'acme', resource: 'document', resource_instance: 'budget' },
			reason: 'To close the books.',
		},
		returns: { 200: OperationApprovalRead },
		failures: { 400: failures[400], 403: failures[403], 404: failures[404] },
		handle: async ({ params, body }, { unit, session }) => {
			await refuseManyRequests(unit, sessionActor(session));
			return handlers.create(unit, params.elements_config_id, sessionActor(session), body);
		},
	}),
	endpoint({
		name: 'getOperationApproval',
		summary: 'One operation approval',
		description,
		tag,
		method: 'get',
		path: member,
		access: 'element.read',
		params: RequestPath,
		returns: { 200: OperationApprovalRead },
		failures: { 400: failures[400], 404: failures[404] },
		handle: ({ params }, { unit, session }) =>
			handlers.get(unit, params.elements_config_id, sessionActor(session), params.operation_approval_id),
	}),
	endpoint({
		name: 'reviewOperationApproval',
		summary: 'Change the comment of a reviewer, or shorten what is asked for',
		description,
		tag,
		method: 'patch',
		path: `${member}/reviewer`,
		access: 'element.write',
		params: RequestPath,
		body: OperationApprovalReview,
		example: { reviewer_comment: 'Until Friday.' },
		returns: { 200: OperationApprovalRead },
		failures,
		handle: ({ params, body }, { unit, session }) =>
			handlers.review(unit, params.elements_config_id, sessionActor(session), params.operation_approval_id, body),
	}),
	endpoint({
		name: 'approveOperationApproval',
		summary: 'Approve an operation approval',
		description: `${description} The user who asked gets the role \`_Approved_\` on the instance.`,
		tag,
		method: 'put',
		path: `${member}/approve`,
		access: 'element.write',
		params: RequestPath,
		body: OperationApprovalReview,
		example: { reviewer_comment: 'Welcome.' },
		returns: { 200: OperationApprovalRead },
		failures,
		handle: ({ params, body }, { unit, session }) =>
			handlers.move(
				unit,
				params.elements_config_id,
				sessionActor(session),
				params.operation_approval_id,
				'approve',
				body,
			),
	}),
	endpoint({
		name: 'denyOperationApproval',
		summary: 'Deny an operation approval',
		description,
		tag,
		method: 'put',
		path: `${member}/deny`,
		access: 'element.write',
		params: RequestPath,
		body: RequestComment,
		example: { reviewer_comment: 'Please ask the owner.' },
		returns: { 200: OperationApprovalRead },
		failures,
		handle: ({ params, body }, { unit, session }) =>
			handlers.move(unit, params.elements_config_id, sessionActor(session), params.operation_approval_id, 'deny', body),
	}),
	endpoint({
		name: 'cancelOperationApproval',
		summary: 'Cancel an operation approval',
		description,
		tag,
		method: 'put',
		path: `${member}/cancel`,
		access: 'element.write',
		params: RequestPath,
		body: RequestCancellation,
		example: {},
		returns: { 200: OperationApprovalRead },
		failures,
		handle: ({ params }, { unit, session }) =>
			handlers.move(unit, params.elements_config_id, sessionActor(session), params.operation_approval_id, 'cancel'),
	}),
	endpoint({
		name: 'consumeOperationApproval',
		summary: 'Use an operation approval up',
		description:
			'For elements whose settings have `single_use: true`, once. The user loses the role `_Approved_` that the ' +
			'approval gave. Decision points take the same call, and wait until they decide by it.',
		tag,
		method: 'post',
		path: '/v2/facts/:proj_id/:env_id/operation_approvals/:operation_approval_id/consume',
		access: 'environment.write',
		params: EnvironmentPath.extend({ operation_approval_id: Reference }),
		returns: { 200: OperationApprovalRead },
		failures: {
			404: 'No such operation approval',
			409: 'It is not approved, was consumed, has ended, or is good for more than one use',
		},
		handle: async ({ params }, { unit }) => {
			return reply(200, readOperationApproval(unit, await consumeApproval(unit, params.operation_approval_id)));
		},
	}),
];

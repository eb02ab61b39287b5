import {
	createOperationApproval,
	findRequestElement,
	findVisibleRequest,
	moveRequest,
	readListedApproval,
	readOperationApproval,
	reviewRequest,
	visibleRequests,
} from '../../domain/element-request.js';
import { reply } from '../../http/endpoint.js';
import { Resource } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { readPage } from '../../store/unit/row-query.js';
import { Reference } from '../../wire/common.js';
import {
	OperationApprovalCreate,
	OperationApprovalPage,
	OperationApprovalQuery,
	OperationApprovalRead,
	RequestCancellation,
	RequestComment,
} from '../../wire/element-request.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { findIds, findInstanceIds } from '../facts/find-ids.js';
import { withItems } from '../list-answer.js';
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

/** What a query of a list narrows to, by ids. What it names and does not exist narrows to nothing. */
async function narrowedBy(unit: ReadingUnit, query: OperationApprovalQuery) {
	const one = (reference: string | undefined) => (reference === undefined ? undefined : [reference]);
	return {
		status: query.status,
		resource_ids: await findIds(unit, Resource, one(query.resource)),
		resource_instance_ids: await findInstanceIds(unit, one(query.resource_instance)),
	};
}

/** Operation approvals by users who are signed in (spec: Elements: operation approvals). */
export const operationApprovals = [
	endpoint({
		name: 'listOperationApprovals',
		summary: 'List operation approvals that the user may see',
		description,
		tag,
		method: 'get',
		path: collection,
		access: 'element.read',
		params: CollectionPath,
		query: OperationApprovalQuery,
		returns: { 200: OperationApprovalPage },
		failures: { 400: failures[400], 404: 'No such element' },
		handle: async ({ params, query }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			const filter = await narrowedBy(unit, query);
			const { rows } = await visibleRequests(unit, config, sessionActor(session), filter);
			const page = await readPage(rows, query);
			const items = page.data.map((row) => readListedApproval(unit, row));
			return reply(200, { ...withItems(page, items), data: items });
		},
	}),
	endpoint({
		name: 'createOperationApproval',
		summary: 'Ask for the approval of an operation',
		description,
		tag,
		method: 'post',
		path: collection,
		access: 'element.write',
		params: CollectionPath,
		body: OperationApprovalCreate,
		example: {
			access_request_details: { tenant: 'acme', resource: 'document', resource_instance: 'budget' },
			reason: 'To close the books.',
		},
		returns: { 200: OperationApprovalRead },
		failures: { 400: failures[400], 403: failures[403], 404: failures[404] },
		handle: async ({ params, body }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			return reply(
				200,
				readOperationApproval(unit, await createOperationApproval(unit, config, sessionActor(session), body)),
			);
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
		handle: async ({ params }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			const actor = sessionActor(session);
			const { request } = await findVisibleRequest(unit, config, actor, params.operation_approval_id);
			return reply(200, readOperationApproval(unit, request));
		},
	}),
	endpoint({
		name: 'reviewOperationApproval',
		summary: 'Change the comment of a reviewer',
		description,
		tag,
		method: 'patch',
		path: `${member}/reviewer`,
		access: 'element.write',
		params: RequestPath,
		body: RequestComment,
		example: { reviewer_comment: 'Until Friday.' },
		returns: { 200: OperationApprovalRead },
		failures,
		handle: async ({ params, body }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			const actor = sessionActor(session);
			return reply(
				200,
				readOperationApproval(unit, await reviewRequest(unit, config, actor, params.operation_approval_id, body)),
			);
		},
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
		body: RequestComment,
		example: { reviewer_comment: 'Welcome.' },
		returns: { 200: OperationApprovalRead },
		failures,
		handle: async ({ params, body }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			const actor = sessionActor(session);
			const request = await moveRequest(unit, config, actor, params.operation_approval_id, 'approve', body);
			return reply(200, readOperationApproval(unit, request));
		},
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
		handle: async ({ params, body }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			const actor = sessionActor(session);
			const request = await moveRequest(unit, config, actor, params.operation_approval_id, 'deny', body);
			return reply(200, readOperationApproval(unit, request));
		},
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
		handle: async ({ params }, { unit, session }) => {
			const config = await findRequestElement(unit, params.elements_config_id, 'operation_approval');
			const actor = sessionActor(session);
			const request = await moveRequest(unit, config, actor, params.operation_approval_id, 'cancel');
			return reply(200, readOperationApproval(unit, request));
		},
	}),
];

import { readOperationApproval } from '../../domain/element/request.js';
import { consumeApproval } from '../../domain/element/request-consumption.js';
import { reply } from '../../http/endpoint.js';
import { Reference } from '../../wire/common.js';
import { OperationApprovalRead } from '../../wire/element/element-request.js';
import { EnvironmentPath, endpoint } from '../access.js';

/** Consumption of single-use operation approvals. */
export const operationApprovals = [
	endpoint({
		name: 'consumeOperationApproval',
		summary: 'Consume an operation approval',
		description:
			'Works once per approval, for elements with the setting `single_use: true`. The user loses the role ' +
			'`_Approved_` assigned by the approval. Decision points serve the same call and respond after the change is ' +
			'in effect for their checks.',
		tag: 'Operation approvals',
		method: 'post',
		path: '/v2/facts/:proj_id/:env_id/operation_approvals/:operation_approval_id/consume',
		access: 'environment.write',
		params: EnvironmentPath.extend({ operation_approval_id: Reference }),
		returns: { 200: OperationApprovalRead },
		failures: {
			404: 'No such operation approval',
			409: 'The approval is not approved, was consumed, has expired, or is not single-use',
		},
		handle: async ({ params }, { unit }) =>
			reply(200, readOperationApproval(unit, await consumeApproval(unit, params.operation_approval_id))),
	}),
];

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
		summary: 'Use an operation approval up',
		description:
			'For elements whose settings have `single_use: true`, once. The user loses the role `_Approved_` that the ' +
			'approval gave. Decision points take the same call, and wait until they decide by it.',
		tag: 'Operation approvals',
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

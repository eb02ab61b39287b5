/** Operation approvals at a decision point. */

import { z } from 'zod';
import { reply } from '../../http/endpoint.js';
import { Reference } from '../../wire/common.js';
import { OperationApprovalRead } from '../../wire/element/element-request.js';
import { LoadedAnswer } from '../../wire/headers.js';
import { revisionHeaders } from '../../wire/revision-token.js';
import type { Progress } from '../follow/progress.js';
import type { ConsumeApproval } from './approval-client.js';
import { awaitArrival } from './arrival.js';
import { endpoint } from './endpoint.js';

/** Declares the endpoint that consumes approvals. `wait` is the maximum wait for the revision, in milliseconds. */
export function approvalEndpoints(progress: Progress, consume: ConsumeApproval, wait: number) {
	return [
		endpoint({
			name: 'consumeOperationApproval',
			summary: 'Consume an operation approval',
			description:
				'Forwards the call to the control plane, where it succeeds once per approval. From revision `X-Revision`, ' +
				'the approval grants nothing. The response waits up to ten seconds until this decision point has loaded the ' +
				'revision.',
			tag: 'Approvals',
			method: 'post',
			path: '/operation_approvals/:operation_approval_id/consume',
			access: 'key',
			params: z.object({ operation_approval_id: Reference.describe('Operation approval id.') }),
			returns: { 200: OperationApprovalRead },
			answerHeaders: LoadedAnswer.pick({ 'X-Revision': true, 'X-Revision-Token': true }),
			failures: {
				404: 'No such operation approval',
				409: 'The approval is not approved, was consumed, has expired, or is not single-use',
				503: 'The control plane is unreachable',
			},
			handle: async ({ params, closed }) => {
				const { approval, revision } = await consume(params.operation_approval_id, closed);
				// Callers can wait longer with `X-Min-Revision`.
				await awaitArrival(progress, revision, { milliseconds: wait, policy: 'ignore' }, closed);
				return reply(200, approval, revisionHeaders(revision.revision, revision.lineage));
			},
		}),
	];
}

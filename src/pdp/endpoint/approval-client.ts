import { z } from 'zod';
import { Failure, type FailureCode } from '../../failure.js';
import { OperationApprovalRead } from '../../wire/element/element-request.js';
import { type RevisionToken, writtenRevision } from '../../wire/revision-token.js';
import { type FindFacts, refusedKey } from '../follow/control-plane.js';
import { deadline } from '../follow/deadline.js';

/** Timeout for calls to the control plane, in milliseconds. */
const timeout = 10_000;

/** A consumed approval. From `revision` on, the approval grants nothing. */
export interface Consumed {
	readonly approval: z.output<typeof OperationApprovalRead>;
	readonly revision: RevisionToken;
}

/**
 * Consumes an operation approval at the control plane. Rejects with the control plane's `not_found`, `conflict` and
 * `forbidden`, and with `unavailable` for all other failures.
 */
export type ConsumeApproval = (reference: string, signal: AbortSignal) => Promise<Consumed>;

const Refused = z.object({ message: z.string() });
const refusals: Readonly<Record<number, FailureCode>> = { 404: 'not_found', 409: 'conflict' };

/** Creates a client that consumes approvals with an environment's key. `findFacts` finds the facts URL. */
export function connectApprovals(findFacts: FindFacts, apiKey: string): ConsumeApproval {
	const headers = { authorization: `Bearer ${apiKey}` };
	const consume = async (reference: string, signal: AbortSignal): Promise<Consumed> => {
		const url = `${await findFacts(signal)}/operation_approvals/${encodeURIComponent(reference)}/consume`;
		const response = await fetch(url, { method: 'POST', headers, signal });
		if (!response.ok) throw await refusal(response);
		const revision = writtenRevision((name) => response.headers.get(name));
		if (revision === null) throw new Error('the control plane returned no revision');
		return { approval: OperationApprovalRead.parse(await response.json()), revision };
	};
	return async (reference, signal) => {
		try {
			return await deadline(signal, timeout, (limited) => consume(reference, limited));
		} catch (error) {
			if (error instanceof Failure) throw error;
			// The response may have been lost in transit. In this case, a retry returns 409 if the approval was consumed.
			throw new Failure('unavailable', 'the control plane did not confirm whether the approval was consumed: retry');
		}
	};
}

async function refusal(response: Response): Promise<Error> {
	const code = refusals[response.status];
	if (code === undefined) return refusedKey(response);
	return new Failure(code, Refused.parse(await response.json()).message);
}

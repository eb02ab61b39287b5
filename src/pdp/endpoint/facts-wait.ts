/** How long the answer to a write waits until the decision point has it (contract of decision points: Local facts). */

import { Failure } from '../../failure.js';
import { possibleDelay } from '../follow/timer.js';

/** What happens to an answer whose write does not arrive in time: it is sent all the same, or it is 424. */
export type TimeoutPolicy = 'ignore' | 'fail';

/** How an answer waits. */
export interface FactsWait {
	/** In milliseconds; 0 does not wait, and `null` waits until the client goes away. */
	readonly milliseconds: number | null;
	readonly policy: TimeoutPolicy;
}

const waitHeader = 'x-wait-timeout';
const policyHeader = 'x-timeout-policy';

/** Reads how an answer shall wait; `fallback` is what the headers leave open. Throws `invalid` with the header's value. */
export function readFactsWait(headers: Readonly<Record<string, string | undefined>>, fallback: FactsWait): FactsWait {
	return {
		milliseconds: waitIn(headers[waitHeader], fallback.milliseconds),
		policy: policyIn(headers[policyHeader], fallback.policy),
	};
}

/** A wait of this many seconds, in milliseconds; `null`, which has no limit, when it is negative. */
export function factsWaitTime(seconds: number): number | null {
	return seconds < 0 ? null : possibleDelay(seconds * 1_000);
}

function waitIn(header: string | undefined, fallback: number | null): number | null {
	if (header === undefined) return fallback;
	const text = header.trim();
	if (text === '') return null;
	if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
		throw new Failure('invalid', `Invalid X-Wait-timeout header, expected float, got '${header}'`);
	}
	return factsWaitTime(Number(text));
}

function policyIn(header: string | undefined, fallback: TimeoutPolicy): TimeoutPolicy {
	if (header === undefined) return fallback;
	const policy = header.trim().toLowerCase();
	if (policy === 'ignore' || policy === 'fail') return policy;
	throw new Failure('invalid', `Invalid X-Timeout-Policy header, expected 'ignore' or 'fail', got '${header}'`);
}

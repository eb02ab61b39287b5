/** Limits how long the response to a write waits for the write to arrive at the decision point. */

import { Failure } from '../../failure.js';
import { possibleDelay } from '../follow/timer.js';

/** Action if the write does not arrive in time: `ignore` sends the response anyway, `fail` returns 424. */
export type TimeoutPolicy = 'ignore' | 'fail';

export interface FactsWait {
	/** Wait in milliseconds. 0 does not wait, and `null` waits until the client disconnects. */
	readonly milliseconds: number | null;
	readonly policy: TimeoutPolicy;
}

const waitHeader = 'x-wait-timeout';
const policyHeader = 'x-timeout-policy';

/**
 * Reads the wait headers. `fallback` fills in missing headers. An empty wait has no limit. Throws `invalid` for a
 * malformed header; the message contains its value.
 */
export function readFactsWait(headers: Readonly<Record<string, string | undefined>>, fallback: FactsWait): FactsWait {
	return {
		milliseconds: waitIn(headers[waitHeader], fallback.milliseconds),
		policy: policyIn(headers[policyHeader], fallback.policy),
	};
}

/** Converts seconds to milliseconds. A negative wait has no limit (`null`). */
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

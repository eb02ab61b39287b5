/** Failures in the format of Cerbos. */

import type { Failure, FailureCode } from '../../failure.js';
import { CerbosFailure } from '../../wire/decision/plan.js';

const paths = ['/api/plan/', '/api/check/', '/api/server_info'];

/** True for the paths of the Cerbos API. */
export function isCerbosPath(path: string): boolean {
	return paths.some((one) => path.startsWith(one));
}

/** gRPC status code `UNKNOWN`, for failures that are not in `codes`. */
const unknownCode = 2;

/** Documented failures of the Cerbos API. */
export const cerbosFailures = {
	body: CerbosFailure,
	statuses: {
		400: 'The request is malformed.',
		401: 'The API key is missing.',
		403: "The API key does not match this decision point's key.",
		413: 'The request body is too large, has too many values, or a string that is too long.',
		422: 'A field is missing or invalid, or a plan cannot express the filter.',
	},
	example: (message: string) => ({ code: unknownCode, message }),
} as const;

/** gRPC status codes, keyed by failure code. */
const codes: Partial<Record<FailureCode, number>> = {
	invalid: 3,
	unprocessable: 3,
	not_found: 5,
	forbidden: 7,
	conflict: 10,
	unavailable: 14,
	unauthorized: 16,
};

export function renderCerbosFailure({ code, message }: Failure): unknown {
	return { code: codes[code] ?? unknownCode, message };
}

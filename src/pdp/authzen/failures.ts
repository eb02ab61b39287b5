/** How AuthZEN words failures: other statuses for two of them, and a message as a JSON string. */

import { Failure } from '../../failure.js';
import type { Request } from '../../http/endpoint.js';
import { ErrorMessage } from '../../wire/decision/authzen.js';

/** Where the paths of AuthZEN begin. */
const places = ['/access/v1/', '/.well-known/authzen-configuration'];

/** Whether a path is one of AuthZEN's, served or not. */
export function isAuthzenPath(path: string): boolean {
	return places.some((place) => path.startsWith(place));
}

/** The failures that the endpoints of AuthZEN share, as documented. */
export const authzenFailures = {
	body: ErrorMessage,
	statuses: {
		400: 'The request is malformed, or something in it is missing or wrong.',
		401: 'The API key is missing, or is not the one that this decision point accepts.',
		413: 'The request body is too large, holds too many values, an object of too many members or too long a text.',
	},
} as const;

/** The same for those that need no key. */
export const authzenOpenFailures = {
	body: ErrorMessage,
	statuses: { 400: 'The path is malformed.', 404: 'No decision point is described here.' },
} as const;

/** The failure as AuthZEN has it: a wrong request is 400, and a wrong key is 401. */
export function asAuthzenFailure(error: unknown): unknown {
	if (!(error instanceof Failure)) return error;
	if (error.code === 'unprocessable') return new Failure('invalid', error.message);
	if (error.code === 'forbidden') return new Failure('unauthorized', error.message);
	return error;
}

/** Refuses a body that says that it is not JSON. Throws `Failure` (`invalid`). */
export function requireJson(headers: Request<unknown, unknown, unknown>['headers']): void {
	const type = headers['content-type'];
	if (type === undefined || /^application\/json\s*(;|$)/i.test(type)) return;
	throw new Failure('invalid', `the content type must be application/json, got \`${type}\``);
}

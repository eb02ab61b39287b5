/**
 * AuthZEN failures. Two statuses differ from the decision point's own API, and the body is a message as a JSON string.
 */

import { Failure } from '../../failure.js';
import type { Request } from '../../http/endpoint.js';
import { ErrorMessage } from '../../wire/decision/authzen.js';

/** AuthZEN path prefixes. */
const places = ['/access/v1/', '/.well-known/authzen-configuration'];

/** True for AuthZEN paths, even if no endpoint is served there. */
export function isAuthzenPath(path: string): boolean {
	return places.some((place) => path.startsWith(place));
}

/** Documented failures shared by AuthZEN endpoints. */
export const authzenFailures = {
	body: ErrorMessage,
	statuses: {
		400: 'The request is malformed, or a field is missing or invalid.',
		401: "The API key is missing or does not match this decision point's key.",
		413:
			'The request body is too large, has too many values, an object with too many fields, or a text that is too ' +
			'long.',
	},
} as const;

/** Documented failures shared by AuthZEN endpoints without a key. */
export const authzenOpenFailures = {
	body: ErrorMessage,
	statuses: { 400: 'The path is malformed.', 404: 'No metadata at this path.' },
} as const;

/** Maps a failure to AuthZEN's statuses: 400 for an invalid request, 401 for a wrong key. */
export function asAuthzenFailure(error: unknown): unknown {
	if (!(error instanceof Failure)) return error;
	if (error.code === 'unprocessable') return new Failure('invalid', error.message);
	if (error.code === 'forbidden') return new Failure('unauthorized', error.message);
	return error;
}

/** Rejects bodies with a content type other than JSON. Throws `Failure` (`invalid`). */
export function requireJson(headers: Request<unknown, unknown, unknown>['headers']): void {
	const type = headers['content-type'];
	if (isJson(type)) return;
	throw new Failure('invalid', `the content type must be application/json, got \`${type}\``);
}

/** True if a content type is JSON or absent. */
export function isJson(type: string | undefined): boolean {
	return type === undefined || /^application\/json\s*(;|$)/i.test(type);
}

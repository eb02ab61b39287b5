/** Page tokens for responses in pages. */

import { createHash } from 'node:crypto';
import { Failure } from '../../failure.js';

/** Number of digest bytes in a token. This length is enough to distinguish requests. */
const digestBytes = 16;

/**
 * Returns a token for the results after `last` in the response to `request`, a JSON value. The token contains no
 * information beyond the response, and every decision point in the environment can read it.
 */
export function pageToken(request: unknown, last: string): string {
	return Buffer.concat([requestDigest(request), Buffer.from(last)]).toString('base64url');
}

/**
 * Returns the result that precedes the page. Throws `Failure` (`invalid`) if the token belongs to a different request.
 * `member` is the name of the token field in the request.
 */
export function readPageToken(token: string, request: unknown, member: string): string {
	const bytes = Buffer.from(token, 'base64url');
	const last = bytes.subarray(digestBytes).toString();
	if (pageToken(request, last) === token) return last;
	throw new Failure(
		'invalid',
		`${member} belongs to a different request: repeat the original request, or start without a token`,
	);
}

function requestDigest(request: unknown): Buffer {
	return createHash('sha256')
		.update(JSON.stringify(request, (_, value: unknown) => sortMembers(value)))
		.digest()
		.subarray(0, digestBytes);
}

/**
 * Sorts an object's fields so their order is irrelevant. Lists and objects stay distinct even if they have the
 * same contents.
 */
function sortMembers(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return ['list', ...value];
	return ['object', ...Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))];
}

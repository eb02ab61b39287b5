/** Tokens that name a place in the answer to a search. */

import { createHash } from 'node:crypto';
import { Failure } from '../../failure.js';

/** How much of a digest is enough to tell requests apart, in bytes. */
const digestBytes = 16;

/**
 * A token for what comes after `last` in the answer to `request`, a JSON value. It holds nothing that the answer does
 * not show, and every decision point of the environment reads it.
 */
export function pageToken(request: unknown, last: string): string {
	return Buffer.concat([requestDigest(request), Buffer.from(last)]).toString('base64url');
}

/** What the token comes after. Throws `Failure` (`invalid`) when the token was made for another request. */
export function readPageToken(token: string, request: unknown): string {
	const bytes = Buffer.from(token, 'base64url');
	const last = bytes.subarray(digestBytes).toString();
	if (pageToken(request, last) === token) return last;
	throw new Failure('invalid', 'page.token is not one of this search: repeat its request, or begin without a token');
}

function requestDigest(request: unknown): Buffer {
	return createHash('sha256')
		.update(JSON.stringify(request, (_, value: unknown) => sortMembers(value)))
		.digest()
		.subarray(0, digestBytes);
}

/** The order of members means nothing in JSON. Lists and objects stay apart, also when their contents look alike. */
function sortMembers(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return ['list', ...value];
	return ['object', ...Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))];
}

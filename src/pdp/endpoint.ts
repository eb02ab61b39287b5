/** What all endpoints of a decision point are declared with. */

import { declaring } from '../http/endpoint.js';
import type { Deciding } from './decide.js';

/** What handlers are given. */
interface Contexts {
	/** Served to anyone. */
	open: undefined;
	/** Needs the key. Yields the engine of this moment, so that it and its revision belong together. */
	key: () => Deciding;
}

/** Declares an endpoint of a decision point. */
export const endpoint = declaring<Contexts>();

/** The failure of everything that answers from a revision. */
export const unavailable = { 503: 'No revision is loaded yet' } as const;

/**
 * The headers that name the revision of an answer and, for information, the newest revision whose policy made it: the
 * same one, unless the policy of the newest schema is not in force yet. Empty when nothing is answered from.
 */
export function revisionHeader(
	from: Pick<Deciding, 'revision' | 'policyRevision'> | undefined,
): Readonly<Record<string, string>> {
	return from === undefined
		? {}
		: { 'x-revision': String(from.revision), 'x-policy-revision': String(from.policyRevision) };
}

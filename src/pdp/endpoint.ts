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

/** The header that names the revision of an answer. */
export function revisionHeader(revision: number | undefined): Readonly<Record<string, string>> {
	return revision === undefined ? {} : { 'x-revision': String(revision) };
}

/** What all endpoints of a decision point are declared with. */

import { declaring, Raw } from '../http/endpoint.js';
import type { Deciding } from './decide.js';
import type { Read, Reading } from './reading.js';

/** What answers are made from. */
export interface Answering {
	/** The engine of this moment, so that it and its revision belong together: for what is done at one stretch. */
	readonly now: () => Deciding;
	/** For what is done over several turns. */
	readonly read: Reading;
}

/** What handlers are given. */
interface Contexts {
	/** Served to anyone. */
	open: undefined;
	/** Needs the key. */
	key: Answering;
}

/** Declares an endpoint of a decision point. */
export const endpoint = declaring<Contexts>();

/** The failure of everything that answers from a revision. */
export const unavailable = { 503: 'No revision is loaded yet' } as const;

/** The failure of what may take long. */
export const unavailableOrDear = {
	503: 'No revision is loaded yet, or the answer takes more processor time than one request may',
} as const;

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

/** An answer that was made in pieces of JSON, and the revision that it comes from. */
export function pieces({ result, ...from }: Read<readonly string[]>): Raw {
	return new Raw(200, { 'content-type': 'application/json', ...revisionHeader(from) }, result);
}

/** The base that all endpoints of a decision point are declared with. */

import { declaring, Raw } from '../../http/endpoint.js';
import { revisionHeaders } from '../../wire/revision-token.js';
import type { DecisionContext } from '../decide/decide.js';
import type { ReadResult, ReadRevision } from '../decide/revision-reader.js';

/** What handlers answer from. */
export interface AnswerContext {
	/** The current engine with its revision, for work that runs without a pause. */
	readonly now: () => DecisionContext;
	/** Reads one revision over several turns of the event loop. */
	readonly read: ReadRevision;
}

/** What handlers get, by access name. */
interface Contexts {
	/** Served to anyone. */
	open: undefined;
	/** Needs the key. */
	key: AnswerContext;
	/** Served to anyone, with failures as AuthZEN words them. */
	authzen_open: undefined;
	/** Needs the key, with failures as AuthZEN words them. */
	authzen: AnswerContext;
	/** Needs the key: in the header, or without one in the body, which is then small. */
	key_or_body: AnswerContext;
	/** Needs the key, unless the decision point is open to Trino. */
	trino: AnswerContext;
}

/** Declares an endpoint of a decision point. */
export const endpoint = declaring<Contexts>();

/** The failure of every endpoint that answers from a revision. */
export const unavailable = { 503: 'No revision is loaded yet' } as const;

/** The failures of endpoints whose answers may take long. */
export const unavailableOrCostly = {
	503: 'No revision is loaded yet, or the answer takes more processor time than one request may',
} as const;

/**
 * Headers with the revision of an answer, its token and, for information, the newest revision whose policy was used: the same,
 * unless the newest schema's policy is not in force yet. With the age of the data in seconds, and the id of its decisions in the decision log, where it has
 * one. Empty without a revision.
 */
export function revisionHeader(
	from: Pick<DecisionContext, 'lineage' | 'revision' | 'policyRevision' | 'decisionId' | 'dataAge'> | undefined,
): Readonly<Record<string, string>> {
	if (from === undefined) return {};
	const { lineage, revision, policyRevision, decisionId, dataAge } = from;
	return {
		...revisionHeaders(revision, lineage),
		'x-policy-revision': String(policyRevision),
		...(dataAge === undefined ? {} : { 'x-data-age': String(dataAge) }),
		...(decisionId === undefined ? {} : { 'x-decision-id': decisionId }),
	};
}

/** An answer whose JSON was made in chunks, with the revision that it comes from. */
export function chunkedReply({ result, ...from }: ReadResult<readonly string[]>): Raw {
	return new Raw(200, { 'content-type': 'application/json', ...revisionHeader(from) }, result);
}

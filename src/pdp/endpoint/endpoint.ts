/** Base for all decision point endpoints. */

import type { Steps } from '../../../compiler/steps.js';
import { type declaredPath, declaring, Raw } from '../../http/endpoint.js';
import { revisionHeaders } from '../../wire/revision-token.js';
import type { DecisionContext } from '../decide/decide.js';
import type { ReadResult, ReadRevision } from '../decide/revision-reader.js';

/** Context for handlers that read a revision. */
export interface AnswerContext {
	/** Returns the current engine with its revision, for work without pauses. */
	readonly now: () => DecisionContext;
	/** Reads a single revision over several turns of the event loop. */
	readonly read: ReadRevision;
}

/** Context for handlers on the lean path, which work without a pause. */
export interface LeanContext {
	readonly current: DecisionContext;
	/** Responds with chunked JSON, unless the work takes too long for a single step. */
	answer(work: (context: DecisionContext) => Steps<readonly string[]>): Raw | typeof declaredPath;
}

/** Handler contexts, keyed by access name. */
interface Contexts {
	/** Open to everyone. */
	open: undefined;
	/** Requires the key. */
	key: AnswerContext;
	/** Open to everyone, with AuthZEN failures. */
	authzen_open: undefined;
	/** Requires the key, with AuthZEN failures. */
	authzen: AnswerContext;
	/** Requires the key, with failures in the format of Cerbos. */
	cerbos: AnswerContext;
	/** Requires the key in the header, or else in the body. A body with the key must be small. */
	key_or_body: AnswerContext;
	/** Requires the key, unless the decision point is open to Trino. */
	trino: AnswerContext;
}

export const endpoint = declaring<Contexts, LeanContext>();

/** Failure documented for every endpoint that reads a revision. */
export const unavailable = { 503: 'No revision is loaded yet' } as const;

/** Failures documented for expensive endpoints. */
export const unavailableOrCostly = {
	503: 'No revision is loaded yet, or the request exceeds its CPU time limit',
} as const;

/**
 * Returns response headers: the data revision, its token, and the revision of the active policy. The two revisions are
 * equal unless the newest schema's policy is not active yet. Adds the data age in seconds and the decision id, if
 * known. The decision id is always the last header. If there is no revision, there are no headers.
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

function filterHeaders(
	validUntil: string | null,
	from: Parameters<typeof revisionHeader>[0],
): Readonly<Record<string, string>> {
	return { ...(validUntil === null ? {} : { 'x-valid-until': validUntil }), ...revisionHeader(from) };
}

/** A filter as JSON, in a format without `valid_until`. `validUntil` is sent in a header. */
export interface WrittenFilter {
	readonly body: readonly string[];
	readonly validUntil: string | null;
}

export function filterReply({ result, ...from }: ReadResult<WrittenFilter>, type = 'application/json'): Raw {
	const { body, validUntil } = result;
	return new Raw(200, { 'content-type': type, ...filterHeaders(validUntil, from) }, body);
}

/** Returns a reply with chunked JSON and the headers for its revision. */
export function chunkedReply({ result, ...from }: ReadResult<readonly string[]>): Raw {
	return new Raw(200, { 'content-type': 'application/json', ...revisionHeader(from) }, result);
}

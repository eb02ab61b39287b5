import type { RevisionToken } from '../../wire/revision-token.js';

/** Revision to wait for. A number without a lineage belongs to the current lineage. */
export type WantedRevision = number | RevisionToken;

/** Decision point progress. With several workers, this is the slowest worker's progress. */
export interface Progress {
	/** The revision's lineage; empty before the first revision, and while workers are in different lineages. */
	readonly lineage: string;
	/** Decisions use this revision or a later revision; -1 before the first revision. */
	readonly revision: number;
	/** The policy of this revision or of a later revision is active; -1 before the first revision. */
	readonly policyRevision: number;
	/**
	 * Resolves when decisions use `wanted` or a later revision of its lineage. Rejects when `signal` aborts, and with
	 * `LineageEnded` if the lineage has ended.
	 */
	reached(wanted: WantedRevision, signal?: AbortSignal): Promise<void>;
	/** Like `reached`, for the revision's policy. */
	policyReached(wanted: WantedRevision, signal?: AbortSignal): Promise<void>;
}

/** The required revision's lineage has ended, so the revision can never arrive. */
export class LineageEnded extends Error {
	override readonly name = 'LineageEnded';
}

/** True if `place` is at or after the required revision. */
export function isPast(
	place: { readonly lineage: string; readonly revision: number },
	wanted: WantedRevision,
): boolean {
	if (typeof wanted === 'number') return place.revision >= wanted;
	return (wanted.lineage === null || wanted.lineage === place.lineage) && place.revision >= wanted.revision;
}

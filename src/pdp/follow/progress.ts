import type { RevisionToken } from '../../wire/revision-token.js';

/** A revision to wait for. A bare number is of the present lineage. */
export type WantedRevision = number | RevisionToken;

/** How far a decision point is. With workers, this is as far as the last of them. */
export interface Progress {
	/** The lineage of the revision; empty before the first, and while workers are in different lineages. */
	readonly lineage: string;
	/** The revision that answers come from, or a later one; -1 before the first. */
	readonly revision: number;
	/** The newest revision whose policy is in force, or a later one; -1 before the first. */
	readonly policyRevision: number;
	/**
	 * Resolves once answers come from `wanted` or a later revision of its lineage; rejects when `signal` aborts, and with
	 * `LineageEnded`.
	 */
	reached(wanted: WantedRevision, signal?: AbortSignal): Promise<void>;
	/** As `reached`, for the policy of the revision. */
	policyReached(wanted: WantedRevision, signal?: AbortSignal): Promise<void>;
}

/** The wanted revision is of a lineage that has ended: it never comes. */
export class LineageEnded extends Error {
	override readonly name = 'LineageEnded';
}

/** Whether a place in history is at a wanted revision or after it. */
export function isPast(
	place: { readonly lineage: string; readonly revision: number },
	wanted: WantedRevision,
): boolean {
	if (typeof wanted === 'number') return place.revision >= wanted;
	return (wanted.lineage === null || wanted.lineage === place.lineage) && place.revision >= wanted.revision;
}

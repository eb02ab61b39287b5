/** How far a decision point is. With workers, this is as far as the last of them. */
export interface Progress {
	/** The revision that answers come from, or a later one; -1 before the first. */
	readonly revision: number;
	/** The newest revision whose policy is in force, or a later one; -1 before the first. */
	readonly policyRevision: number;
	/** Resolves once answers come from `revision` or a later one; rejects when `signal` aborts. */
	reached(revision: number, signal?: AbortSignal): Promise<void>;
	/** Resolves once answers come from `revision` or a later one and its policy; rejects when `signal` aborts. */
	policyReached(revision: number, signal?: AbortSignal): Promise<void>;
}

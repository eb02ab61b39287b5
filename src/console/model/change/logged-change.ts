import type { DraftChange } from '../draft/draft.js';

/** State of an object in the change log. */
export type LoggedRecord = Readonly<Record<string, unknown>>;

/** Change in the change log. */
export interface LoggedChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key: string;
	readonly before: LoggedRecord | null;
	readonly after: LoggedRecord | null;
}

/** Information that undo needs and the log does not contain. */
export interface UndoSurroundings {
	/** Resources, keyed by their keys, in the format of environment documents. Includes the draft's changes. */
	readonly resources: Readonly<Record<string, LoggedRecord>>;
	/** Tenant keys, keyed by tenant id. */
	readonly tenants: ReadonlyMap<string, string>;
	/** Current time in milliseconds since 1970. An expired assignment cannot be restored. */
	readonly now: number;
	/**
	 * True if the list contains all changes of its revision. The parts of a deleted resource are known only in this
	 * case.
	 */
	readonly whole: boolean;
}

/** Draft changes that undo logged changes, and the logged changes that cannot be undone. */
export interface Undo {
	readonly changes: readonly DraftChange[];
	readonly left: readonly LoggedChange[];
}

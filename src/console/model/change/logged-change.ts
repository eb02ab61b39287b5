import type { DraftChange } from '../draft/draft.js';

/** State of one object in the change log. */
export type LoggedRecord = Readonly<Record<string, unknown>>;

/** Change in the log. */
export interface LoggedChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key: string;
	readonly before: LoggedRecord | null;
	readonly after: LoggedRecord | null;
}

/** Information that undo needs and the log does not contain. */
export interface UndoSurroundings {
	/** Resources by key, as in environment documents, or as drafted. */
	readonly resources: Readonly<Record<string, LoggedRecord>>;
	/** Tenant keys by id. */
	readonly tenants: ReadonlyMap<string, string>;
	/** Current time in milliseconds since 1970; an expired assignment cannot be restored. */
	readonly now: number;
	/** True if these are all changes of their revision. Only then are the parts of a deleted resource known. */
	readonly whole: boolean;
}

/** Draft changes that undo logged changes, and the logged changes left over. */
export interface Undo {
	readonly changes: readonly DraftChange[];
	readonly left: readonly LoggedChange[];
}

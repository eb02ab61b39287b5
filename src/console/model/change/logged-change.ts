import type { DraftChange } from '../draft/draft.js';

/** The state of one object in the change log. */
export type LoggedRecord = Readonly<Record<string, unknown>>;

/** A change of the log. */
export interface LoggedChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key: string;
	readonly before: LoggedRecord | null;
	readonly after: LoggedRecord | null;
}

/** What the log does not say, and reversing needs. */
export interface UndoSurroundings {
	/** Resources as documents have them, or as they are drafted, by key. */
	readonly resources: Readonly<Record<string, LoggedRecord>>;
	/** The keys of tenants, by id. */
	readonly tenants: ReadonlyMap<string, string>;
	/** The present, in milliseconds since 1970: what has ended cannot be given back. */
	readonly now: number;
	/** Whether these are all changes of their revision. Only then a deleted resource is known with what it had. */
	readonly whole: boolean;
}

/** What a draft undoes, and what it does not. */
export interface Undo {
	readonly changes: readonly DraftChange[];
	readonly left: readonly LoggedChange[];
}

/** Changes that are collected before they are made, all or none (docs/drafts.md). */

/** A change of one object. `key` is absent for objects that only their content names. */
export interface DraftChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key?: string | undefined;
	/** As in the import document; absent where an object with a key is deleted. */
	readonly value?: unknown;
}

/** A draft: what to change, as seen at a revision. */
export interface Draft {
	readonly base_revision: number;
	readonly changes: readonly DraftChange[];
}

/** What names the object of a change among all objects: equal texts, equal objects. */
export function draftSubject({ kind, key, value }: DraftChange): string {
	return JSON.stringify([kind, key ?? sorted(value)]);
}

/**
 * A draft with one more change. Changes of one object become one: of two updates the later stays, and an object that is
 * created and deleted is not named at all.
 */
export function withChange(draft: Draft, change: DraftChange): Draft {
	const subject = draftSubject(change);
	const index = draft.changes.findIndex((one) => draftSubject(one) === subject);
	const earlier = draft.changes[index];
	if (earlier === undefined) return { ...draft, changes: [...draft.changes, change] };
	const merged = mergedChange(earlier, change);
	const changes = merged === null ? draft.changes.toSpliced(index, 1) : draft.changes.with(index, merged);
	return { ...draft, changes };
}

/** A draft without one of its changes. */
export function withoutChange(draft: Draft, index: number): Draft {
	return { ...draft, changes: draft.changes.toSpliced(index, 1) };
}

/** Two changes of one object, one after the other, as one; `null` where they come to nothing. */
function mergedChange(earlier: DraftChange, later: DraftChange): DraftChange | null {
	if (later.operation === 'delete') return earlier.operation === 'create' ? null : later;
	if (earlier.operation === 'create') return { ...later, operation: 'create' };
	// An object that only its content names is there again, as it was.
	if (earlier.operation === 'delete' && later.key === undefined) return null;
	return { ...later, operation: 'update' };
}

/** A value with the members of its objects in order, so that equal values give equal text. */
function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== 'object' || value === null) return value;
	const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
	return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

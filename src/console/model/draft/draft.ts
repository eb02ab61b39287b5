/** Changes that are collected before they are made, all or none (docs/drafts.md). */

import { isRecord } from '../equal-json.js';

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

/** Kinds that may end, and are the same object whenever that is. */
const endingKinds: ReadonlySet<string> = new Set(['role_assignment', 'relationship_tuple']);

/** What names the object of a change among all objects: equal texts, equal objects. */
export function draftSubject({ kind, key, value }: DraftChange): string {
	if (key !== undefined) return JSON.stringify([kind, key]);
	if (!endingKinds.has(kind) || !isRecord(value)) return JSON.stringify([kind, sorted(value)]);
	const { expires_at: _, ...name } = value;
	return JSON.stringify([kind, sorted(name)]);
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

/**
 * What is left of a draft when another one that it grew from was published, as a revision; `null` for nothing. What was
 * published is left out; what was drafted for the same objects since is said of the objects as they are now.
 */
export function afterPublishing(draft: Draft, published: Draft, revision: number): Draft | null {
	const made = new Map(published.changes.map((change) => [draftSubject(change), change]));
	const left = draft.changes.filter((change) => !isSameChange(made.get(draftSubject(change)), change));
	if (left.length === 0) return null;
	const changes = left.map((change) => afterChange(made.get(draftSubject(change)), change));
	// What was published itself is in the way of what follows it. Other objects may have been changed by others.
	const follows = left.some((change) => made.has(draftSubject(change)));
	return { base_revision: follows ? revision : draft.base_revision, changes };
}

function isSameChange(one: DraftChange | undefined, other: DraftChange): boolean {
	return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** A change that was drafted together with an earlier one of the same object, when that one was made already. */
function afterChange(made: DraftChange | undefined, change: DraftChange): DraftChange {
	if (made === undefined || change.operation === 'delete') return change;
	return { ...change, operation: made.operation === 'delete' ? 'create' : 'update' };
}

/** Two changes of one object, one after the other, as one; `null` where they come to nothing. */
function mergedChange(earlier: DraftChange, later: DraftChange): DraftChange | null {
	if (later.operation === 'delete') return earlier.operation === 'create' ? null : later;
	if (earlier.operation === 'create') return { ...later, operation: 'create' };
	// An object that only its content names is there again, as it was.
	if (earlier.operation === 'delete' && later.key === undefined && !hasEnd(later)) return null;
	return { ...later, operation: 'update' };
}

/** Whether a change says when its object ends. */
function hasEnd({ kind, value }: DraftChange): boolean {
	return endingKinds.has(kind) && isRecord(value) && value['expires_at'] !== undefined;
}

/** A value with the members of its objects in order, so that equal values give equal text. */
function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== 'object' || value === null) return value;
	const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
	return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

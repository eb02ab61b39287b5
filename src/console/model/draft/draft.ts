/** Drafts: changes collected and then applied in one atomic write (docs/policy/drafts.md). */

import { isRecord } from '../equal-json.js';

/** Change to one object. `key` is absent if the object is identified by its content. */
export interface DraftChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key?: string | undefined;
	/** Object in the import document's format. Absent if the change deletes an object by key. */
	readonly value?: unknown;
}

/** Draft, with its base revision. */
export interface Draft {
	readonly base_revision: number;
	readonly changes: readonly DraftChange[];
}

/** Grant kinds. A grant keeps its identity if its expiry or its condition values change. */
const grantKinds: ReadonlySet<string> = new Set(['role_assignment', 'relationship_tuple']);

/** Returns the identity of the object that a change affects. Equal strings mean the same object. */
export function draftSubject({ kind, key, value }: DraftChange): string {
	if (key !== undefined) return JSON.stringify([kind, key]);
	if (!grantKinds.has(kind) || !isRecord(value)) return JSON.stringify([kind, sorted(value)]);
	const { expires_at: _, condition, ...name } = value;
	return JSON.stringify([kind, sorted({ ...name, ...(isRecord(condition) && { condition: condition['set'] }) })]);
}

/**
 * Adds a change to a draft. Merges it with an earlier change to the same object: a later update replaces an earlier
 * update, and a deletion cancels a creation.
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

/** Removes a change from a draft. */
export function withoutChange(draft: Draft, index: number): Draft {
	return { ...draft, changes: draft.changes.toSpliced(index, 1) };
}

/**
 * Returns the remaining part of a draft after an earlier version was published as a revision; `null` if nothing
 * remains. Drops published changes, and adjusts later changes to the published objects.
 */
export function afterPublishing(draft: Draft, published: Draft, revision: number): Draft | null {
	const made = new Map(published.changes.map((change) => [draftSubject(change), change]));
	const left = draft.changes.filter((change) => !isSameChange(made.get(draftSubject(change)), change));
	if (left.length === 0) return null;
	const changes = left.map((change) => afterChange(made.get(draftSubject(change)), change));
	// A change that follows a published change to the same object would conflict with it, so the draft's base moves to
	// the new revision. Otherwise the base does not move, so changes by other users are still detected.
	const follows = left.some((change) => made.has(draftSubject(change)));
	return { base_revision: follows ? revision : draft.base_revision, changes };
}

function isSameChange(one: DraftChange | undefined, other: DraftChange): boolean {
	return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** Adjusts a change after an earlier change to the same object was published. */
function afterChange(made: DraftChange | undefined, change: DraftChange): DraftChange {
	if (made === undefined || change.operation === 'delete') return change;
	return { ...change, operation: made.operation === 'delete' ? 'create' : 'update' };
}

/** Merges two consecutive changes to the same object. Returns `null` if they cancel each other. */
function mergedChange(earlier: DraftChange, later: DraftChange): DraftChange | null {
	if (later.operation === 'delete') return earlier.operation === 'create' ? null : later;
	if (earlier.operation === 'create') return { ...later, operation: 'create' };
	// The object is identified by its content, so creating it again restores it unchanged.
	if (earlier.operation === 'delete' && later.key === undefined && !isChangeable(later)) return null;
	return { ...later, operation: 'update' };
}

/** True if a change sets a grant's expiry or condition values, which do not identify the grant. */
function isChangeable({ kind, value }: DraftChange): boolean {
	return (
		grantKinds.has(kind) && isRecord(value) && ['expires_at', 'condition'].some((name) => Object.hasOwn(value, name))
	);
}

/** Sorts object fields so equal values give equal text. */
function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== 'object' || value === null) return value;
	const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
	return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

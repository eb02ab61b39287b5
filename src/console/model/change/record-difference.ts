import { isRecord } from '../equal-json.js';
import type { LoggedRecord } from './logged-change.js';

/** Difference between two states of an object, in a few human-readable lines. */

export interface MemberDifference {
	/** Path to the field, separated by dots. */
	readonly name: string;
	/** Old values as text: a single value, or list items. */
	readonly removed: readonly string[];
	/** New values as text. */
	readonly added: readonly string[];
	/** True if only the order of a list differs. */
	readonly reordered?: true;
}

/** Fields that are not shown: ids, and times that change with every write. */
const silent = new Set(['id', 'environment_id', 'granted_to_id', 'created_at', 'updated_at', 'last_action_at']);

/** Maximum number of fields to show. */
export const maxDifferences = 50;
/** Maximum number of added or removed items to show per list. */
const maxItems = 20;
/** Maximum text length for a value, in characters. */
const maxLength = 200;

/**
 * Returns the fields in which two records differ, in the order of the newer record. If there is only one record,
 * returns all fields except its key and ids. Null fields are treated as absent. An id is omitted if the key next to it
 * has the same meaning. Returns at most `maxDifferences` fields.
 */
export function recordDifference(before: LoggedRecord | null, after: LoggedRecord | null): readonly MemberDifference[] {
	const found: MemberDifference[] = [];
	const isUpdate = before !== null && after !== null;
	compareMembers(told(before ?? {}, isUpdate), told(after ?? {}, isUpdate), '', found);
	return found.slice(0, maxDifferences);
}

/**
 * Returns the fields to show. For a created or deleted object, omits the ids and the key, because the key is already
 * the title.
 */
function told(record: LoggedRecord, isUpdate: boolean): LoggedRecord {
	return Object.fromEntries(
		Object.entries(record).filter(([name]) => {
			if (silent.has(name) || (!isUpdate && name === 'key')) return false;
			return !name.endsWith('_id') || (isUpdate && !Object.hasOwn(record, name.slice(0, -'_id'.length)));
		}),
	);
}

function compareMembers(before: LoggedRecord, after: LoggedRecord, prefix: string, found: MemberDifference[]): void {
	for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
		if (found.length > maxDifferences) return;
		compareValues(member(before, name), member(after, name), prefix + name, found);
	}
}

/** Returns a record's own field, ignoring its prototype; `undefined` for null. */
function member(record: LoggedRecord, name: string): unknown {
	return Object.hasOwn(record, name) ? (record[name] ?? undefined) : undefined;
}

function compareValues(before: unknown, after: unknown, name: string, found: MemberDifference[]): void {
	if (JSON.stringify(before) === JSON.stringify(after)) return;
	if (isRecord(before ?? after) && isRecord(after ?? before)) {
		compareMembers((before ?? {}) as LoggedRecord, (after ?? {}) as LoggedRecord, `${name}.`, found);
		return;
	}
	if (Array.isArray(before ?? after) && Array.isArray(after ?? before)) {
		compareLists((before ?? []) as readonly unknown[], (after ?? []) as readonly unknown[], name, found);
		return;
	}
	found.push({ name, removed: valueTexts(before), added: valueTexts(after) });
}

function compareLists(
	before: readonly unknown[],
	after: readonly unknown[],
	name: string,
	found: MemberDifference[],
): void {
	const [old, young] = [before.map(valueText), after.map(valueText)];
	const removed = without(old, young);
	const added = without(young, old);
	if (removed.length + added.length > 0) found.push({ name, removed: fewItems(removed), added: fewItems(added) });
	else if (before.length > 0) found.push({ name, removed: [], added: [], reordered: true });
}

/** Returns the items that occur in a list more often than in the other list. */
function without(items: readonly string[], others: readonly string[]): readonly string[] {
	const left = new Map<string, number>();
	for (const other of others) left.set(other, (left.get(other) ?? 0) + 1);
	return items.filter((item) => {
		const count = left.get(item) ?? 0;
		if (count > 0) left.set(item, count - 1);
		return count === 0;
	});
}

function fewItems(items: readonly string[]): readonly string[] {
	return items.length <= maxItems ? items : [...items.slice(0, maxItems), `and ${items.length - maxItems} more`];
}

function valueTexts(value: unknown): readonly string[] {
	return value === undefined ? [] : [valueText(value)];
}

function valueText(value: unknown): string {
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}

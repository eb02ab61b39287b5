import { isRecord } from '../equal-json.js';
import type { LoggedRecord } from './logged-change.js';

/** How two states of an object differ, in the few lines that a person reads. */

/** One member that differs. */
export interface MemberDifference {
	/** The way to the member, with dots. */
	readonly name: string;
	/** What was there and is not any more, as text: one value, or items of a list. */
	readonly removed: readonly string[];
	/** What is there and was not before. */
	readonly added: readonly string[];
	/** Whether only the order of a list differs. */
	readonly reordered?: true;
}

/** The members that say nothing to a person: ids, and times that every write moves. */
const silent = new Set(['id', 'environment_id', 'granted_to_id', 'created_at', 'updated_at', 'last_action_at']);

/** The most members that are told. */
export const maxDifferences = 50;
/** The most items of one list that are told, of each kind. */
const maxItems = 20;
/** The longest text of one value, in characters. */
const maxLength = 200;

/**
 * The members in which two records differ, in the order of the newer one; of one record, all of them but its key and ids.
 * Members that are null count as absent, and an id is left out where the key beside it says the same. At most
 * `maxDifferences`.
 */
export function recordDifference(before: LoggedRecord | null, after: LoggedRecord | null): readonly MemberDifference[] {
	const found: MemberDifference[] = [];
	const isUpdate = before !== null && after !== null;
	compareMembers(told(before ?? {}, isUpdate), told(after ?? {}, isUpdate), '', found);
	return found.slice(0, maxDifferences);
}

/** The members that are told: of what came or went neither its key, by which it is called anyway, nor ids. */
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

/** A member of the record itself, not of its prototype; `undefined` for null. */
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

/** The items that a list has more often than another. */
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

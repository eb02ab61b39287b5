/** Nested tables whose innermost entries are facts with their expiry. */

import type { JsonWriter } from '../json-writer.js';
import type { Attributes, Json } from '../model.js';
import { canonical } from '../order.js';
import { later, type Until } from '../policy/expiry.js';
import { runToEnd, type Steps } from '../steps.js';

/** A table. It maps each key to an inner table or to a fact's expiry, or to its expiry and other values. */
export type Tree = Map<string, Tree | Until | ConditionalEntry>;

/** A conditional assignment or relationship: its expiry, and its values for the condition. */
export interface ConditionalEntry {
	readonly until: Until;
	readonly values: Attributes;
}

/**
 * Adds a fact at a path, and creates missing tables. All paths in a table have the same length. If a fact is added
 * twice, the later expiry wins.
 */
export function addTo(tree: Tree, path: readonly string[], entry: Until | ConditionalEntry = null): void {
	let table = tree;
	for (const [depth, key] of path.entries()) {
		const known = table.get(key);
		if (depth === path.length - 1) {
			table.set(key, isUntil(known) && isUntil(entry) ? later(known, entry) : entry);
			return;
		}
		const inner: Tree = isTable(known) ? known : new Map();
		table.set(key, inner);
		table = inner;
	}
}

/** Writes a table as the field `key`, with its entries in canonical order. */
export function writeTree(key: string, tree: Tree, writer: JsonWriter): void {
	runToEnd(treeSteps(key, tree, writer));
}

/** Like `writeTree`, but interruptible. */
export function* treeSteps(key: string, tree: Tree, writer: JsonWriter): Steps<void> {
	writer.open(key);
	for (const member of canonical(tree.keys())) {
		const inner = tree.get(member) ?? null;
		if (isTable(inner)) {
			yield* treeSteps(member, inner, writer);
		} else {
			writer.value(member, leafValue(inner));
			yield;
		}
	}
	writer.close();
}

/** Returns a table or an expiry as a JSON value. An empty table becomes an empty object. */
export function treeValue(tree: Tree | Until | ConditionalEntry): Json {
	if (!isTable(tree)) return leafValue(tree);
	return Object.fromEntries(canonical(tree.keys()).map((key) => [key, treeValue(tree.get(key) ?? null)]));
}

function leafValue(entry: Until | ConditionalEntry): Json {
	return isUntil(entry) ? entry : { until: entry.until, values: entry.values };
}

type Member = Tree | Until | ConditionalEntry | undefined;

function isTable(member: Member): member is Tree {
	return member instanceof Map;
}

function isUntil(member: Member): member is Until {
	return member === null || typeof member === 'number';
}

/** Nested tables whose innermost entries are facts with their expiry. */

import type { JsonWriter } from '../json-writer.js';
import type { Json } from '../model.js';
import { canonical } from '../order.js';
import { later, type Until } from '../policy/expiry.js';
import { runToEnd, type Steps } from '../steps.js';

/** A table. It maps each key to an inner table or to a fact's expiry. */
export type Tree = Map<string, Tree | Until>;

/**
 * Adds a fact at a path, and creates missing tables. All paths in a table have the same length. If a fact is added
 * twice, the later expiry wins.
 */
export function addTo(tree: Tree, path: readonly string[], until: Until = null): void {
	let table = tree;
	for (const [depth, key] of path.entries()) {
		const known = table.get(key);
		if (depth === path.length - 1) {
			table.set(key, known === undefined || isTable(known) ? until : later(known, until));
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
			writer.value(member, inner);
			yield;
		}
	}
	writer.close();
}

/** Returns a table or an expiry as a JSON value. An empty table becomes an empty object. */
export function treeValue(tree: Tree | Until): Json {
	if (!isTable(tree)) return tree;
	return Object.fromEntries(canonical(tree.keys()).map((key) => [key, treeValue(tree.get(key) ?? null)]));
}

function isTable(member: Tree | Until | undefined): member is Tree {
	return member instanceof Map;
}

/** Nested tables whose innermost members are facts, and say only until when those hold. */

import type { JsonWriter } from '../json-writer.js';
import type { Json } from '../model.js';
import { canonical } from '../order.js';
import { later, type Until } from '../policy/expiry.js';
import { runToEnd, type Steps } from '../steps.js';

/** A table: its members by key, each an inner table or until when the fact holds. */
export type Tree = Map<string, Tree | Until>;

/**
 * Adds a fact at a path: creates its tables and makes its innermost key present. All paths of a table have one length.
 * A fact that is added twice holds until the later of both times.
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

/** Writes a table as the member `key`, its members in canonical order. */
export function writeTree(key: string, tree: Tree, writer: JsonWriter): void {
	runToEnd(treeSteps(key, tree, writer));
}

/** As `writeTree`, in steps. */
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

/** A table, or one of its members, as a value. A table without members is an object all the same. */
export function treeValue(tree: Tree | Until): Json {
	if (!isTable(tree)) return tree;
	return Object.fromEntries(canonical(tree.keys()).map((key) => [key, treeValue(tree.get(key) ?? null)]));
}

function isTable(member: Tree | Until | undefined): member is Tree {
	return member instanceof Map;
}

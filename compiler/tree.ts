/** Nested tables whose innermost members are present or absent and mean nothing more. */
import type { JsonWriter } from './json-writer.js';
import type { Json } from './model.js';
import { canonical } from './order.js';

/** A table: its members by key. One without members is a presence and written as `null`. */
export type Tree = Map<string, Tree>;

/** Represents every presence: there are as many as facts, so they share one object, which is never added to. */
const present: Tree = new Map();

/** Adds a path: creates its tables and makes its innermost key present. All paths of a table have one length. */
export function addTo(tree: Tree, path: readonly string[]): void {
	let table = tree;
	for (const [depth, key] of path.entries()) {
		const inner = table.get(key) ?? (depth === path.length - 1 ? present : new Map<string, Tree>());
		table.set(key, inner);
		table = inner;
	}
}

/** Writes a table as the member `key`, its members in canonical order. */
export function writeTree(key: string, tree: Tree, writer: JsonWriter): void {
	writer.open(key);
	for (const member of canonical(tree.keys())) {
		const inner = tree.get(member);
		if (inner === undefined || inner.size === 0) {
			writer.value(member, null);
		} else {
			writeTree(member, inner, writer);
		}
	}
	writer.close();
}

/** A table as a value; one without members is an object all the same. */
export function treeValue(tree: Tree): Json {
	return Object.fromEntries(
		canonical(tree.keys()).map((key) => {
			const inner = tree.get(key);
			return [key, inner === undefined || inner.size === 0 ? null : treeValue(inner)];
		}),
	);
}

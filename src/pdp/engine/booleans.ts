import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { array, collection, element, kind } from './heap-layout.js';
import type { ModuleMemory } from './module-memory.js';
import { unsigned } from './policy-exports.js';

/**
 * Addresses where a module stores its two boolean values. The addresses are in the module's own memory, and differ
 * between modules.
 */
export interface Booleans {
	readonly true: number;
	readonly false: number;
}

/** Number of entries visited between two pauses. */
const stride = 2_000;

/** Finds a module's booleans by parsing `true` and `false`. */
export function parseBooleans(memory: ModuleMemory): Booleans {
	return { true: unsigned(memory.parseText('true')), false: unsigned(memory.parseText('false')) };
}

/**
 * True if the module's booleans can be distinguished from all other values in parsed documents. Uses memory above the
 * free address.
 */
export function findsBooleans(memory: ModuleMemory, booleans: Booleans): boolean {
	const root = unsigned(
		memory.parseText('{"a": [true, [null, 1], "b"], "c": {"d": false}, "e": [[], {}], "f": [{"g": true}]}'),
	);
	return runToEnd(replaceBooleans(memory, root, booleans, booleans)) === 3;
}

/** Replaces one module's booleans with a second module's throughout a document. Returns the number of replacements. */
export function* replaceBooleans(memory: ModuleMemory, root: number, from: Booleans, to: Booleans): Steps<number> {
	const open = [root];
	let replaced = 0;
	let looked = 0;
	for (let value = open.pop(); value !== undefined; value = open.pop()) {
		for (const slot of slotsIn(memory, value)) {
			looked += 1;
			if (looked % stride === 0) yield;
			const { view } = memory;
			const member = view.getUint32(slot, true);
			if (member === from.true || member === from.false) {
				view.setUint32(slot, member === from.true ? to.true : to.false, true);
				replaced += 1;
			} else if (isCollection(view.getUint8(member))) open.push(member);
		}
	}
	return replaced;
}

function isCollection(type: number): boolean {
	return type === kind.object || type === kind.array;
}

/** Yields the addresses of all slots that point to values. */
function* slotsIn({ view }: ModuleMemory, value: number): Iterable<number> {
	const first = view.getUint32(value + collection.table * 4, true);
	const length = view.getUint32(value + collection.buckets * 4, true);
	if (view.getUint8(value) === kind.array) {
		for (let index = 0; index < length; index += 1) yield first + index * array.itemBytes + array.value * 4;
		return;
	}
	for (let bucket = first; bucket < first + length * 4; bucket += 4) {
		for (let at = view.getUint32(bucket, true); at !== 0; at = view.getUint32(at + element.next * 4, true)) {
			yield at + element.value * 4;
		}
	}
}

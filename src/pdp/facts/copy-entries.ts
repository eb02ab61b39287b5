import { Pauses, type Steps } from '../../../compiler/steps.js';

/** Adds every map or set entry to a new collection, in steps. */
export function* copyEntries<K, V>(entries: Iterable<readonly [K, V]>, add: (key: K, value: V) => void): Steps<void> {
	const pauses = new Pauses(2_000);
	for (const [key, value] of entries) {
		add(key, value);
		if (pauses.step()) yield;
	}
}

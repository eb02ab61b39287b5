import type { Steps } from '../../../compiler/steps.js';

/** Number of entries copied between two pauses. */
const stride = 2_000;

/** Adds every map or set entry to a new collection, in steps. */
export function* copyEntries<K, V>(entries: Iterable<readonly [K, V]>, add: (key: K, value: V) => void): Steps<void> {
	let copied = 0;
	for (const [key, value] of entries) {
		add(key, value);
		copied += 1;
		if (copied % stride === 0) yield;
	}
}

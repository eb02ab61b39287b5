import type { Steps } from '../../../compiler/steps.js';

/** How many entries are copied between two pauses. */
const stride = 2_000;

/** Adds every entry of a map or a set somewhere else, in steps. */
export function* copyEntries<K, V>(entries: Iterable<readonly [K, V]>, add: (key: K, value: V) => void): Steps<void> {
	let copied = 0;
	for (const [key, value] of entries) {
		add(key, value);
		copied += 1;
		if (copied % stride === 0) yield;
	}
}

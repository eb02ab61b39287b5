import { outlasts, type Until } from './policy/expiry.js';

interface Entry<T> {
	readonly item: T;
	readonly until: Until;
}

/**
 * A queue that returns the entry with the latest expiry first. Entries without an expiry, usually the majority, are in
 * a list. All other entries are in a binary heap.
 */
export class LongestFirst<T> {
	readonly #lasting: Entry<T>[] = [];
	readonly #heap: Entry<T>[] = [];

	push(item: T, until: Until): void {
		const entry = { item, until };
		if (until === null) {
			this.#lasting.push(entry);
			return;
		}
		this.#heap.push(entry);
		this.#rise(this.#heap.length - 1, entry);
	}

	/** Removes and returns the entry with the latest expiry; `undefined` if the queue is empty. */
	pop(): Entry<T> | undefined {
		const lasting = this.#lasting.pop();
		if (lasting !== undefined) return lasting;
		const [first] = this.#heap;
		const last = this.#heap.pop();
		if (last !== undefined && last !== first) this.#sink(last);
		return first;
	}

	/** Moves an entry up from a free place until its parent expires no earlier. */
	#rise(free: number, entry: Entry<T>): void {
		let at = free;
		while (at > 0) {
			const above = (at - 1) >>> 1;
			const parent = this.#heap[above];
			if (parent === undefined || !outlasts(entry.until, parent.until)) break;
			this.#heap[at] = parent;
			at = above;
		}
		this.#heap[at] = entry;
	}

	/** Moves an entry down from the top until no child expires later. */
	#sink(entry: Entry<T>): void {
		let at = 0;
		for (;;) {
			const below = this.#longerChild(at);
			const child = this.#heap[below];
			if (child === undefined || !outlasts(child.until, entry.until)) break;
			this.#heap[at] = child;
			at = below;
		}
		this.#heap[at] = entry;
	}

	#longerChild(at: number): number {
		const [left, right] = [this.#heap[2 * at + 1], this.#heap[2 * at + 2]];
		const rightIsLonger = left !== undefined && right !== undefined && outlasts(right.until, left.until);
		return 2 * at + (rightIsLonger ? 2 : 1);
	}
}

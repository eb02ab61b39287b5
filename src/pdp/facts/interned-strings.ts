/** Maps strings to numbers so large tables can store numbers. */

import type { Steps } from '../../../compiler/steps.js';
import { copyEntries } from './copy-entries.js';

/** Assigns a number below `size` to each string in use. Unused numbers are reused. */
export class InternedStrings {
	readonly #numbers = new Map<string, number>();
	#texts: (string | undefined)[] = [];
	#uses: number[] = [];
	#free: number[] = [];

	/** Makes this object a copy of `other`, which must not change while it is copied. */
	*copyingFrom(other: InternedStrings): Steps<void> {
		this.#texts = other.#texts.slice();
		this.#uses = other.#uses.slice();
		this.#free = other.#free.slice();
		yield;
		yield* copyEntries(other.#numbers, (text, number) => this.#numbers.set(text, number));
	}

	/** Largest count of numbers that were in use at the same time. */
	get size(): number {
		return this.#texts.length;
	}

	get used(): number {
		return this.#numbers.size;
	}

	/** Returns the string's number; `undefined` if the string is not in use. */
	number(text: string): number | undefined {
		return this.#numbers.get(text);
	}

	text(number: number): string {
		return this.#texts[number] ?? '';
	}

	/**
	 * Increments the string's use count and returns its number. Tries the number `guess` first, because this is cheaper
	 * than a lookup.
	 */
	use(text: string, guess: number): number {
		const known = this.#texts[guess] === text ? guess : this.#numbers.get(text);
		if (known !== undefined) {
			this.#uses[known] = (this.#uses[known] ?? 0) + 1;
			return known;
		}
		const number = this.#free.pop() ?? this.#texts.length;
		this.#numbers.set(text, number);
		this.#texts[number] = text;
		this.#uses[number] = 1;
		return number;
	}

	/** Decrements a number's use count. An unused number may be reused. */
	release(number: number): void {
		const uses = (this.#uses[number] ?? 0) - 1;
		this.#uses[number] = uses;
		if (uses > 0) return;
		this.#numbers.delete(this.text(number));
		this.#texts[number] = undefined;
		this.#free.push(number);
	}
}

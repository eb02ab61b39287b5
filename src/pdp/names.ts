/** Texts by number, so that large tables hold numbers. */

import { copying } from './copying.js';
import type { Steps } from './engine/steps.js';

/** Each text that is in use has one number, below `size`; numbers that fall out of use are given to other texts. */
export class Names {
	readonly #numbers = new Map<string, number>();
	#texts: (string | undefined)[] = [];
	#uses: number[] = [];
	#free: number[] = [];

	/** Becomes a copy of other names, none of which are used meanwhile. */
	*becoming(other: Names): Steps<void> {
		this.#texts = other.#texts.slice();
		this.#uses = other.#uses.slice();
		this.#free = other.#free.slice();
		yield;
		yield* copying(other.#numbers, (text, number) => this.#numbers.set(text, number));
	}

	/** How many numbers have been given at most. */
	get size(): number {
		return this.#texts.length;
	}

	/** How many texts are in use. */
	get used(): number {
		return this.#numbers.size;
	}

	/** The number of a text, if it has one. */
	number(text: string): number | undefined {
		return this.#numbers.get(text);
	}

	/** The text of a number. */
	text(number: number): string {
		return this.#texts[number] ?? '';
	}

	/** The number of a text that is used once more. To look at `guess` first costs less. */
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

	/** Uses a number once less; unused, it may come to stand for another text. */
	release(number: number): void {
		const uses = (this.#uses[number] ?? 0) - 1;
		this.#uses[number] = uses;
		if (uses > 0) return;
		this.#numbers.delete(this.text(number));
		this.#texts[number] = undefined;
		this.#free.push(number);
	}
}

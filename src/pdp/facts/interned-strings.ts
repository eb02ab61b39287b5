/** Numbers texts, so that large tables can hold numbers. */

import type { Steps } from '../../../compiler/steps.js';
import { copyEntries } from './copy-entries.js';

/** Gives each text in use one number, below `size`. Unused numbers are given to other texts. */
export class InternedStrings {
	readonly #numbers = new Map<string, number>();
	#texts: (string | undefined)[] = [];
	#uses: number[] = [];
	#free: number[] = [];

	/** Becomes a copy of other names. Nobody may change those meanwhile. */
	*copyingFrom(other: InternedStrings): Steps<void> {
		this.#texts = other.#texts.slice();
		this.#uses = other.#uses.slice();
		this.#free = other.#free.slice();
		yield;
		yield* copyEntries(other.#numbers, (text, number) => this.#numbers.set(text, number));
	}

	/** The most numbers that were ever in use. */
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

	/** Uses a text once more and returns its number. `guess` is tried first, because that costs less. */
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

	/** Uses a number once less. An unused number may be given to another text. */
	release(number: number): void {
		const uses = (this.#uses[number] ?? 0) - 1;
		this.#uses[number] = uses;
		if (uses > 0) return;
		this.#numbers.delete(this.text(number));
		this.#texts[number] = undefined;
		this.#free.push(number);
	}
}

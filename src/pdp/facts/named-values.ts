import type { Json } from '../../../compiler/model.js';
import type { InternedStrings } from './interned-strings.js';

/** Values by name, stored by the number of the name. Values are never `undefined`. */
export class NamedValues<V> {
	readonly #names: InternedStrings;
	#values: (V | undefined)[] = [];
	#size = 0;
	/** Number of the last name set. Tables list names in the same order, so the next name often has the next number. */
	#last = -1;

	/** @param names interns the names; may be shared with other tables. */
	constructor(names: InternedStrings) {
		this.#names = names;
	}

	/** Makes this object a copy of `other`. The names must already be a copy of the names in `other`. */
	copyFrom(other: NamedValues<V>): void {
		this.#values = other.#values.slice();
		this.#size = other.#size;
		this.#last = other.#last;
	}

	/** Returns the value for a name's number. */
	at(number: number): V | undefined {
		return this.#values[number];
	}

	get(name: string): V | undefined {
		const number = this.#names.number(name);
		return number === undefined ? undefined : this.at(number);
	}

	has(name: string): boolean {
		const number = this.#names.number(name);
		return number !== undefined && this.#values[number] !== undefined;
	}

	/** Yields the names with a value. The iterator becomes invalid when a table with these names changes. */
	*keys(): Iterable<string> {
		for (const number of this.numbers()) yield this.#names.text(number);
	}

	/** Yields the names with their values. See `keys`. */
	*[Symbol.iterator](): Iterator<readonly [name: string, value: V]> {
		for (const number of this.numbers()) {
			const value = this.at(number);
			if (value !== undefined) yield [this.#names.text(number), value];
		}
	}

	/** Yields the numbers of the names with a value. See `keys`. */
	*numbers(): Iterable<number> {
		const values = this.#values;
		for (let number = 0; number < values.length; number += 1) if (values[number] !== undefined) yield number;
	}

	/** Returns the numbers of up to `count` random names with a value. */
	random(count: number): readonly number[] {
		const found = new Set<number>();
		const { length } = this.#values;
		// Most numbers have a value, except in a small table that shares its names with large tables.
		for (let tries = 8 * count; tries > 0 && found.size < Math.min(count, this.#size); tries -= 1) {
			const number = Math.floor(Math.random() * length);
			if (this.#values[number] !== undefined) found.add(number);
		}
		return found.size < Math.min(count, this.#size) ? this.#scanned(count) : [...found];
	}

	#scanned(count: number): readonly number[] {
		const ranks = Array.from({ length: count }, () => Math.floor(Math.random() * this.#size)).sort((a, b) => a - b);
		const found: number[] = [];
		let rank = 0;
		for (let number = 0; number < this.#values.length && found.length < count; number += 1) {
			if (this.#values[number] === undefined) continue;
			while (ranks[found.length] === rank) found.push(number);
			rank += 1;
		}
		return found;
	}

	/** Sets a name's value, and returns the previous value. */
	set(name: string, value: V): V | undefined {
		const number = this.#names.use(name, this.#last + 1);
		this.#last = number;
		// A value far beyond the end would make the array a slow dictionary.
		while (this.#values.length < number) this.#values.push(undefined);
		const before = this.#values[number];
		if (before === undefined) this.#size += 1;
		else this.#names.release(number);
		this.#values[number] = value;
		return before;
	}

	/** Replaces a name's value with an equal value. */
	protected replace(number: number, value: V): void {
		this.#values[number] = value;
	}

	/** Removes a name's value, and returns it. */
	delete(name: string): V | undefined {
		const number = this.#names.number(name);
		if (number === undefined) return undefined;
		const value = this.#values[number];
		this.#remove(number);
		return value;
	}

	clear(): void {
		for (const number of this.numbers()) this.#remove(number);
		this.#values = [];
	}

	#remove(number: number): void {
		if (this.#values[number] === undefined) return;
		this.#values[number] = undefined;
		this.#size -= 1;
		this.#names.release(number);
	}
}

/** JSON values by name. Values read from a document are kept as text, and parsed on first use. */
export class NamedJson extends NamedValues<Json> {
	override at(number: number): Json | undefined {
		const value = super.at(number);
		if (typeof value !== 'string') return value;
		const parsed = JSON.parse(value) as Json;
		if (typeof parsed !== 'string') this.replace(number, parsed);
		return parsed;
	}

	override set(name: string, value: Json): Json | undefined {
		return super.set(name, typeof value === 'string' ? JSON.stringify(value) : value);
	}

	/** Like `set`, for a value in JSON. */
	setText(name: string, text: string): void {
		super.set(name, text);
	}
}

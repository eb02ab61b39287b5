/** JSON read from bytes, member by member: a document of tens of megabytes never stands in memory as a whole. */

import type { Json } from '../../compiler/model.js';
import { byteOf, closes, opens } from './engine/json-bytes.js';
import type { Steps } from './engine/steps.js';

const { quote, comma, backslash, openingBrace, closingBrace } = byteOf;

/** How many bytes are passed over between two pauses. */
const stride = 64 * 1024;

/** A byte that JSON does not have there. */
export class JsonReadError extends Error {
	override readonly name = 'JsonReadError';
}

/**
 * Reads one JSON text from its beginning to its end. It is for text that a JSON parser has accepted already: what it
 * skips it does not look at, and only what it stumbles over makes it throw `JsonReadError`.
 */
export class JsonReader {
	readonly #bytes: Buffer;
	#at = 0;
	/** Where strings were read before, by hash, and what they were: the same text gives the same string most times. */
	readonly #places: Int32Array;
	readonly #strings: string[];

	constructor(bytes: Uint8Array) {
		this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		const slots = 2 ** Math.min(20, Math.max(8, Math.ceil(Math.log2((bytes.byteLength + 1) / 64))));
		this.#places = new Int32Array(slots).fill(-1);
		this.#strings = new Array<string>(slots);
	}

	/**
	 * Begins to read an object: then `next` tells its keys, one by one. A value that is no object is passed over, and the
	 * answer is false.
	 */
	enter(): boolean {
		if (this.#peek() !== openingBrace) {
			this.skip();
			return false;
		}
		this.#at += 1;
		return true;
	}

	/**
	 * The key of the next member, whose value is to be read by exactly one call of `enter`, `value` or `skip`; `undefined`
	 * at the end of the object.
	 */
	next(): string | undefined {
		if (this.#peek() === comma) this.#at += 1;
		if (this.#peek() === closingBrace) {
			this.#at += 1;
			return undefined;
		}
		const key = this.#string();
		this.#peek();
		this.#at += 1;
		return key;
	}

	/** Reads any value. */
	value(): Json {
		this.#peek();
		const start = this.#at;
		this.skip();
		// Most values are, and there are hundreds of thousands.
		if (this.#bytes[start] === byteOf.null) return null;
		return JSON.parse(this.#bytes.toString('utf8', start, this.#at)) as Json;
	}

	/** Passes over a value. */
	skip(): void {
		this.#peek();
		this.#pass(0, this.#bytes.length);
	}

	/** The same in steps, for one that may be large. */
	*skipping(): Steps<void> {
		this.#peek();
		let depth = this.#pass(0, this.#at + stride);
		while (depth > 0) {
			yield;
			depth = this.#pass(depth, this.#at + stride);
		}
	}

	/**
	 * Passes over what is left of a value, of which so many objects and arrays are open, as far as about `until`; returns
	 * how many are open then.
	 */
	#pass(open: number, until: number): number {
		const bytes = this.#bytes;
		let depth = open;
		do {
			const byte = bytes[this.#at];
			if (byte === undefined) throw new JsonReadError('the text ends within a value');
			if (byte === quote) this.#skipString();
			else if (opens(byte)) depth += 1;
			else if (closes(byte)) depth -= 1;
			else if (depth === 0) {
				this.#skipScalar();
				return 0;
			}
			this.#at += 1;
		} while (depth > 0 && this.#at < until);
		return depth;
	}

	/** The next byte that is no white space. */
	#peek(): number {
		const bytes = this.#bytes;
		for (let byte = bytes[this.#at]; byte !== undefined; byte = bytes[this.#at]) {
			if (byte > 0x20) return byte;
			this.#at += 1;
		}
		throw new JsonReadError('the text ends within a value');
	}

	#skipScalar(): void {
		const bytes = this.#bytes;
		for (let byte = bytes[this.#at]; byte !== undefined; byte = bytes[this.#at]) {
			if (byte <= 0x20 || byte === comma || closes(byte)) return;
			this.#at += 1;
		}
	}

	/** From the opening to the closing quote. */
	#skipString(): void {
		const bytes = this.#bytes;
		for (let at = this.#at + 1; at < bytes.length; at += 1) {
			const byte = bytes[at];
			if (byte === quote) {
				this.#at = at;
				return;
			}
			if (byte === backslash) at += 1;
		}
		throw new JsonReadError('the text ends within a string');
	}

	#string(): string {
		const bytes = this.#bytes;
		if (bytes[this.#at] !== quote) throw new JsonReadError(`byte ${this.#at} begins no key`);
		const start = this.#at + 1;
		let hash = 0;
		let plain = true;
		let end = start;
		for (let byte = bytes[end]; byte !== quote; byte = bytes[end]) {
			if (byte === undefined) throw new JsonReadError('the text ends within a string');
			if (byte === backslash || byte > 0x7f) {
				plain = false;
				this.#skipString();
				end = this.#at;
				break;
			}
			hash = (Math.imul(hash, 31) + byte) | 0;
			end += 1;
		}
		this.#at = end + 1;
		return plain ? this.#known(start, end, hash) : (JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string);
	}

	/** Strings come again and again: roles, relations, and each instance in several tables. */
	#known(start: number, end: number, hash: number): string {
		const slot = (hash ^ (hash >>> 15)) & (this.#places.length - 1);
		const place = this.#places[slot] ?? -1;
		const known = this.#strings[slot];
		if (place >= 0 && known !== undefined && known.length === end - start && this.#same(place, start, end))
			return known;
		const text = this.#bytes.toString('latin1', start, end);
		this.#places[slot] = start;
		this.#strings[slot] = text;
		return text;
	}

	#same(place: number, start: number, end: number): boolean {
		const bytes = this.#bytes;
		for (let at = start, other = place; at < end; at += 1, other += 1) {
			if (bytes[at] !== bytes[other]) return false;
		}
		return true;
	}
}

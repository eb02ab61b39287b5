/**
 * Reads JSON from bytes, field by field, so a document with tens of megabytes is never in memory as a single value.
 */

import type { Json } from '../../../compiler/model.js';
import type { Steps } from '../../../compiler/steps.js';
import { jsonByte } from '../engine/json-bytes.js';
import { JsonScanner } from '../engine/json-scanner.js';
import { textMemory, utf8Text } from '../engine/text-bytes.js';

/** Number of bytes skipped between two pauses. */
const stride = 64 * 1024;

/**
 * Reads a single JSON text from beginning to end. The text must already have been accepted by a JSON parser, because
 * this class does not check skipped parts. It throws `EngineError` only for errors in the parts that it reads.
 */
export class JsonReader {
	readonly #scanner: JsonScanner;
	readonly #bytes: Uint8Array;
	/** Places and texts of previously read keys, indexed by hash. A repeated key usually gives the same string object. */
	readonly #places: Int32Array;
	readonly #keys: string[];

	constructor(bytes: Uint8Array) {
		this.#bytes = textMemory(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		this.#scanner = new JsonScanner(this.#bytes);
		const slots = 2 ** Math.min(20, Math.max(8, Math.ceil(Math.log2((bytes.byteLength + 1) / 64))));
		this.#places = new Int32Array(slots).fill(-1);
		this.#keys = new Array<string>(slots).fill('');
	}

	/** Enters an object so `next` returns its keys. Skips any other value, and returns false. */
	enter(): boolean {
		if (this.#scanner.peek() !== jsonByte.openingBrace) {
			this.skip();
			return false;
		}
		this.#scanner.skip(jsonByte.openingBrace);
		return true;
	}

	/**
	 * Returns the next field's key; `undefined` at the end of the object. The caller must then read the field's value with
	 * exactly one call to `enter`, `value`, `text`, `skip` or `skipping`.
	 */
	next(): string | undefined {
		const scanner = this.#scanner;
		if (scanner.peek() === jsonByte.comma) scanner.skip(jsonByte.comma);
		if (scanner.peek() === jsonByte.closingBrace) {
			scanner.skip(jsonByte.closingBrace);
			return undefined;
		}
		scanner.string();
		const key = this.#key();
		scanner.skip(jsonByte.colon);
		return key;
	}

	value(): Json {
		const scanner = this.#scanner;
		// A fast path, because a document has hundreds of thousands of values, and most are null.
		if (scanner.peek() === jsonByte.null) {
			scanner.word('null');
			return null;
		}
		const start = scanner.at;
		this.skip();
		return scanner.parsed(start) as Json;
	}

	/** Returns the text of the next value, without parsing it. */
	text(): string {
		this.#scanner.peek();
		const start = this.#scanner.at;
		this.skip();
		return utf8Text(this.#bytes, start, this.#scanner.at);
	}

	skip(): void {
		this.#scanner.pass(0, Number.POSITIVE_INFINITY);
	}

	/** Like `skip`, in steps, for a value that may be large. */
	*skipping(): Steps<void> {
		const scanner = this.#scanner;
		let open = scanner.pass(0, stride);
		while (open > 0) {
			yield;
			open = scanner.pass(open, stride);
		}
	}

	/**
	 * Returns the last string read by the scanner. Keys often repeat, such as roles, relations, and instances in several
	 * tables.
	 */
	#key(): string {
		const { source, from, to, hash } = this.#scanner;
		// The scanner decodes a string with escapes into a copy, so the string has no place in the text.
		if (source !== this.#bytes) return utf8Text(source, from, to);
		const slot = (hash ^ (hash >>> 15)) & (this.#places.length - 1);
		const place = this.#places[slot] ?? -1;
		if (place >= 0 && this.#isSame(place, from, to)) return this.#keys[slot] ?? '';
		const text = utf8Text(source, from, to);
		this.#places[slot] = from;
		this.#keys[slot] = text;
		return text;
	}

	/** True if the string at a place has the bytes `from` to `to` (exclusive). */
	#isSame(place: number, from: number, to: number): boolean {
		const bytes = this.#bytes;
		for (let at = from, other = place; at < to; at += 1, other += 1) {
			if (bytes[at] !== bytes[other]) return false;
		}
		return bytes[place + to - from] === jsonByte.quote;
	}
}

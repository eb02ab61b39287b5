import { EngineError } from './engine-error.js';
import { emptyHash, extendHash } from './heap-layout.js';
import { closes, jsonByte, opens } from './json-bytes.js';
import { latin1Text, utf8Bytes, utf8Text } from './text-bytes.js';

const { quote, comma, backslash } = jsonByte;
const isNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Reads a JSON text byte by byte. On invalid JSON, every method throws `EngineError` with the byte offset. The caller
 * must have checked that the text is UTF-8.
 */
export class JsonScanner {
	/** The last string read: the bytes `from` to `to` (exclusive) in `source`, and their hash. */
	source: Uint8Array;
	from = 0;
	to = 0;
	hash = 0;
	readonly #json: Uint8Array;
	/** Next byte to read. */
	#at = 0;

	constructor(json: Uint8Array) {
		this.#json = json;
		this.source = json;
	}

	/** Offset of the next byte. */
	get at(): number {
		return this.#at;
	}

	/** Returns the next byte other than white space, without consuming it; `undefined` at the end. */
	peek(): number | undefined {
		const json = this.#json;
		for (;;) {
			const byte = json[this.#at];
			if (byte === undefined || byte > 0x20) return byte;
			if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
			this.#at += 1;
		}
	}

	/** Skips white space and consumes `byte`, which must come next. */
	skip(byte: number): void {
		if (this.peek() !== byte) throw this.unexpected();
		this.#at += 1;
	}

	/** Reads a string. Its opening quote must come next. */
	string(): void {
		const json = this.#json;
		if (json[this.#at] !== quote) throw this.unexpected();
		const from = this.#at + 1;
		let at = from;
		let hash = emptyHash;
		for (let byte = json[at]; byte !== quote; byte = json[at]) {
			if (byte === backslash) {
				this.#escaped(at);
				return;
			}
			if (byte === undefined || byte < 0x20) throw this.unexpected(at);
			hash = extendHash(hash, byte);
			at += 1;
		}
		this.#at = at + 1;
		this.source = json;
		this.from = from;
		this.to = at;
		this.hash = hash;
	}

	/** Consumes a word, such as `null`. */
	word(text: string): void {
		for (let index = 0; index < text.length; index += 1) {
			if (this.#json[this.#at] !== text.charCodeAt(index)) throw this.unexpected();
			this.#at += 1;
		}
	}

	/** Reads a number and returns its text. */
	number(): string {
		const start = this.#at;
		while (partOfNumber(this.#json[this.#at])) this.#at += 1;
		const text = latin1Text(this.#json, start, this.#at);
		if (!isNumber.test(text)) throw this.unexpected(start);
		return text;
	}

	/** Reads a whole array or object: its text, and its JavaScript value. */
	nested(): { readonly text: Uint8Array; readonly value: unknown } {
		const start = this.#at;
		this.pass(0, Number.POSITIVE_INFINITY);
		return { text: this.#json.subarray(start, this.#at), value: this.parsed(start) };
	}

	/**
	 * Skips the rest of a value with `open` open objects and arrays, or about `length` bytes of it. Returns the number of
	 * objects and arrays that are still open. Only checks that brackets and quotes are closed.
	 */
	pass(open: number, length: number): number {
		const json = this.#json;
		this.peek();
		let at = this.#at;
		const until = at + length;
		let depth = open;
		do {
			const byte = json[at];
			if (byte === undefined) throw this.unexpected(at);
			if (byte === quote) at = this.#endOfString(at + 1);
			else if (opens(byte)) {
				depth += 1;
				at += 1;
			} else if (closes(byte)) {
				depth -= 1;
				at += 1;
			} else at = depth > 0 ? at + 1 : this.#endOfScalar(at);
		} while (depth > 0 && at < until);
		this.#at = at;
		return depth;
	}

	/** Parses the text from `start` to the next byte. */
	parsed(start: number): unknown {
		try {
			return JSON.parse(utf8Text(this.#json, start, this.#at));
		} catch {
			throw this.unexpected(start);
		}
	}

	/** Returns the error for invalid JSON at a byte. */
	unexpected(at = this.#at): EngineError {
		return new EngineError(`the data is not valid JSON at byte ${at}`);
	}

	/** Continues a string at its first escape. */
	#escaped(at: number): void {
		const start = this.#at;
		this.#at = this.#endOfString(at);
		// The conversion to UTF-8 turns lone surrogates into the replacement character.
		this.source = utf8Bytes(String(this.parsed(start)));
		this.from = 0;
		this.to = this.source.length;
		this.hash = this.source.reduce(extendHash, emptyHash);
	}

	/** Returns the offset after the closing quote, for a string that continues at `at`. */
	#endOfString(at: number): number {
		const json = this.#json;
		for (let end = at; end < json.length; end += 1) {
			if (json[end] === quote) return end + 1;
			if (json[end] === backslash) end += 1;
		}
		throw this.unexpected(at);
	}

	/** Returns the end of the number or word beginning at `start`. */
	#endOfScalar(start: number): number {
		const json = this.#json;
		let at = start;
		for (let byte = json[at]; byte !== undefined; byte = json[at]) {
			if (byte <= 0x20 || byte === comma || closes(byte)) break;
			at += 1;
		}
		return at;
	}
}

/** True if the byte can be part of a number. */
function partOfNumber(byte: number | undefined): boolean {
	if (byte === undefined) return false;
	return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x2b || (byte | 0x20) === 0x65;
}

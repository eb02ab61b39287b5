import { EngineError } from './engine-error.js';
import { emptyHash, hashed } from './heap-layout.js';
import { byteOf, closes, opens } from './json-bytes.js';

const { quote, backslash } = byteOf;
const isNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Reads a JSON text byte by byte and lets nothing pass that is no JSON: every method that finds such throws
 * `EngineError` with its place. The text is UTF-8, which the caller has made sure of.
 */
export class JsonScanner {
	/** The string that was read last: the bytes from `from` up to `to` of `source`, and their hash. */
	source: Buffer;
	from = 0;
	to = 0;
	hash = 0;
	readonly #json: Buffer;
	/** The next byte to read. */
	#at = 0;

	constructor(json: Buffer) {
		this.#json = json;
		this.source = json;
	}

	/** The next byte that is no white space, `undefined` at the end. It stays the next one. */
	peek(): number | undefined {
		const json = this.#json;
		for (;;) {
			const byte = json[this.#at];
			if (byte === undefined || byte > 0x20) return byte;
			if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
			this.#at += 1;
		}
	}

	/** Passes over a byte that must come next, but for white space. */
	skip(byte: number): void {
		if (this.peek() !== byte) throw this.unexpected();
		this.#at += 1;
	}

	/** Reads a string, whose opening quote must come next. */
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
			hash = hashed(hash, byte);
			at += 1;
		}
		this.#at = at + 1;
		this.source = json;
		this.from = from;
		this.to = at;
		this.hash = hash;
	}

	/** Passes over a word, such as `null`. */
	word(text: string): void {
		for (let index = 0; index < text.length; index += 1) {
			if (this.#json[this.#at] !== text.charCodeAt(index)) throw this.unexpected();
			this.#at += 1;
		}
	}

	/** Reads a number: its text. */
	number(): string {
		const start = this.#at;
		while (partOfNumber(this.#json[this.#at])) this.#at += 1;
		const text = this.#json.toString('latin1', start, this.#at);
		if (!isNumber.test(text)) throw this.unexpected(start);
		return text;
	}

	/** Reads an array or an object at once: its text, and what JavaScript reads in it. */
	nested(): { readonly text: Buffer; readonly value: unknown } {
		const start = this.#at;
		let depth = 0;
		do {
			const byte = this.#json[this.#at];
			if (byte === undefined) throw this.unexpected();
			if (byte === quote) this.#at = this.#endOfString(this.#at + 1);
			else this.#at += 1;
			if (opens(byte)) depth += 1;
			else if (closes(byte)) depth -= 1;
		} while (depth > 0);
		return { text: this.#json.subarray(start, this.#at), value: this.#parsed(start) };
	}

	/** The error for a byte, or for what begins with it. */
	unexpected(at = this.#at): EngineError {
		return new EngineError(`the data is no JSON at byte ${at}`);
	}

	/** Goes on with a string at its first escape. */
	#escaped(at: number): void {
		const start = this.#at;
		this.#at = this.#endOfString(at);
		// Halves of characters become the replacement character here.
		this.source = Buffer.from(String(this.#parsed(start)));
		this.from = 0;
		this.to = this.source.length;
		this.hash = this.source.reduce(hashed, emptyHash);
	}

	/** Where the string ends that goes on at `at`: behind its closing quote. */
	#endOfString(at: number): number {
		const json = this.#json;
		for (let end = at; end < json.length; end += 1) {
			if (json[end] === quote) return end + 1;
			if (json[end] === backslash) end += 1;
		}
		throw this.unexpected(at);
	}

	/** What JavaScript reads from `start` to the next byte. */
	#parsed(start: number): unknown {
		try {
			return JSON.parse(this.#json.toString('utf8', start, this.#at));
		} catch {
			throw this.unexpected(start);
		}
	}
}

/** Whether numbers are written with this byte. */
function partOfNumber(byte: number | undefined): boolean {
	if (byte === undefined) return false;
	return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x2b || (byte | 0x20) === 0x65;
}

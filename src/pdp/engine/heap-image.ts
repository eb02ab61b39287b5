import { isUtf8 } from 'node:buffer';
import { EngineError } from './engine-error.js';
import {
	blockBytes,
	booleanWord,
	bucketsFor,
	collection,
	element,
	emptyHash,
	hashed,
	headerWords,
	kind,
	number,
	string,
	tableBytes,
} from './heap-layout.js';
import { jsonText, mayHoldHalves } from './json-text.js';
import { aligned, type ModuleMemory } from './module-memory.js';

/** A document in memory: the address of its root, and the first one behind it. */
export interface Image {
	readonly root: number;
	readonly end: number;
}

/**
 * Writes a JSON object into memory as an OPA module would hold it, but each thing close to what a check reads next: of a
 * member first its value, then its key, then what joins them. Throws `EngineError` when `json` is no JSON object, with
 * nothing but white space around it; of members with one name the last one stays.
 */
export function writeImage(memory: ModuleMemory, start: number, json: Uint8Array): Image {
	return new ImageWriter(memory, start, json).write();
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openingBracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const firstOfFalse = 0x66;
const firstOfNull = 0x6e;
const firstOfTrue = 0x74;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/** How deep objects are written here; what is below is left to the module, which has a limit of its own. */
const deepest = 64;
/** Words kept free at the end of memory, so that what has a fixed size needs no look at it. */
const spare = 64;
/** How often a string is written out before the copies become one. Rare strings are better where they are read. */
const copies = 16;
/** How many strings are watched: as many as the processor keeps at hand. */
const watched = 2 ** 16;

const wordsOf = (bytes: number): number => (bytes + 3) >>> 2;
const isNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

class ImageWriter {
	readonly #memory: ModuleMemory;
	readonly #json: Buffer;
	#bytes: Buffer;
	#words: Int32Array;
	/** The next byte to read. */
	#at = 0;
	/** The next word to write, and where memory nearly ends. */
	#next: number;
	#limit: number;
	/** The string that was read last: where its bytes are, and their hash. */
	#source: Buffer;
	#from = 0;
	#to = 0;
	#hash = 0;
	/** Of each object that is being read: the elements and the hashes of their keys. */
	#open = new Int32Array(1024);
	#top = 0;
	/** Of strings, by their hash: the word where one was written last, that hash, and how often it came. */
	readonly #places = new Int32Array(watched);
	readonly #hashes = new Int32Array(watched);
	readonly #uses = new Uint8Array(watched);

	constructor(memory: ModuleMemory, start: number, json: Uint8Array) {
		this.#memory = memory;
		this.#json = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
		this.#source = this.#json;
		this.#next = aligned(start, 4) / 4;
		this.#bytes = memory.bytes;
		this.#words = memory.words;
		this.#limit = this.#words.length - spare;
	}

	write(): Image {
		if (!isUtf8(this.#json)) throw new EngineError('the data is not UTF-8');
		if (this.#peek() !== openingBrace) throw new EngineError('the data is not a JSON object');
		this.#room(0);
		const root = this.#object(1);
		if (this.#peek() !== undefined) throw this.#unexpected();
		return { root, end: this.#next * 4 };
	}

	/** Writes the value that begins at the next byte. */
	#value(depth: number): number {
		switch (this.#json[this.#at]) {
			case openingBrace:
				return depth > deepest ? this.#foreign() : this.#object(depth);
			case quote:
				this.#readString();
				return this.#string(this.#source, this.#from, this.#to, this.#hash);
			case firstOfNull:
				return this.#constant('null', kind.null);
			case firstOfTrue:
				return this.#constant('true', booleanWord(true));
			case firstOfFalse:
				return this.#constant('false', booleanWord(false));
			case openingBracket:
				return this.#foreign();
			default:
				return this.#number();
		}
	}

	#object(depth: number): number {
		const base = this.#top;
		this.#at += 1;
		if (this.#peek() === closingBrace) {
			this.#at += 1;
			return this.#table(base);
		}
		for (;;) {
			if (this.#peek() !== quote) throw this.#unexpected();
			this.#readString();
			const [source, from, to, hash] = [this.#source, this.#from, this.#to, this.#hash];
			this.#skip(colon);
			this.#peek();
			const value = this.#value(depth + 1);
			this.#push(this.#element(this.#string(source, from, to, hash), value), hash);
			if (this.#peek() === closingBrace) break;
			this.#skip(comma);
		}
		this.#at += 1;
		return this.#table(base);
	}

	/** Joins what was opened since `base` into an object. */
	#table(base: number): number {
		const members = (this.#top - base) / 2;
		const buckets = bucketsFor(members);
		this.#room(buckets);
		const object = this.#block(blockBytes.object);
		const table = this.#block(tableBytes(buckets));
		const words = this.#words;
		words.fill(0, table, this.#next);
		let size = 0;
		for (let index = base; index < this.#top; index += 2) {
			const bucket = table + ((this.#open[index + 1] ?? 0) & (buckets - 1));
			if (this.#chain(bucket, this.#open[index] ?? 0)) size += 1;
		}
		this.#top = base;
		words[object] = kind.object;
		words[object + collection.table] = table * 4;
		words[object + collection.buckets] = buckets;
		words[object + collection.size] = size;
		return object * 4;
	}

	/** Puts an element into a bucket. Returns false when the bucket has one of that name, which gets the value. */
	#chain(bucket: number, member: number): boolean {
		const words = this.#words;
		const key = (words[member] ?? 0) >>> 2;
		const first = words[bucket] ?? 0;
		for (let other = first >>> 2; other !== 0; other = (words[other + element.next] ?? 0) >>> 2) {
			if (this.#equal(key, (words[other] ?? 0) >>> 2)) {
				words[other + element.value] = words[member + element.value] ?? 0;
				return false;
			}
		}
		words[member + element.next] = first;
		words[bucket] = member * 4;
		return true;
	}

	/** Whether two strings are the same; most differ at the end. */
	#equal(one: number, other: number): boolean {
		const length = this.#words[one + string.length] ?? 0;
		if (length !== this.#words[other + string.length]) return false;
		const [from, to] = [(one + string.text) * 4, (other + string.text) * 4];
		for (let index = length - 1; index >= 0; index -= 1) {
			if (this.#bytes[from + index] !== this.#bytes[to + index]) return false;
		}
		return true;
	}

	#element(key: number, value: number): number {
		this.#room(0);
		const at = this.#block(blockBytes.element);
		this.#words[at + element.key] = key;
		this.#words[at + element.value] = value;
		this.#words[at + element.next] = 0;
		return at;
	}

	#push(member: number, hash: number): void {
		if (this.#top === this.#open.length) {
			const more = new Int32Array(this.#open.length * 2);
			more.set(this.#open);
			this.#open = more;
		}
		this.#open[this.#top] = member;
		this.#open[this.#top + 1] = hash;
		this.#top += 2;
	}

	/** Reads the string whose opening quote is the next byte. */
	#readString(): void {
		const json = this.#json;
		const from = this.#at + 1;
		let at = from;
		let hash = emptyHash;
		for (let byte = json[at]; byte !== quote; byte = json[at]) {
			if (byte === backslash) {
				this.#readEscaped(at);
				return;
			}
			if (byte === undefined || byte < 0x20) throw this.#unexpected(at);
			hash = hashed(hash, byte);
			at += 1;
		}
		this.#at = at + 1;
		this.#source = json;
		this.#from = from;
		this.#to = at;
		this.#hash = hash;
	}

	/** The same for a string whose first escape is at `at`. */
	#readEscaped(at: number): void {
		const start = this.#at;
		this.#at = this.#endOfString(at);
		const text = Buffer.from(this.#checked(start) as string);
		this.#source = text;
		this.#from = 0;
		this.#to = text.length;
		this.#hash = text.reduce(hashed, emptyHash);
	}

	/** Writes a string, or finds one that came often enough. */
	#string(source: Buffer, from: number, to: number, hash: number): number {
		const slot = (hash ^ (hash >>> 15)) & (watched - 1);
		const uses = this.#uses[slot] ?? 0;
		if (uses > 0 && this.#hashes[slot] === hash) {
			const place = this.#places[slot] ?? 0;
			if (this.#reads(place, source, from, to)) {
				if (uses > copies) return place * 4;
				this.#uses[slot] = uses + 1;
				const copy = this.#text(source, from, to);
				this.#places[slot] = copy;
				return copy * 4;
			}
		}
		const place = this.#text(source, from, to);
		if (uses > 1) {
			this.#uses[slot] = uses - 1;
		} else {
			this.#uses[slot] = 1;
			this.#hashes[slot] = hash;
			this.#places[slot] = place;
		}
		return place * 4;
	}

	/** Whether a string that was written is these bytes. */
	#reads(place: number, source: Buffer, from: number, to: number): boolean {
		if (this.#words[place + string.length] !== to - from) return false;
		const bytes = this.#bytes;
		for (let at = from, other = (place + string.text) * 4; at < to; at += 1, other += 1) {
			if (bytes[other] !== source[at]) return false;
		}
		return true;
	}

	/** Writes a string: no block, since it is never freed. */
	#text(source: Buffer, from: number, to: number): number {
		const place = this.#next;
		const length = to - from;
		const text = (place + string.text) * 4;
		this.#room(wordsOf(length));
		this.#words[place] = kind.lastingString;
		this.#words[place + string.length] = length;
		this.#words[place + string.address] = text;
		const bytes = this.#bytes;
		if (length > 64) source.copy(bytes, text, from, to);
		else for (let index = 0; index < length; index += 1) bytes[text + index] = source[from + index] ?? 0;
		this.#next = place + string.text + wordsOf(length);
		return place;
	}

	#constant(text: string, word: number): number {
		for (let index = 0; index < text.length; index += 1) {
			if (this.#json[this.#at] !== text.charCodeAt(index)) throw this.#unexpected();
			this.#at += 1;
		}
		this.#room(0);
		const place = this.#block(blockBytes.constant);
		this.#words[place] = word;
		return place * 4;
	}

	#number(): number {
		const start = this.#at;
		while (partOfNumber(this.#json[this.#at])) this.#at += 1;
		const text = this.#json.toString('latin1', start, this.#at);
		if (!isNumber.test(text)) throw this.#unexpected(start);
		if (text.length > number.mostText) return this.#parsed(start);
		this.#room(0);
		const place = this.#block(blockBytes.number);
		const words = this.#words;
		words.fill(0, place, this.#next);
		words[place] = number.first;
		words[place + number.address] = (place + number.text) * 4;
		words[place + number.length] = text.length;
		this.#bytes.write(text, (place + number.text) * 4, 'latin1');
		return place * 4;
	}

	/** An array, or an object deep down: checked here, and written by the module. */
	#foreign(): number {
		const start = this.#at;
		let depth = 0;
		do {
			const byte = this.#json[this.#at];
			if (byte === undefined) throw this.#unexpected();
			if (byte === quote) this.#at = this.#endOfString(this.#at + 1);
			else this.#at += 1;
			if (byte === openingBracket || byte === openingBrace) depth += 1;
			else if (byte === closingBracket || byte === closingBrace) depth -= 1;
		} while (depth > 0);
		return this.#parsed(start);
	}

	/** Lets the module parse the text from `start` to the next byte. */
	#parsed(start: number): number {
		const value = this.#checked(start);
		const slice = this.#json.subarray(start, this.#at);
		const text = mayHoldHalves(slice) ? Buffer.from(jsonText(value)) : slice;
		const memory = this.#memory;
		memory.free = this.#next * 4;
		memory.reserve(this.#next * 4, text.length);
		const address = memory.parse(text.length, (bytes, at) => text.copy(bytes, at));
		this.#next = aligned(memory.free, 4) / 4;
		this.#bytes = memory.bytes;
		this.#words = memory.words;
		this.#limit = this.#words.length - spare;
		return address;
	}

	/** The value of the text from `start` to the next byte, as JavaScript reads it. */
	#checked(start: number): unknown {
		try {
			return JSON.parse(this.#json.toString('utf8', start, this.#at));
		} catch {
			throw this.#unexpected(start);
		}
	}

	/** Where the string ends that goes on at `at`: behind its closing quote. */
	#endOfString(at: number): number {
		const json = this.#json;
		for (let end = at; end < json.length; end += 1) {
			if (json[end] === quote) return end + 1;
			if (json[end] === backslash) end += 1;
		}
		throw this.#unexpected(at);
	}

	/** The next byte that is no white space. */
	#peek(): number | undefined {
		const json = this.#json;
		for (;;) {
			const byte = json[this.#at];
			if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
			this.#at += 1;
		}
	}

	#skip(byte: number): void {
		if (this.#peek() !== byte) throw this.#unexpected();
		this.#at += 1;
	}

	/** Begins a block at the next word; returns its first word behind the header. */
	#block(bytes: number): number {
		const header = this.#next;
		const words = this.#words;
		words[header] = bytes;
		words[header + 1] = 0;
		words[header + 2] = 0;
		this.#next = header + headerWords + bytes / 4;
		return header + headerWords;
	}

	/** Makes sure of so many words, and of what has a fixed size beside them. */
	#room(words: number): void {
		if (this.#next + words + spare <= this.#limit) return;
		this.#memory.reserve(this.#next * 4, (words + 2 * spare) * 4);
		this.#bytes = this.#memory.bytes;
		this.#words = this.#memory.words;
		this.#limit = this.#words.length - spare;
	}

	#unexpected(at = this.#at): EngineError {
		return new EngineError(`the data is no JSON at byte ${at}`);
	}
}

/** Whether numbers are written with this byte. */
function partOfNumber(byte: number | undefined): boolean {
	if (byte === undefined) return false;
	return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x2b || (byte | 0x20) === 0x65;
}

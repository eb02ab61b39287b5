import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { EngineError } from './engine-error.js';
import {
	blockBytes,
	booleanWord,
	bucketsFor,
	collection,
	element,
	kind,
	number,
	string,
	tableBytes,
} from './heap-layout.js';
import { ImageBlocks } from './image-blocks.js';
import { equalsBytes, ImageStrings } from './image-strings.js';
import { jsonByte } from './json-bytes.js';
import { JsonScanner } from './json-scanner.js';
import { jsonText, mayHoldLoneSurrogates } from './json-text.js';
import type { ModuleMemory } from './module-memory.js';
import { isUtf8, textMemory, utf8Bytes } from './text-bytes.js';

/** A document in memory: its root address, and the first address after the document. */
export interface Image {
	readonly root: number;
	readonly end: number;
}

/**
 * Writes a JSON object into memory from `start`. Uses the layout that a module would use, but places related values
 * close together: for each field first its value, then its key, then the element that joins them. If a field occurs
 * several times, the last occurrence wins. Throws `EngineError` if `json` is not a single JSON object. White space
 * around the object is allowed.
 */
export function writeImage(memory: ModuleMemory, start: number, json: Uint8Array): Image {
	return runToEnd(writingImage(memory, start, json));
}

/** Like `writeImage`, in steps. Until the last step, no other code may use the memory from `start` or let it grow. */
export function* writingImage(memory: ModuleMemory, start: number, json: Uint8Array): Steps<Image> {
	const text = textMemory(json.buffer, json.byteOffset, json.byteLength);
	if (!isUtf8(text)) throw new EngineError('the data is not UTF-8');
	const blocks = new ImageBlocks(memory, start);
	const root = yield* new ImageWriter(new JsonScanner(text), blocks, new ImageStrings(blocks, text.length)).document();
	return { root, end: blocks.next * 4 };
}

/** Maximum depth for objects written by this code. The module parses deeper objects, up to its own depth limit. */
const deepest = 64;
/** Number of fields written between two pauses. */
const stride = 500;

/** A key whose value is not written yet. */
interface Key {
	source: Uint8Array;
	from: number;
	to: number;
	hash: number;
}

/** Writes a document without recursion so writing can pause anywhere. */
class ImageWriter {
	readonly #scanner: JsonScanner;
	readonly #blocks: ImageBlocks;
	readonly #strings: ImageStrings;
	/**
	 * Elements in all open objects. The array starts small so it first grows early, before the growth code is compiled.
	 */
	#open = new Int32Array(8);
	#top = 0;
	/** Start index into `#open` for each open object, outermost first. */
	readonly #bases = new Int32Array(deepest + 1);
	/** For each open object, its key in its parent object. */
	readonly #keys: readonly Key[];
	#depth = 0;

	constructor(scanner: JsonScanner, blocks: ImageBlocks, strings: ImageStrings) {
		this.#scanner = scanner;
		this.#blocks = blocks;
		this.#strings = strings;
		this.#keys = Array.from({ length: deepest + 1 }, () => ({ source: scanner.source, from: 0, to: 0, hash: 0 }));
	}

	/** Writes the whole document and returns its address. */
	*document(): Steps<number> {
		const scanner = this.#scanner;
		if (scanner.peek() !== jsonByte.openingBrace) throw new EngineError('the data is not a JSON object');
		this.#enter();
		for (let members = 1; ; members += 1) {
			if (members % stride === 0) yield;
			if (scanner.peek() !== jsonByte.closingBrace) {
				this.#member();
				continue;
			}
			scanner.skip(jsonByte.closingBrace);
			const base = this.#bases[this.#depth] ?? 0;
			const object = this.#table(this.#top - base);
			for (let from = base; from < this.#top; from += stride) {
				if (from > base) yield;
				this.#join(object, from, Math.min(this.#top, from + stride));
			}
			this.#top = base;
			this.#depth -= 1;
			if (this.#depth === 0) {
				if (scanner.peek() !== undefined) throw scanner.unexpected();
				return object * 4;
			}
			this.#push(this.#element(this.#keyAt(this.#depth), object * 4));
		}
	}

	#enter(): void {
		this.#scanner.skip(jsonByte.openingBrace);
		this.#depth += 1;
		this.#bases[this.#depth] = this.#top;
	}

	/**
	 * Reads a field up to its value. Enters a value that is an object within the maximum depth, and writes any other
	 * value.
	 */
	#member(): void {
		const scanner = this.#scanner;
		if (this.#top > (this.#bases[this.#depth] ?? 0)) scanner.skip(jsonByte.comma);
		scanner.peek();
		scanner.string();
		// Copy the key, because the value may contain strings, which overwrite the scanner's last string.
		const key = this.#keyAt(this.#depth);
		key.source = scanner.source;
		key.from = scanner.from;
		key.to = scanner.to;
		key.hash = scanner.hash;
		scanner.skip(jsonByte.colon);
		if (scanner.peek() === jsonByte.openingBrace && this.#depth < deepest) this.#enter();
		else this.#push(this.#element(key, this.#value()));
	}

	/** Returns the key read last at a depth. */
	#keyAt(depth: number): Key {
		const key = this.#keys[depth];
		if (key === undefined) throw new EngineError('the data is nested too deeply');
		return key;
	}

	/** Writes any value except an object within the maximum depth, and returns its address. */
	#value(): number {
		const scanner = this.#scanner;
		switch (scanner.peek()) {
			case jsonByte.openingBrace:
			case jsonByte.openingBracket:
				return this.#nested();
			case jsonByte.quote:
				scanner.string();
				return this.#strings.write(scanner.source, scanner.from, scanner.to, scanner.hash);
			case jsonByte.null:
				return this.#constant('null', kind.null);
			case jsonByte.true:
				return this.#constant('true', booleanWord(true));
			case jsonByte.false:
				return this.#constant('false', booleanWord(false));
			default:
				return this.#number(scanner.number());
		}
	}

	/** Writes an element without linking it into a bucket, and returns its place. */
	#element({ source, from, to, hash }: Key, value: number): number {
		const key = this.#strings.write(source, from, to, hash);
		const blocks = this.#blocks;
		blocks.room();
		const place = blocks.block(blockBytes.element);
		const words = blocks.words;
		words[place + element.key] = key;
		words[place + element.value] = value;
		words[place + element.hash] = hash;
		return place;
	}

	#push(place: number): void {
		if (this.#top === this.#open.length) {
			const more = new Int32Array(this.#open.length * 2);
			more.set(this.#open);
			this.#open = more;
		}
		this.#open[this.#top] = place;
		this.#top += 1;
	}

	/** Writes an object with empty buckets for `elements` elements, and returns its place. */
	#table(elements: number): number {
		const buckets = bucketsFor(elements);
		const blocks = this.#blocks;
		blocks.room(buckets);
		const object = blocks.block(blockBytes.object);
		const table = blocks.block(tableBytes(buckets));
		const words = blocks.words;
		for (let bucket = 0; bucket < buckets; bucket += 1) words[table + bucket] = 0;
		words[object] = kind.object;
		words[object + collection.table] = table * 4;
		words[object + collection.buckets] = buckets;
		words[object + collection.size] = 0;
		return object;
	}

	/** Adds a range from `#open` to an object. */
	#join(object: number, from: number, to: number): void {
		const { words } = this.#blocks;
		const table = (words[object + collection.table] ?? 0) >>> 2;
		const buckets = words[object + collection.buckets] ?? 0;
		let size = 0;
		for (let index = from; index < to; index += 1) {
			if (this.#chain(table, buckets, this.#open[index] ?? 0)) size += 1;
		}
		words[object + collection.size] = (words[object + collection.size] ?? 0) + size;
	}

	/** Adds an element to its bucket. If the bucket already has the key, updates its value and returns false. */
	#chain(table: number, buckets: number, place: number): boolean {
		const { words } = this.#blocks;
		const hash = words[place + element.hash] ?? 0;
		const bucket = table + (hash & (buckets - 1));
		const first = words[bucket] ?? 0;
		for (let other = first >>> 2; other !== 0; other = (words[other + element.next] ?? 0) >>> 2) {
			if (words[other + element.hash] === hash && this.#alike(other, place)) {
				words[other + element.value] = words[place + element.value] ?? 0;
				return false;
			}
		}
		words[place + element.next] = first;
		words[bucket] = place * 4;
		return true;
	}

	/** True if two elements have the same key. */
	#alike(one: number, other: number): boolean {
		const blocks = this.#blocks;
		const { bytes, words } = blocks;
		const known = (words[one + element.key] ?? 0) >>> 2;
		const key = (words[other + element.key] ?? 0) >>> 2;
		const from = (key + string.text) * 4;
		return equalsBytes(blocks, known, bytes, from, from + (words[key + string.length] ?? 0));
	}

	#constant(text: string, word: number): number {
		this.#scanner.word(text);
		const blocks = this.#blocks;
		blocks.room();
		const place = blocks.block(blockBytes.constant);
		blocks.words[place] = word;
		return place * 4;
	}

	#number(text: string): number {
		const blocks = this.#blocks;
		if (text.length > number.maxText) return blocks.foreign(utf8Bytes(text));
		blocks.room();
		const place = blocks.block(blockBytes.number);
		const { words, bytes } = blocks;
		words.fill(0, place, blocks.next);
		words[place] = number.first;
		words[place + number.address] = (place + number.text) * 4;
		words[place + number.length] = text.length;
		const at = (place + number.text) * 4;
		for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
		return place * 4;
	}

	/** Lets the module parse an array, or an object below the maximum depth. */
	#nested(): number {
		const { text, value } = this.#scanner.nested();
		return this.#blocks.foreign(mayHoldLoneSurrogates(text) ? utf8Bytes(jsonText(value)) : text);
	}
}

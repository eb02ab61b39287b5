import { isUtf8 } from 'node:buffer';
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
import { holds, ImageStrings } from './image-strings.js';
import { byteOf } from './json-bytes.js';
import { JsonScanner } from './json-scanner.js';
import { jsonText, mayHoldHalves } from './json-text.js';
import type { ModuleMemory } from './module-memory.js';
import { atOnce, type Steps } from './steps.js';

/** A document in memory: the address of its root, and the first one behind it. */
export interface Image {
	readonly root: number;
	readonly end: number;
}

/**
 * Writes a JSON object into memory, from `start` on, as a module would hold it, but each thing close to what is read
 * next: of a member first its value, then its key, then what joins them. Of members with one name the last one stays.
 * Throws `EngineError` when `json` is not one JSON object with nothing but white space around it.
 */
export function writeImage(memory: ModuleMemory, start: number, json: Uint8Array): Image {
	return atOnce(writingImage(memory, start, json));
}

/** The same in steps; until the last one nobody else may use the memory from `start` on, nor let it grow. */
export function* writingImage(memory: ModuleMemory, start: number, json: Uint8Array): Steps<Image> {
	const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
	if (!isUtf8(text)) throw new EngineError('the data is not UTF-8');
	const blocks = new ImageBlocks(memory, start);
	const root = yield* new ImageWriter(new JsonScanner(text), blocks, new ImageStrings(blocks, text.length)).document();
	return { root, end: blocks.next * 4 };
}

/** How deep objects are written here; what is below is left to the module, which has a limit of its own. */
const deepest = 64;
/** How many members are written between two pauses. */
const stride = 500;

/** A key that was read, until its value is written. */
interface Key {
	source: Buffer;
	from: number;
	to: number;
	hash: number;
}

/** Writes without recursion, so that it can pause anywhere. */
class ImageWriter {
	readonly #scanner: JsonScanner;
	readonly #blocks: ImageBlocks;
	readonly #strings: ImageStrings;
	/** The elements of all objects that are not at their end; grows at once, before the code for it is compiled. */
	#open = new Int32Array(8);
	#top = 0;
	/** Where the elements begin of each object that is not at its end, the outermost first. */
	readonly #bases = new Int32Array(deepest + 1);
	/** The key of each of them in the one around it. */
	readonly #keys: readonly Key[];
	#depth = 0;

	constructor(scanner: JsonScanner, blocks: ImageBlocks, strings: ImageStrings) {
		this.#scanner = scanner;
		this.#blocks = blocks;
		this.#strings = strings;
		this.#keys = Array.from({ length: deepest + 1 }, () => ({ source: scanner.source, from: 0, to: 0, hash: 0 }));
	}

	/** Writes the whole; returns its address, as all that write do. */
	*document(): Steps<number> {
		const scanner = this.#scanner;
		if (scanner.peek() !== byteOf.openingBrace) throw new EngineError('the data is not a JSON object');
		this.#enter();
		for (let members = 1; ; members += 1) {
			if (members % stride === 0) yield;
			if (scanner.peek() !== byteOf.closingBrace) {
				this.#member();
				continue;
			}
			scanner.skip(byteOf.closingBrace);
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

	/** Begins an object. */
	#enter(): void {
		this.#scanner.skip(byteOf.openingBrace);
		this.#depth += 1;
		this.#bases[this.#depth] = this.#top;
	}

	/** Reads a member up to its value, which it writes unless that is an object of its own. */
	#member(): void {
		const scanner = this.#scanner;
		if (this.#top > (this.#bases[this.#depth] ?? 0)) scanner.skip(byteOf.comma);
		scanner.peek();
		scanner.string();
		// The value has strings too.
		const key = this.#keyAt(this.#depth);
		key.source = scanner.source;
		key.from = scanner.from;
		key.to = scanner.to;
		key.hash = scanner.hash;
		scanner.skip(byteOf.colon);
		if (scanner.peek() === byteOf.openingBrace && this.#depth < deepest) this.#enter();
		else this.#push(this.#element(key, this.#value()));
	}

	/** The key that was read last at a depth. */
	#keyAt(depth: number): Key {
		const key = this.#keys[depth];
		if (key === undefined) throw new EngineError('the data nests too deep');
		return key;
	}

	/** Any value but an object of its own. */
	#value(): number {
		const scanner = this.#scanner;
		switch (scanner.peek()) {
			case byteOf.openingBrace:
			case byteOf.openingBracket:
				return this.#nested();
			case byteOf.quote:
				scanner.string();
				return this.#strings.write(scanner.source, scanner.from, scanner.to, scanner.hash);
			case byteOf.null:
				return this.#constant('null', kind.null);
			case byteOf.true:
				return this.#constant('true', booleanWord(true));
			case byteOf.false:
				return this.#constant('false', booleanWord(false));
			default:
				return this.#number(scanner.number());
		}
	}

	/** The place of an element, which is in no bucket yet. */
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

	/** Makes an object with buckets for so many elements and none of them yet; returns its place. */
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

	/** Puts some of the open elements into an object. */
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

	/** Puts an element into its bucket. Returns false when the bucket has one of that name, which gets the value. */
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

	/** Whether two elements have the same key. */
	#alike(one: number, other: number): boolean {
		const blocks = this.#blocks;
		const { bytes, words } = blocks;
		const known = (words[one + element.key] ?? 0) >>> 2;
		const key = (words[other + element.key] ?? 0) >>> 2;
		const from = (key + string.text) * 4;
		return holds(blocks, known, bytes, from, from + (words[key + string.length] ?? 0));
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
		if (text.length > number.mostText) return blocks.foreign(Buffer.from(text));
		blocks.room();
		const place = blocks.block(blockBytes.number);
		const { words, bytes } = blocks;
		words.fill(0, place, blocks.next);
		words[place] = number.first;
		words[place + number.address] = (place + number.text) * 4;
		words[place + number.length] = text.length;
		bytes.write(text, (place + number.text) * 4, text.length, 'latin1');
		return place * 4;
	}

	/** An array, or an object deep down: the module writes it. */
	#nested(): number {
		const { text, value } = this.#scanner.nested();
		return this.#blocks.foreign(mayHoldHalves(text) ? Buffer.from(jsonText(value)) : text);
	}
}

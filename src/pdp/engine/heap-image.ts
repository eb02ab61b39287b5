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
	const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
	if (!isUtf8(text)) throw new EngineError('the data is not UTF-8');
	const blocks = new ImageBlocks(memory, start);
	const root = new ImageWriter(new JsonScanner(text), blocks, new ImageStrings(blocks, text.length)).document();
	return { root, end: blocks.next * 4 };
}

/** How deep objects are written here; what is below is left to the module, which has a limit of its own. */
const deepest = 64;

class ImageWriter {
	readonly #scanner: JsonScanner;
	readonly #blocks: ImageBlocks;
	readonly #strings: ImageStrings;
	/** The elements of all objects that are not at their end; grows at once, before the code for it is compiled. */
	#open = new Int32Array(8);
	#top = 0;

	constructor(scanner: JsonScanner, blocks: ImageBlocks, strings: ImageStrings) {
		this.#scanner = scanner;
		this.#blocks = blocks;
		this.#strings = strings;
	}

	/** Writes the whole; returns its address, as all that write do. */
	document(): number {
		if (this.#scanner.peek() !== byteOf.openingBrace) throw new EngineError('the data is not a JSON object');
		const root = this.#object(1);
		if (this.#scanner.peek() !== undefined) throw this.#scanner.unexpected();
		return root;
	}

	#value(depth: number): number {
		const scanner = this.#scanner;
		switch (scanner.peek()) {
			case byteOf.openingBrace:
				return depth > deepest ? this.#nested() : this.#object(depth);
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

	#object(depth: number): number {
		const scanner = this.#scanner;
		const base = this.#top;
		scanner.skip(byteOf.openingBrace);
		if (scanner.peek() !== byteOf.closingBrace) {
			this.#push(this.#member(depth));
			while (scanner.peek() !== byteOf.closingBrace) {
				scanner.skip(byteOf.comma);
				this.#push(this.#member(depth));
			}
		}
		scanner.skip(byteOf.closingBrace);
		const object = this.#table(base);
		this.#top = base;
		return object;
	}

	/** The place of an element, which is in no bucket yet. */
	#member(depth: number): number {
		const scanner = this.#scanner;
		scanner.peek();
		scanner.string();
		// The value has strings too.
		const source = scanner.source;
		const from = scanner.from;
		const to = scanner.to;
		const hash = scanner.hash;
		scanner.skip(byteOf.colon);
		const value = this.#value(depth + 1);
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

	/** Joins the elements since `base` into an object. */
	#table(base: number): number {
		const buckets = bucketsFor(this.#top - base);
		const blocks = this.#blocks;
		blocks.room(buckets);
		const object = blocks.block(blockBytes.object);
		const table = blocks.block(tableBytes(buckets));
		const words = blocks.words;
		for (let bucket = 0; bucket < buckets; bucket += 1) words[table + bucket] = 0;
		let size = 0;
		for (let index = base; index < this.#top; index += 1) {
			if (this.#chain(table, buckets, this.#open[index] ?? 0)) size += 1;
		}
		words[object] = kind.object;
		words[object + collection.table] = table * 4;
		words[object + collection.buckets] = buckets;
		words[object + collection.size] = size;
		return object * 4;
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

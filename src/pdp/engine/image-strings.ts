import { kind, string } from './heap-layout.js';
import type { ImageBlocks } from './image-blocks.js';

/** How many copies of a string are written before it is shared. Rare strings are faster to read next to their use. */
const copies = 16;
/** The most strings to count: few enough to stay in the processor's caches. */
const maxWatched = 2 ** 16;
/** The length from which strings are copied natively, in bytes. */
const long = 64;

/** A counted string: where it was last written, its hash, and how often it came, less the others with its slot. */
const slot = { place: 0, hash: 1, uses: 2, words: 4 } as const;

/**
 * Writes strings into an image: next to each use, until a string is frequent enough to be shared. They are never freed.
 */
export class ImageStrings {
	readonly #blocks: ImageBlocks;
	/** Slots, by hash. */
	readonly #slots: Int32Array;
	/** The number of slots minus one. */
	readonly #mask: number;

	/** Sizes the slots for so many bytes of JSON. */
	constructor(blocks: ImageBlocks, bytes: number) {
		this.#blocks = blocks;
		const watched = Math.min(maxWatched, 2 ** Math.ceil(Math.log2(bytes + 1)));
		this.#slots = new Int32Array(watched * slot.words);
		this.#mask = watched - 1;
	}

	/** The address of a string: the bytes from `from` up to `to` of `source`, which have this hash. */
	write(source: Uint8Array, from: number, to: number, hash: number): number {
		const slots = this.#slots;
		const at = ((hash ^ (hash >>> 15)) & this.#mask) * slot.words;
		const uses = slots[at + slot.uses] ?? 0;
		const known = slots[at + slot.place] ?? 0;
		const same = uses > 0 && slots[at + slot.hash] === hash && equalsBytes(this.#blocks, known, source, from, to);
		if (same && uses > copies) return known * 4;
		const place = this.#text(source, from, to);
		if (same || uses <= 1) {
			slots[at + slot.place] = place;
			slots[at + slot.hash] = hash;
			slots[at + slot.uses] = same ? uses + 1 : 1;
		} else {
			slots[at + slot.uses] = uses - 1;
		}
		return place * 4;
	}

	#text(source: Uint8Array, from: number, to: number): number {
		const blocks = this.#blocks;
		const length = to - from;
		const size = (length + 3) >>> 2;
		blocks.room(size);
		const { bytes, words, next: place } = blocks;
		const text = (place + string.text) * 4;
		words[place] = kind.lastingString;
		words[place + string.length] = length;
		words[place + string.address] = text;
		if (length > long) bytes.set(source.subarray(from, to), text);
		else for (let index = 0; index < length; index += 1) bytes[text + index] = source[from + index] ?? 0;
		blocks.next = place + string.text + size;
		return place;
	}
}

/** Whether a written string equals the bytes from `from` up to `to` of `source`. */
export function equalsBytes(blocks: ImageBlocks, place: number, source: Uint8Array, from: number, to: number): boolean {
	const { bytes, words } = blocks;
	if (words[place + string.length] !== to - from) return false;
	for (let at = from, other = (place + string.text) * 4; at < to; at += 1, other += 1) {
		if (bytes[other] !== source[at]) return false;
	}
	return true;
}

import { kind, string } from './heap-layout.js';
import type { ImageBlocks } from './image-blocks.js';

/** Number of copies written before a string is shared. Rare strings are faster to read next to their use. */
const copies = 16;
/** Maximum number of counted strings. The slots for these strings fit into processor caches. */
const maxWatched = 2 ** 16;
/** Minimum length for native string copies, in bytes. */
const long = 64;

/**
 * Slot for a counted string: its last place, its hash, and its number of uses. Each use of a colliding string in the
 * same slot reduces this number.
 */
const slot = { place: 0, hash: 1, uses: 2, words: 4 } as const;

/**
 * Writes strings into an image. Writes a copy next to each use, until a string is frequent enough to be shared. Strings
 * are never freed.
 */
export class ImageStrings {
	readonly #blocks: ImageBlocks;
	/** Slots, indexed by hash. */
	readonly #slots: Int32Array;
	/** Number of slots minus one. */
	readonly #mask: number;

	/** `bytes`, the length of the JSON text, determines the number of slots. */
	constructor(blocks: ImageBlocks, bytes: number) {
		this.#blocks = blocks;
		const watched = Math.min(maxWatched, 2 ** Math.ceil(Math.log2(bytes + 1)));
		this.#slots = new Int32Array(watched * slot.words);
		this.#mask = watched - 1;
	}

	/**
	 * Writes a string and returns its address. The string consists of the bytes `from` to `to` (exclusive) in `source`.
	 * `hash` is its hash.
	 */
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

/** True if a written string equals the bytes `from` to `to` (exclusive) in `source`. */
export function equalsBytes(blocks: ImageBlocks, place: number, source: Uint8Array, from: number, to: number): boolean {
	const { bytes, words } = blocks;
	if (words[place + string.length] !== to - from) return false;
	for (let at = from, other = (place + string.text) * 4; at < to; at += 1, other += 1) {
		if (bytes[other] !== source[at]) return false;
	}
	return true;
}

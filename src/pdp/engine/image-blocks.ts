import { headerWords } from './heap-layout.js';
import { aligned, type ModuleMemory } from './module-memory.js';

/** Number of words kept free at the end of memory so fixed-size blocks fit without a check. */
const spare = 64;

/** Memory filled from an address upwards. A place is a word index, so an address is four times a place. */
export class ImageBlocks {
	/** Views on the whole memory; replaced by `room` and `foreign`. */
	bytes: Uint8Array;
	words: Int32Array;
	/** Next word to write. */
	next: number;
	readonly #memory: ModuleMemory;
	#limit = 0;

	constructor(memory: ModuleMemory, start: number) {
		this.#memory = memory;
		this.next = aligned(start, 4) / 4;
		this.bytes = memory.bytes;
		this.words = memory.words;
		this.#limit = this.words.length - spare;
	}

	/** Reserves `words` words, and room for fixed-size blocks. Throws `EngineError` if memory is exhausted. */
	room(words = 0): void {
		if (this.next + words + spare <= this.#limit) return;
		this.#memory.reserve(this.next * 4, (words + 2 * spare) * 4);
		this.#look();
	}

	/**
	 * Begins a block at the next word and returns its first word after the header. The caller must have reserved the room.
	 */
	block(bytes: number): number {
		const header = this.next;
		const words = this.words;
		words[header] = bytes;
		words[header + 1] = 0;
		words[header + 2] = 0;
		this.next = header + headerWords + bytes / 4;
		return header + headerWords;
	}

	/** Lets the module parse JSON into the next words. Returns the value's address, which may be unaligned. */
	foreign(json: Uint8Array): number {
		const memory = this.#memory;
		memory.reserve(this.next * 4, json.length * 4);
		memory.free = this.next * 4;
		const address = memory.parse(json.length, (bytes, at) => bytes.set(json, at));
		this.next = aligned(memory.free, 4) / 4;
		this.#look();
		this.room();
		return address;
	}

	#look(): void {
		this.bytes = this.#memory.bytes;
		this.words = this.#memory.words;
		this.#limit = this.words.length - spare;
	}
}

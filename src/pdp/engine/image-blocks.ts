import { headerWords } from './heap-layout.js';
import { aligned, type ModuleMemory } from './module-memory.js';

/** Words kept free at the end of memory, so that what has a fixed size needs no look at it. */
const spare = 64;

/** Memory that is filled from one address upwards, in words. Places are words too: an address is four times one. */
export class ImageBlocks {
	/** Views of all of memory; replaced by `room` and `foreign`. */
	bytes: Buffer;
	words: Int32Array;
	/** The next word to write. */
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

	/**
	 * Makes sure of so many words, and of those that things of a fixed size take beside them. Throws `EngineError` when
	 * there is no more memory.
	 */
	room(words = 0): void {
		if (this.next + words + spare <= this.#limit) return;
		this.#memory.reserve(this.next * 4, (words + 2 * spare) * 4);
		this.#look();
	}

	/** Begins a block at the next word; returns its first word behind the header. There must be room. */
	block(bytes: number): number {
		const header = this.next;
		const words = this.words;
		words[header] = bytes;
		words[header + 1] = 0;
		words[header + 2] = 0;
		this.next = header + headerWords + bytes / 4;
		return header + headerWords;
	}

	/** Lets the module parse JSON into the next words; returns the address of the value, which may lie anywhere. */
	foreign(json: Buffer): number {
		const memory = this.#memory;
		memory.reserve(this.next * 4, json.length * 4);
		memory.free = this.next * 4;
		const address = memory.parse(json.length, (bytes, at) => json.copy(bytes, at));
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

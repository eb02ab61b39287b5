import { type Booleans, booleansOf, findsBooleans, replacingBooleans } from './booleans.js';
import { EngineError } from './engine-error.js';
import { writingImage } from './heap-image.js';
import { jsonText, mayHoldHalves } from './json-text.js';
import { laysOutAlike } from './layout-probe.js';
import { headroom, type ModuleMemory, type PatchStep } from './module-memory.js';
import type { Steps } from './steps.js';

/** How much heap a byte of JSON takes that the module parses itself; more than enough for tables. */
export const parsedPerByte = 12;
/** How many changes are made between two pauses: some hundred microseconds of them. */
const stride = 100;
/** How much is copied between two pauses, in bytes. */
const portion = 1024 * 1024;

/** The document in one instance's memory: everything from `base` on belongs to it, up to `end`. */
export class Heap {
	readonly base: number;
	readonly memory: ModuleMemory;
	/** Whether documents are laid out by `heap-image`; otherwise the module parses them. */
	readonly laidOut: boolean;
	/** How this module holds values: a heap may only move to a module that does the same. */
	readonly #layout: string;
	readonly #booleans: Booleans;
	/** Whether booleans are found in documents of this module. */
	readonly #findsBooleans: boolean;
	#root = 0;
	#end: number;
	/** The heap's size after the document was loaded: how much of today's heap is free blocks shows against it. */
	#loadedBytes = 0;
	/** Free blocks are stashed before evaluations and restored before patches; there are none before the first stash. */
	#stashed = false;

	/** An empty heap at `base`. */
	constructor(memory: ModuleMemory, base: number) {
		this.memory = memory;
		this.base = base;
		this.#end = base;
		this.#layout = this.#probe();
		this.laidOut = laysOutAlike(memory, base);
		memory.free = base;
		this.#booleans = booleansOf(memory);
		this.#findsBooleans = this.laidOut && findsBooleans(memory, this.#booleans);
	}

	/** The address of the document; patches leave it where it is. */
	get root(): number {
		return this.#root;
	}

	/** The first free address above the document: evaluations start there and leave nothing behind. */
	get end(): number {
		return this.#end;
	}

	/** The size of the document in memory, free blocks included, in bytes. */
	get bytes(): number {
		return this.#end - this.base;
	}

	/**
	 * Takes a document, the bytes of a JSON object, into an empty heap. Throws `EngineError` when it is none. Only what is
	 * laid out here is loaded in more than one step.
	 */
	*loading(json: Uint8Array): Steps<void> {
		if (this.laidOut) {
			const { root, end } = yield* writingImage(this.memory, this.base, json);
			this.#root = root;
			this.memory.free = end;
		} else {
			const text = readable(json);
			this.memory.reserve(this.base, text.byteLength * parsedPerByte);
			this.memory.free = this.base;
			this.#root = this.memory.parse(text.byteLength, (bytes, address) => bytes.set(text, address));
		}
		this.#settle();
		this.#loadedBytes = this.bytes;
	}

	/**
	 * Changes the document in place. Throws `EngineError`, half-way, when a step has no place in it. Between its steps
	 * nobody may evaluate.
	 */
	*patching(steps: readonly PatchStep[]): Steps<void> {
		const bytes = steps.reduce((sum, { path, value }) => sum + path.length + (value?.length ?? 0), 0);
		this.memory.reserve(this.#end, bytes * parsedPerByte);
		this.memory.free = this.#end;
		if (this.#stashed) this.memory.exports.opa_heap_blocks_restore();
		for (const [index, step] of steps.entries()) {
			if (index % stride === stride - 1) yield;
			this.memory.patch(this.#root, step);
		}
		this.#settle();
	}

	/** The document as JSON text. */
	dump(): string {
		this.memory.reserve(this.#end, this.bytes);
		this.memory.free = this.#end;
		return this.memory.dump(this.#root);
	}

	/**
	 * Puts the same document into an empty heap of another module. A heap that has come to consist of free blocks is
	 * loaded anew: they are lost by moving. So is one whose values the other module does not hold in the same way; both
	 * begin with one long step.
	 */
	*movingTo(next: Heap): Steps<void> {
		const sprawls = this.bytes > 2 * this.#loadedBytes + headroom;
		const alike = next.base === this.base && next.#layout === this.#layout && next.laidOut === this.laidOut;
		const movable = isSame(this.#booleans, next.#booleans) || (this.#findsBooleans && next.#findsBooleans);
		if (sprawls || !alike || !movable) {
			yield* next.loading(Buffer.from(this.dump()));
			return;
		}
		yield* this.#copyingTo(next);
		if (!isSame(this.#booleans, next.#booleans)) {
			yield* replacingBooleans(next.memory, next.#root, this.#booleans, next.#booleans);
		}
	}

	/**
	 * Makes a heap of a new instance of the same module the same as this one, with its free blocks: all of memory is
	 * copied, and what is below the documents at last and at one stretch, since evaluations write there.
	 */
	*cloningTo(next: Heap): Steps<void> {
		yield* this.#copyingTo(next);
		this.memory.free = this.#end;
		this.memory.bytes.copy(next.memory.bytes, 0, 0, this.base);
		next.#stashed = this.#stashed;
	}

	/** Copies the document, whose addresses stay what they are. */
	*#copyingTo(next: Heap): Steps<void> {
		next.memory.reserve(next.#end, this.bytes);
		for (let from = this.base; from < this.#end; from += portion) {
			this.memory.bytes.copy(next.memory.bytes, from, from, Math.min(this.#end, from + portion));
			yield;
		}
		next.#root = this.#root;
		next.#end = this.#end;
		next.#loadedBytes = this.#loadedBytes;
	}

	/** Ends a change: keeps the free blocks for the next one and moves the start of evaluations. */
	#settle(): void {
		this.memory.exports.opa_heap_blocks_stash();
		this.#stashed = true;
		this.#end = this.memory.free;
	}

	/**
	 * What parsing one value of each kind leaves in memory. Equal probes mean equal structures, equal hashes and the same
	 * place for values that live in the module itself, if there are any but booleans.
	 */
	#probe(): string {
		this.memory.reserve(this.base, probe.length * parsedPerByte);
		this.memory.free = this.base;
		this.memory.parseText(probe);
		return this.memory.bytes.toString('latin1', this.base, this.memory.free);
	}
}

function isSame(one: Booleans, other: Booleans): boolean {
	return one.true === other.true && one.false === other.false;
}

const probe = JSON.stringify({
	constants: [null, {}, []],
	numbers: [0, -1, 1.5, 12_345_678_901],
	strings: ['', 'short', 'long '.repeat(40)],
	object: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`member ${index}`, index])),
});

/** The JSON of an object without halves of characters. The module is not as strict as JSON is. */
function readable(json: Uint8Array): Uint8Array {
	const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
	const value: unknown = JSON.parse(new TextDecoder('utf8', { fatal: true }).decode(bytes));
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new EngineError('the data is not a JSON object');
	}
	return mayHoldHalves(bytes) ? Buffer.from(jsonText(value)) : bytes;
}

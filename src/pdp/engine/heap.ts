import { EngineError } from './engine-error.js';
import { writeImage } from './heap-image.js';
import { jsonText, mayHoldHalves } from './json-text.js';
import { laysOutAlike } from './layout-probe.js';
import { headroom, type ModuleMemory, type PatchStep } from './module-memory.js';

/** How much heap a byte of JSON takes that the module parses itself; more than enough for tables. */
export const parsedPerByte = 12;

/** The document in one instance's memory: everything from `base` on belongs to it, up to `end`. */
export class Heap {
	readonly base: number;
	readonly memory: ModuleMemory;
	/** Whether documents are laid out by `heap-image`; otherwise the module parses them. */
	readonly laidOut: boolean;
	/** How this module holds values: a heap may only move to a module that does the same. */
	readonly #layout: string;
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

	/** Takes a document, the bytes of a JSON object, into an empty heap. Throws `EngineError` when it is none. */
	load(json: Uint8Array): void {
		if (this.laidOut) {
			const { root, end } = writeImage(this.memory, this.base, json);
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

	/** Changes the document in place. Throws `EngineError`, half-way, when a step has no place in it. */
	patch(steps: readonly PatchStep[]): void {
		const bytes = steps.reduce((sum, { path, value }) => sum + path.length + (value?.length ?? 0), 0);
		this.memory.reserve(this.#end, bytes * parsedPerByte);
		this.memory.free = this.#end;
		if (this.#stashed) this.memory.exports.opa_heap_blocks_restore();
		for (const step of steps) this.memory.patch(this.#root, step);
		this.#settle();
	}

	/** The document as JSON text. */
	dump(): string {
		this.memory.reserve(this.#end, this.bytes);
		this.memory.free = this.#end;
		return this.memory.dump(this.#root);
	}

	/** Puts the same document into an empty heap. */
	copyTo(next: Heap): void {
		// Free blocks are lost by moving: a heap that has come to consist of them is loaded anew instead.
		const compact = this.bytes <= 2 * this.#loadedBytes + headroom;
		const alike = next.base === this.base && next.#layout === this.#layout && next.laidOut === this.laidOut;
		if (compact && alike) this.#moveTo(next);
		else next.load(Buffer.from(this.dump()));
	}

	/** Copies the document, whose addresses stay what they are. */
	#moveTo(next: Heap): void {
		next.memory.reserve(next.#end, this.bytes);
		this.memory.bytes.copy(next.memory.bytes, this.base, this.base, this.#end);
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
	 * place for values that live in the module itself, if there are any.
	 */
	#probe(): string {
		this.memory.reserve(this.base, probe.length * parsedPerByte);
		this.memory.free = this.base;
		this.memory.parseText(probe);
		return this.memory.bytes.toString('latin1', this.base, this.memory.free);
	}
}

const probe = JSON.stringify({
	constants: [null, true, false, {}, []],
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

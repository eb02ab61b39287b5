import type { Steps } from '../../../compiler/steps.js';
import { type Booleans, findsBooleans, parseBooleans, replaceBooleans } from './booleans.js';
import { EngineError } from './engine-error.js';
import { writingImage } from './heap-image.js';
import { jsonText, mayHoldLoneSurrogates } from './json-text.js';
import { hasKnownLayout } from './layout-probe.js';
import { headroom, type ModuleMemory, type PatchStep } from './module-memory.js';
import { latin1Text, utf8Bytes } from './text-bytes.js';

/** Number of heap bytes to reserve per JSON byte that the module parses. This is more than enough for tables. */
export const parsedPerByte = 12;
/** Number of patches applied between two pauses. Applying this number takes a few hundred microseconds. */
const stride = 100;
/** Number of bytes copied between two pauses. */
const copyChunk = 1024 * 1024;

/** A document in an instance's memory. The document owns all memory from `base` up to `end`. */
export class Heap {
	readonly base: number;
	readonly memory: ModuleMemory;
	/** True if `heap-image` writes the documents; otherwise the module parses them. */
	readonly laidOut: boolean;
	/** Result of probing the module's value layout. A heap may only move to a module with the same layout. */
	readonly #layout: string;
	readonly #booleans: Booleans;
	/** True if booleans can be found in this module's documents. */
	readonly #findsBooleans: boolean;
	#root = 0;
	#end: number;
	/** Size after loading. Any growth since then is mostly free blocks. */
	#loadedBytes = 0;
	/**
	 * True if free blocks are stashed. Free blocks are stashed before evaluations and restored before patches. There are
	 * no free blocks before the first stash.
	 */
	#stashed = false;

	/** Creates an empty heap at `base`. */
	constructor(memory: ModuleMemory, base: number) {
		this.memory = memory;
		this.base = base;
		this.#end = base;
		this.#layout = this.#probe();
		this.laidOut = hasKnownLayout(memory, base);
		memory.free = base;
		this.#booleans = parseBooleans(memory);
		this.#findsBooleans = this.laidOut && findsBooleans(memory, this.#booleans);
	}

	/** Document address. Patches do not move the document. */
	get root(): number {
		return this.#root;
	}

	/** First free address above the document. Evaluations use the memory from this address, and leave nothing behind. */
	get end(): number {
		return this.#end;
	}

	/** Document size in memory, including free blocks, in bytes. */
	get bytes(): number {
		return this.#end - this.base;
	}

	/**
	 * Loads a document into an empty heap. `json` must be a JSON object in bytes; otherwise throws `EngineError`. Loading
	 * takes more than one step only if this code writes the document itself.
	 */
	*loading(json: Uint8Array): Steps<void> {
		if (this.laidOut) {
			const { root, end } = yield* writingImage(this.memory, this.base, json);
			this.#root = root;
			this.memory.free = end;
		} else {
			const text = checkedJson(json);
			this.memory.reserve(this.base, text.byteLength * parsedPerByte);
			this.memory.free = this.base;
			this.#root = this.memory.parse(text.byteLength, (bytes, address) => bytes.set(text, address));
		}
		this.#settle();
		this.#loadedBytes = this.bytes;
	}

	/**
	 * Changes the document in place. If a patch does not fit the document, throws `EngineError` and leaves only some of
	 * the patches applied. No evaluation may run between the steps.
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

	/** Returns the document as JSON. */
	dump(): string {
		this.memory.reserve(this.#end, this.bytes);
		this.memory.free = this.#end;
		return this.memory.dump(this.#root);
	}

	/**
	 * Loads the same document into an empty heap in a different module. Copies the memory if possible. Parses the document
	 * again if most of this heap is free blocks, because parsing drops these blocks, or if the other module has a
	 * different layout. In both cases, the first step is long.
	 */
	*movingTo(next: Heap): Steps<void> {
		const sprawls = this.bytes > 2 * this.#loadedBytes + headroom;
		const alike = next.base === this.base && next.#layout === this.#layout && next.laidOut === this.laidOut;
		const movable = isSame(this.#booleans, next.#booleans) || (this.#findsBooleans && next.#findsBooleans);
		if (sprawls || !alike || !movable) {
			yield* next.loading(utf8Bytes(this.dump()));
			return;
		}
		yield* this.#copyingTo(next);
		if (!isSame(this.#booleans, next.#booleans)) {
			yield* replaceBooleans(next.memory, next.#root, this.#booleans, next.#booleans);
		}
	}

	/**
	 * Copies the whole memory, including free blocks, to a new instance of the same module. The memory below the document
	 * is copied last and without a pause, because evaluations write to this memory.
	 */
	*cloningTo(next: Heap): Steps<void> {
		yield* this.#copyingTo(next);
		this.memory.free = this.#end;
		next.memory.bytes.set(this.memory.bytes.subarray(0, this.base));
		next.#stashed = this.#stashed;
	}

	/** Copies the document without changing any address. */
	*#copyingTo(next: Heap): Steps<void> {
		next.memory.reserve(next.#end, this.bytes);
		for (let from = this.base; from < this.#end; from += copyChunk) {
			next.memory.bytes.set(this.memory.bytes.subarray(from, Math.min(this.#end, from + copyChunk)), from);
			yield;
		}
		next.#root = this.#root;
		next.#end = this.#end;
		next.#loadedBytes = this.#loadedBytes;
	}

	/** Ends a change: stashes the free blocks for the next change and updates the start address for evaluations. */
	#settle(): void {
		this.memory.exports.opa_heap_blocks_stash();
		this.#stashed = true;
		this.#end = this.memory.free;
	}

	/**
	 * Returns the memory contents after parsing a sample document. Equal probes mean equal structures, equal hashes, and
	 * the same addresses for values inside the module, except for booleans.
	 */
	#probe(): string {
		this.memory.reserve(this.base, probe.length * parsedPerByte);
		this.memory.free = this.base;
		this.memory.parseText(probe);
		return latin1Text(this.memory.bytes, this.base, this.memory.free);
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

/** Checks that `json` is a JSON object, and replaces lone surrogates. The module's parser is less strict. */
function checkedJson(json: Uint8Array): Uint8Array {
	const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new EngineError('the data is not a JSON object');
	}
	return mayHoldLoneSurrogates(json) ? utf8Bytes(jsonText(value)) : json;
}

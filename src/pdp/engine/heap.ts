import type { Steps } from '../../../compiler/steps.js';
import { type Booleans, findsBooleans, parseBooleans, replaceBooleans } from './booleans.js';
import { EngineError } from './engine-error.js';
import { writingImage } from './heap-image.js';
import { jsonText, mayHoldLoneSurrogates } from './json-text.js';
import { hasKnownLayout } from './layout-probe.js';
import { headroom, type ModuleMemory, type PatchStep } from './module-memory.js';
import { latin1Text, utf8Bytes } from './text-bytes.js';

/** How much heap a byte of JSON takes when the module parses it; more than enough for tables. */
export const parsedPerByte = 12;
/** How many patches are applied between two pauses: they take some hundred microseconds. */
const stride = 100;
/** How much is copied between two pauses, in bytes. */
const copyChunk = 1024 * 1024;

/** The document in one instance's memory: everything from `base` up to `end` belongs to it. */
export class Heap {
	readonly base: number;
	readonly memory: ModuleMemory;
	/** Whether documents are written by `heap-image`; otherwise the module parses them. */
	readonly laidOut: boolean;
	/** The module's layout of values: a heap may only move to a module with the same. */
	readonly #layout: string;
	readonly #booleans: Booleans;
	/** Whether booleans can be found in documents of this module. */
	readonly #findsBooleans: boolean;
	#root = 0;
	#end: number;
	/**
	 * The size after the document was loaded. Compared with it, today's size shows how much of the heap is free blocks.
	 */
	#loadedBytes = 0;
	/**
	 * Whether free blocks are stashed. They are stashed before evaluations and restored before patches; before the
	 * first stash there are none.
	 */
	#stashed = false;

	/** An empty heap at `base`. */
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
	 * Loads a document, the bytes of a JSON object, into an empty heap. Throws `EngineError` when it is not one. Only
	 * documents that are laid out by this code are loaded in more than one step.
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
	 * Changes the document in place. Throws `EngineError`, halfway, when a patch has no place in it. Nobody may
	 * evaluate between its steps.
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
	 * Loads the same document into an empty heap of another module. A heap that consists mostly of free blocks is
	 * parsed anew, which drops them. So is one whose layout the other module does not share. Both begin with one long
	 * step.
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
	 * Copies this heap, with its free blocks, to a new instance of the same module. All of memory is copied; what is
	 * below the document comes last and without a pause, because evaluations write there.
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

	/** Ends a change: stashes the free blocks for the next one and moves the start of evaluations. */
	#settle(): void {
		this.memory.exports.opa_heap_blocks_stash();
		this.#stashed = true;
		this.#end = this.memory.free;
	}

	/**
	 * The memory that parsing one value of each kind leaves. Equal probes mean equal structures, equal hashes and the
	 * same addresses for values inside the module itself, except for booleans.
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

/** Checks that bytes are a JSON object, and replaces lone surrogates. The module is less strict than JSON. */
function checkedJson(json: Uint8Array): Uint8Array {
	const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new EngineError('the data is not a JSON object');
	}
	return mayHoldLoneSurrogates(json) ? utf8Bytes(jsonText(value)) : json;
}

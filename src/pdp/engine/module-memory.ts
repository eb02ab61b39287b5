import { EngineError } from './engine-error.js';
import { type PolicyExports, unsigned } from './policy-exports.js';
import { textMemory, utf8Length, utf8Text, writeUtf8 } from './text-bytes.js';

/** Growth unit for memory, in bytes. */
export const page = 64 * 1024;
/** Memory kept free above each reservation for an input, its evaluation and its result, in bytes. */
export const headroom = 16 * 1024 * 1024;
/** One page below 4 GiB: the range of 32-bit addresses. */
const addressable = 2 ** 32 - page;

/** Maximum number of UTF-8 bytes per JavaScript string unit. */
const maxPerCharacter = 3;

/** A patch in JSON. A patch without a value removes the field at its path. */
export interface PatchStep {
	readonly path: string;
	readonly value?: string | undefined;
}

/** Memory of a module instance, and operations by the module's own allocator. */
export class ModuleMemory {
	readonly exports: PolicyExports;
	readonly #memory: WebAssembly.Memory;
	/** Views on the whole memory; replaced after it has grown. */
	#bytes: Uint8Array;
	#words: Int32Array;
	#view: DataView;

	constructor(exports: PolicyExports, memory: WebAssembly.Memory) {
		this.exports = exports;
		this.#memory = memory;
		this.#bytes = textMemory(memory.buffer);
		this.#words = new Int32Array(memory.buffer);
		this.#view = new DataView(memory.buffer);
	}

	/** Whole memory. Valid until memory grows. */
	get bytes(): Uint8Array {
		if (this.#bytes.byteLength === 0) this.#bytes = textMemory(this.#memory.buffer);
		return this.#bytes;
	}

	/** Whole memory in four-byte words. Valid until memory grows. */
	get words(): Int32Array {
		if (this.#words.byteLength === 0) this.#words = new Int32Array(this.#memory.buffer);
		return this.#words;
	}

	/** Whole memory, for numbers at any address. Valid until memory grows. */
	get view(): DataView {
		if (this.#view.buffer.byteLength === 0) this.#view = new DataView(this.#memory.buffer);
		return this.#view;
	}

	/** First address not yet handed out by the module's allocator. */
	get free(): number {
		return unsigned(this.exports.opa_heap_ptr_get());
	}

	/** Makes the allocator continue at this address. The allocator forgets its free blocks. */
	set free(address: number) {
		this.exports.opa_heap_ptr_set(address);
	}

	/**
	 * Reserves `bytes` from address `from`, with headroom. Content above `from` is lost. The module's allocator must grow
	 * the memory, because it does not see pages added by other code. Memory grows in big steps, because each step can cost
	 * a garbage collection. Throws `EngineError` if memory is exhausted.
	 */
	reserve(from: number, bytes: number): void {
		const size = this.bytes.byteLength;
		const missing = from + bytes + headroom - size;
		if (missing <= 0) return;
		if (size + missing > addressable) throw new EngineError(`not enough memory for ${missing} more bytes`);
		const pages = Math.ceil(Math.min(Math.max(missing, size / 4), addressable - size) / page);
		const { free } = this;
		// At this address, a block with almost this number of pages does not quite fit, so the allocator must grow the
		// memory.
		this.free = Math.max(from, size - 16);
		this.exports.opa_malloc(pages * page - 16);
		this.free = free;
	}

	/** Lets the module parse a JSON text. Throws `EngineError` if it fails. */
	parseText(text: string): number {
		return this.parse(utf8Length(text), (_, address) => this.writeText(text, address));
	}

	/** Writes a string in UTF-8 and returns the length in bytes. */
	writeText(text: string, address: number): number {
		return writeUtf8(this.bytes, text, address, text.length * maxPerCharacter);
	}

	/** Lets the module parse the JSON that `write` writes to its `address`. Throws `EngineError` if it fails. */
	parse(bytes: number, write: (memory: Uint8Array, address: number) => void): number {
		const text = unsigned(this.exports.opa_malloc(bytes));
		write(this.bytes, text);
		const value = this.exports.opa_json_parse(text, bytes);
		this.exports.opa_free(text);
		if (value === 0) throw new EngineError('the module could not read a JSON value');
		return value;
	}

	/**
	 * Lets the module change an object. Throws `EngineError` if the path of an added value passes through a value that is
	 * not an object. The module does not check the paths of removed values, but in documents from the compiler, these
	 * paths contain only objects.
	 */
	patch(object: number, { path, value }: PatchStep): void {
		const pathAddress = this.parseText(path);
		const result =
			value === undefined
				? this.exports.opa_value_remove_path(object, pathAddress)
				: this.exports.opa_value_add_path(object, pathAddress, this.parseText(value));
		this.exports.opa_value_free(pathAddress);
		if (result !== 0) throw new EngineError(`the data has no place for \`${path}\` (code ${result})`);
	}

	/** Returns the module's JSON for a value. */
	dump(value: number): string {
		return this.textAt(unsigned(this.exports.opa_json_dump(value)));
	}

	/** Returns the zero-terminated text at an address. */
	textAt(address: number): string {
		// Slice first: a search starting beyond 2 GiB does not work.
		const bytes = this.bytes.subarray(address);
		return utf8Text(bytes, 0, bytes.indexOf(0));
	}
}

/** Rounds an address up to a multiple of `unit`. */
export function aligned(address: number, unit: number): number {
	return Math.ceil(address / unit) * unit;
}

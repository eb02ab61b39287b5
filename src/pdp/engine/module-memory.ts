import { EngineError } from './engine-error.js';
import { type PolicyExports, unsigned } from './policy-exports.js';
import { textMemory, utf8Length, utf8Text, writeUtf8 } from './text-bytes.js';

/** The unit in which memory grows, in bytes. */
export const page = 64 * 1024;
/** Memory kept free above what is asked for, for an input, its evaluation and its result, in bytes. */
export const headroom = 16 * 1024 * 1024;
/** One page less than 4 GiB: the reach of 32-bit addresses. */
const addressable = 2 ** 32 - page;

/** The most bytes of UTF-8 for one unit of a JavaScript string. */
const maxPerCharacter = 3;

/** One patch as JSON text; without a value it removes. */
export interface PatchStep {
	readonly path: string;
	readonly value?: string | undefined;
}

/** The memory of one instance of a module, and what the module's own allocator does in it. */
export class ModuleMemory {
	readonly exports: PolicyExports;
	readonly #memory: WebAssembly.Memory;
	/** Views of all of memory; replaced whenever it has grown. */
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

	/** All of memory. Valid until memory grows. */
	get bytes(): Uint8Array {
		if (this.#bytes.byteLength === 0) this.#bytes = textMemory(this.#memory.buffer);
		return this.#bytes;
	}

	/** All of memory in words of four bytes. Valid until memory grows. */
	get words(): Int32Array {
		if (this.#words.byteLength === 0) this.#words = new Int32Array(this.#memory.buffer);
		return this.#words;
	}

	/** All of memory, to read numbers at any address. Valid until memory grows. */
	get view(): DataView {
		if (this.#view.buffer.byteLength === 0) this.#view = new DataView(this.#memory.buffer);
		return this.#view;
	}

	/** The first address that the module's allocator has not handed out. */
	get free(): number {
		return unsigned(this.exports.opa_heap_ptr_get());
	}

	/** Makes the allocator continue at this address. It forgets its free blocks. */
	set free(address: number) {
		this.exports.opa_heap_ptr_set(address);
	}

	/**
	 * Ensures `bytes` from address `from` on, with headroom. Nothing above `from` is kept. Growing is left to the
	 * module's allocator, which does not see pages that others add, and is done in big steps, because each can cost a
	 * garbage collection. Throws `EngineError` when there is no more memory.
	 */
	reserve(from: number, bytes: number): void {
		const size = this.bytes.byteLength;
		const missing = from + bytes + headroom - size;
		if (missing <= 0) return;
		if (size + missing > addressable) throw new EngineError(`no memory for ${missing} more bytes`);
		const pages = Math.ceil(Math.min(Math.max(missing, size / 4), addressable - size) / page);
		const { free } = this;
		// From this address, a block of almost that many pages just does not fit.
		this.free = Math.max(from, size - 16);
		this.exports.opa_malloc(pages * page - 16);
		this.free = free;
	}

	/** Lets the module parse a JSON text. Throws `EngineError` when it cannot. */
	parseText(text: string): number {
		return this.parse(utf8Length(text), (_, address) => this.writeText(text, address));
	}

	/** Writes a text as UTF-8 and returns how many bytes it took. */
	writeText(text: string, address: number): number {
		return writeUtf8(this.bytes, text, address, text.length * maxPerCharacter);
	}

	/** Lets the module parse JSON that `write` puts at the address it is given. Throws `EngineError` when it cannot. */
	parse(bytes: number, write: (memory: Uint8Array, address: number) => void): number {
		const text = unsigned(this.exports.opa_malloc(bytes));
		write(this.bytes, text);
		const value = this.exports.opa_json_parse(text, bytes);
		this.exports.opa_free(text);
		if (value === 0) throw new EngineError('the module could not read a JSON value');
		return value;
	}

	/**
	 * Lets the module change an object. Throws `EngineError` when a path to add leads through something that is not an
	 * object. For a path to remove the module does not check that: documents of the compiler have only objects there.
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

	/** The module's JSON text of a value. */
	dump(value: number): string {
		return this.textAt(unsigned(this.exports.opa_json_dump(value)));
	}

	/** The text that begins at an address and ends before the first zero. */
	textAt(address: number): string {
		// From an address: searching from a place beyond 2 GiB does not work.
		const bytes = this.bytes.subarray(address);
		return utf8Text(bytes, 0, bytes.indexOf(0));
	}
}

/** The smallest multiple of `unit` that is not below the address. */
export function aligned(address: number, unit: number): number {
	return Math.ceil(address / unit) * unit;
}

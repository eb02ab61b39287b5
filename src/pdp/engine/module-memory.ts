import { EngineError } from './engine-error.js';
import { type PolicyExports, unsigned } from './policy-exports.js';

/** The unit in which memory grows, in bytes. */
export const page = 64 * 1024;
/** Room kept above what is asked for: for an input, its evaluation and its result, in bytes. */
export const headroom = 16 * 1024 * 1024;
/** One page less than 4 GiB: all that 32-bit addresses reach. */
const addressable = 2 ** 32 - page;

/** The bytes of UTF-8 that one unit of a JavaScript string takes at most. */
const mostPerCharacter = 3;

/** One step of a patch as JSON text; without a value it removes. */
export interface PatchStep {
	readonly path: string;
	readonly value?: string | undefined;
}

/** The memory of one instance of a module, seen from outside, and what the module's own allocator does in it. */
export class ModuleMemory {
	readonly exports: PolicyExports;
	readonly #memory: WebAssembly.Memory;
	/** Views of all of memory; replaced whenever it grew. */
	#bytes: Buffer;
	#words: Int32Array;
	#view: DataView;

	constructor(exports: PolicyExports, memory: WebAssembly.Memory) {
		this.exports = exports;
		this.#memory = memory;
		this.#bytes = Buffer.from(memory.buffer);
		this.#words = new Int32Array(memory.buffer);
		this.#view = new DataView(memory.buffer);
	}

	/** All of memory. Good until memory grows. */
	get bytes(): Buffer {
		if (this.#bytes.byteLength === 0) this.#bytes = Buffer.from(this.#memory.buffer);
		return this.#bytes;
	}

	/** All of memory in words of four bytes. Good until memory grows. */
	get words(): Int32Array {
		if (this.#words.byteLength === 0) this.#words = new Int32Array(this.#memory.buffer);
		return this.#words;
	}

	/** All of memory, to read numbers at any address. Good until memory grows. */
	get view(): DataView {
		if (this.#view.buffer.byteLength === 0) this.#view = new DataView(this.#memory.buffer);
		return this.#view;
	}

	/** The first address that the module's allocator has not given away. */
	get free(): number {
		return unsigned(this.exports.opa_heap_ptr_get());
	}

	/** Lets the allocator go on at this address. It forgets its free blocks. */
	set free(address: number) {
		this.exports.opa_heap_ptr_set(address);
	}

	/**
	 * Makes sure of `bytes` from address `from` on, with headroom; nothing above `from` needs to be kept. Growing is left
	 * to the module's allocator, which does not see pages that others add, and is done in big steps: each step can cost a
	 * garbage collection. Throws `EngineError` when there is no more memory.
	 */
	reserve(from: number, bytes: number): void {
		const size = this.bytes.byteLength;
		const missing = from + bytes + headroom - size;
		if (missing <= 0) return;
		if (size + missing > addressable) throw new EngineError(`no memory for ${missing} bytes more`);
		const pages = Math.ceil(Math.min(Math.max(missing, size / 4), addressable - size) / page);
		const { free } = this;
		// From here a block of almost so many pages just does not fit.
		this.free = Math.max(from, size - 16);
		this.exports.opa_malloc(pages * page - 16);
		this.free = free;
	}

	/** Lets the module parse a JSON text. Throws `EngineError` when it cannot. */
	parseText(text: string): number {
		return this.parse(Buffer.byteLength(text), (_, address) => this.writeText(text, address));
	}

	/**
	 * Writes a text as UTF-8 and returns how many bytes that took. The most is said because without it nothing at all is
	 * written where 2 GiB of memory or more lie behind the address.
	 */
	writeText(text: string, address: number): number {
		return this.bytes.write(text, address, text.length * mostPerCharacter, 'utf8');
	}

	/** Lets the module parse JSON that `write` puts at the address it is given. Throws `EngineError` when it cannot. */
	parse(bytes: number, write: (memory: Buffer, address: number) => void): number {
		const text = unsigned(this.exports.opa_malloc(bytes));
		write(this.bytes, text);
		const value = this.exports.opa_json_parse(text, bytes);
		this.exports.opa_free(text);
		if (value === 0) throw new EngineError('the module could not read a JSON value');
		return value;
	}

	/**
	 * Lets the module change an object. Throws `EngineError` when a path to add leads through what is no object. The module
	 * does not look whether what a path to remove leads through is one: documents of the compiler have nothing else there.
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

	/** The text that the module makes of a value. */
	dump(value: number): string {
		return this.textAt(unsigned(this.exports.opa_json_dump(value)));
	}

	/** The text that begins at an address and ends before the first zero. */
	textAt(address: number): string {
		const bytes = this.bytes.subarray(address);
		return bytes.subarray(0, bytes.indexOf(0)).toString('utf8');
	}
}

/** The smallest multiple of `unit` that is not below the address. */
export function aligned(address: number, unit: number): number {
	return Math.ceil(address / unit) * unit;
}

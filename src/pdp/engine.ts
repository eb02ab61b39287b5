/** The policy engine: the only code that touches WASM memory. */

import { createRequire } from 'node:module';
import type * as Library from '@open-policy-agent/opa-wasm';
import type { Json, Patch } from '../../compiler/model.js';

// The package declares this for both kinds of module and has it in one only.
const { loadPolicySync } = createRequire(import.meta.url)('@open-policy-agent/opa-wasm') as typeof Library;

/** What the policies read: one normalised check. Absent members save time, each byte costs about 12 ns. */
export interface EngineInput {
	readonly user: { readonly key: string; readonly attributes?: Readonly<Record<string, unknown>> };
	readonly action: string;
	readonly resource: {
		readonly type: string;
		readonly key?: string;
		readonly tenant: string;
		readonly attributes?: Readonly<Record<string, unknown>>;
	};
	readonly context?: Readonly<Record<string, unknown>>;
}

/** A policy, its data or a patch that the engine could not take; the message says which step failed. */
export class EngineError extends Error {
	override readonly name = 'EngineError';
}

/** The code of a check whose evaluation failed: a denial. */
export const evaluationFailed = 'evaluation_failed';

/** The exports of an OPA module that are used here. Every address is a signed 32-bit number: see `unsigned`. */
interface Exports {
	opa_eval(reserved: 0, entrypoint: number, data: number, input: number, length: number, heap: number, json: 0): number;
	opa_malloc(bytes: number): number;
	opa_free(address: number): void;
	opa_json_parse(address: number, bytes: number): number;
	opa_json_dump(value: number): number;
	opa_value_add_path(data: number, path: number, value: number): number;
	opa_value_remove_path(data: number, path: number): number;
	opa_value_free(value: number): void;
	opa_heap_ptr_get(): number;
	opa_heap_ptr_set(address: number): void;
	opa_heap_blocks_stash(): void;
	opa_heap_blocks_restore(): void;
}

/** Where data begins unless a module is larger: the same address in every engine, so that a heap can move. */
const dataBase = 4 * 1024 * 1024;
/** Room kept above the data for an input, the evaluation and its result, in bytes. */
const headroom = 16 * 1024 * 1024;
/** How much heap a byte of JSON takes; more than enough for tables, and only the first guess for the rest. */
const heapPerByte = 12;
const page = 64 * 1024;
/** How many aborted evaluations an instance may go through; hundreds would exhaust its stack. */
const tolerableAborts = 8;
/** The entrypoint every policy has: the code of one check. */
const codeEntrypoint = 'regolith/check/code';
const smokeInput: EngineInput = { user: { key: '' }, action: '', resource: { type: '', tenant: '' } };

/**
 * One compiled policy with the data of one environment. Everything but `load` and `fork` is synchronous, so nobody
 * sees half a patch. An engine whose patch failed is broken and denies everything from then on.
 */
export class Engine {
	readonly #module: WebAssembly.Module;
	readonly #entrypoints: ReadonlyMap<string, number>;
	readonly #code: number;
	readonly #base: number;
	#memory: WebAssembly.Memory;
	#exports: Exports;
	#data = 0;
	/** The first free address above the data: evaluations start there and leave nothing behind. */
	#end: number;
	/** The heap's size after the data was last parsed: how much of today's heap is free blocks shows against it. */
	#parsedBytes = 0;
	/** Free blocks are stashed before evaluations and restored before patches; there are none before the first stash. */
	#stashed = false;
	/** How this module lays out values in memory, see `#probe`: data may only move to a module that does the same. */
	readonly #layout: string;
	#broken: string | undefined;
	/** Evaluations that were aborted in this instance: see `#renew`. */
	#aborts = 0;
	/** All of memory; replaced whenever memory grew. */
	#bytes: Buffer;

	private constructor(module: WebAssembly.Module, policy: Library.LoadedPolicy) {
		this.#module = module;
		this.#memory = policy.mem;
		// The package declares a union for modules loaded in other ways, and no exports.
		this.#exports = (policy.wasmInstance as WebAssembly.Instance).exports as unknown as Exports;
		this.#entrypoints = new Map(Object.entries(policy.entrypoints as Record<string, number>));
		const code = this.#entrypoints.get(codeEntrypoint);
		if (code === undefined) throw new EngineError(`the policy has no entrypoint \`${codeEntrypoint}\``);
		this.#code = code;
		this.#base = Math.ceil(Math.max(unsigned(this.#exports.opa_heap_ptr_get()), dataBase) / page) * page;
		this.#end = this.#base;
		this.#bytes = Buffer.from(this.#memory.buffer);
		this.#layout = this.#probe();
	}

	/**
	 * Makes an engine from a policy and `data`, the bytes of a JSON object. Rejects with `EngineError` when the module
	 * is no policy, the data no JSON object, or a trial evaluation fails.
	 */
	static async load(module: WebAssembly.Module, data: Uint8Array): Promise<Engine> {
		const engine = Engine.#instantiate(module, data.byteLength * heapPerByte);
		engine.#guard('loading data', () => engine.#parseData(data));
		engine.#smoke();
		return engine;
	}

	/**
	 * An engine with this one's data and another policy; this one stays as it is.
	 * Rejects with `EngineError` as `load` does.
	 */
	async fork(module: WebAssembly.Module): Promise<Engine> {
		this.#refuseBroken();
		const next = this.#copy(module);
		next.#smoke();
		return next;
	}

	/** The size of the data in memory, free blocks included, in bytes. */
	get heapBytes(): number {
		return this.#end - this.#base;
	}

	/** Why the engine denies everything: set when a patch failed half-way. */
	get broken(): string | undefined {
		return this.#broken;
	}

	/** Applies all patches, in order. Throws `EngineError` when one fails; the engine is broken then. */
	patch(patches: readonly Patch[]): void {
		this.#refuseBroken();
		const steps = patches.map((patch) => ({
			path: textOf(patch.path),
			value: patch.op === 'upsert' ? textOf(patch.value) : undefined,
		}));
		if (patches.some((patch) => patch.path.length === 0)) throw new EngineError('a patch names no member');
		try {
			this.#guard('a patch', () => {
				const bytes = steps.reduce((sum, { path, value }) => sum + path.length + (value?.length ?? 0), 0);
				this.#reserve(bytes * heapPerByte);
				this.#exports.opa_heap_ptr_set(this.#end);
				if (this.#stashed) this.#exports.opa_heap_blocks_restore();
				for (const { path, value } of steps) this.#apply(path, value);
				this.#settle();
			});
		} catch (error) {
			this.#broken = (error as EngineError).message;
			throw error;
		}
	}

	/** The code of a check: `allow`, or why not. Never throws: what fails is the denial `evaluation_failed`. */
	code(input: EngineInput): string {
		try {
			this.#refuseBroken();
			const start = this.#evaluate(this.#code, plainText(input) ?? textOf(input));
			const bytes = this.#view();
			return codeOf(bytes.toString('latin1', start, bytes.indexOf(0, start))) ?? evaluationFailed;
		} catch {
			// Whatever a module throws (strings, traps) says the same to the caller: no decision, so no.
			return evaluationFailed;
		}
	}

	/** The result of any entrypoint. Throws `EngineError` for unknown names, undefined results and failures. */
	evaluate(entrypoint: string, input: unknown): unknown {
		this.#refuseBroken();
		const id = this.#entrypoints.get(entrypoint);
		if (id === undefined) throw new EngineError(`the policy has no entrypoint \`${entrypoint}\``);
		const results = this.#guard(`evaluating ${entrypoint}`, () => {
			const start = this.#evaluate(id, textOf(input));
			return JSON.parse(this.#textAt(start)) as readonly { readonly result: unknown }[];
		});
		const [first] = results;
		if (first === undefined) throw new EngineError(`\`${entrypoint}\` is undefined for this input`);
		return first.result;
	}

	/** The data, whole. For tests and for comparing replicas. Throws `EngineError` when the engine is broken. */
	dump(): Json {
		this.#refuseBroken();
		return JSON.parse(this.#dumpText()) as Json;
	}

	static #instantiate(module: WebAssembly.Module, heapBytes: number): Engine {
		const initial = Math.ceil((dataBase + heapBytes + headroom) / page);
		try {
			return new Engine(module, loadPolicySync(module, { initial }));
		} catch (error) {
			throw asEngineError('instantiating the policy', error);
		}
	}

	#copy(module: WebAssembly.Module): Engine {
		const next = Engine.#instantiate(module, this.heapBytes);
		// Free blocks are lost by moving: a heap that has come to consist of them is parsed anew instead.
		const compact = this.heapBytes <= 2 * this.#parsedBytes + headroom;
		if (compact && next.#base === this.#base && next.#layout === this.#layout) this.#moveTo(next);
		else next.#guard('moving data', () => next.#parseData(Buffer.from(this.#dumpText())));
		return next;
	}

	/**
	 * Goes on in a new instance. An evaluation that was aborted never takes its frames off the module's stack, which is
	 * small: left alone, aborts would add up until every evaluation fails.
	 */
	#renew(): void {
		const next = this.#copy(this.#module);
		this.#memory = next.#memory;
		this.#exports = next.#exports;
		this.#bytes = next.#bytes;
		this.#data = next.#data;
		this.#end = next.#end;
		this.#parsedBytes = next.#parsedBytes;
		this.#stashed = next.#stashed;
		this.#aborts = 0;
	}

	#smoke(): void {
		if (typeof this.evaluate(codeEntrypoint, smokeInput) !== 'string') {
			throw new EngineError(`\`${codeEntrypoint}\` gave no code in a trial evaluation`);
		}
	}

	#parseData(given: Uint8Array): void {
		if (given[0] !== openingBrace) throw new EngineError('the data is not a JSON object');
		const data = readable(given);
		this.#reserve(data.byteLength * heapPerByte);
		this.#exports.opa_heap_ptr_set(this.#end);
		this.#data = this.#parse(data.byteLength, (address) => this.#view().set(data, address));
		this.#settle();
		this.#parsedBytes = this.heapBytes;
	}

	/**
	 * What parsing one value of each kind leaves in memory, at the address where data begins. Equal probes mean equal
	 * structures, equal hashes and the same place for values that live in the module itself, such as `true`.
	 */
	#probe(): string {
		this.#reserve(probe.length * heapPerByte);
		this.#exports.opa_heap_ptr_set(this.#base);
		this.#parseText(probe);
		const bytes = this.#view().subarray(this.#base, unsigned(this.#exports.opa_heap_ptr_get()));
		const layout = bytes.toString('latin1');
		bytes.fill(0);
		this.#exports.opa_heap_ptr_set(this.#base);
		return layout;
	}

	/** Copies the data, whose addresses stay what they are, into an engine with the same base and no data yet. */
	#moveTo(next: Engine): void {
		next.#reserve(this.heapBytes);
		this.#view().copy(next.#view(), this.#base, this.#base, this.#end);
		next.#data = this.#data;
		next.#end = this.#end;
		next.#parsedBytes = this.#parsedBytes;
	}

	#apply(path: string, value: string | undefined): void {
		const pathAddress = this.#parseText(path);
		const result =
			value === undefined
				? this.#exports.opa_value_remove_path(this.#data, pathAddress)
				: this.#exports.opa_value_add_path(this.#data, pathAddress, this.#parseText(value));
		this.#exports.opa_value_free(pathAddress);
		if (result !== 0) throw new EngineError(`the data has no place for \`${path}\` (code ${result})`);
	}

	#parseText(text: string): number {
		const bytes = Buffer.byteLength(text);
		return this.#parse(bytes, (address) => this.#view().write(text, address, 'utf8'));
	}

	/** Parses JSON that `write` puts at the address it is given; the value is the data's from then on. */
	#parse(bytes: number, write: (address: number) => void): number {
		const text = unsigned(this.#exports.opa_malloc(bytes));
		write(text);
		const value = this.#exports.opa_json_parse(text, bytes);
		this.#exports.opa_free(text);
		if (value === 0) throw new EngineError('the module could not read a JSON value');
		return value;
	}

	/** Ends a change of the data: keeps the free blocks for the next one and moves the start of evaluations. */
	#settle(): void {
		this.#exports.opa_heap_blocks_stash();
		this.#stashed = true;
		this.#end = unsigned(this.#exports.opa_heap_ptr_get());
	}

	/** Evaluates and returns the address of the result's JSON text. The data and everything below it stay untouched. */
	#evaluate(entrypoint: number, input: string): number {
		if (this.#bytes.byteLength - this.#end < input.length * heapPerByte + headroom / 2) {
			this.#reserve(input.length * heapPerByte);
		}
		const length = this.#view().write(input, this.#end, 'utf8');
		// Blocks are aligned to 8 only if the first one is.
		const heap = Math.ceil((this.#end + length) / 8) * 8;
		try {
			return unsigned(this.#exports.opa_eval(0, entrypoint, this.#data, this.#end, length, heap, 0));
		} catch (error) {
			this.#aborts += 1;
			if (this.#aborts >= tolerableAborts) this.#renew();
			throw error;
		}
	}

	#textAt(start: number): string {
		const bytes = this.#view().subarray(start);
		return bytes.subarray(0, bytes.indexOf(0)).toString('utf8');
	}

	#dumpText(): string {
		return this.#guard('dumping data', () => {
			this.#reserve(this.heapBytes);
			this.#exports.opa_heap_ptr_set(this.#end);
			return this.#textAt(unsigned(this.#exports.opa_json_dump(this.#data)));
		});
	}

	/**
	 * Makes sure of `bytes` above the data, with headroom. Growing is left to the module's own allocator, which does not
	 * see pages that others add, and is done in big steps: each step can cost a garbage collection.
	 */
	#reserve(bytes: number): void {
		const size = this.#view().byteLength;
		if (size - this.#end >= bytes + headroom) return;
		const step = Math.ceil(Math.max(bytes + headroom, size / 4));
		if (this.#end + step > addressable) throw new EngineError(`no memory for ${step} bytes more`);
		this.#exports.opa_heap_ptr_set(this.#end);
		this.#exports.opa_malloc(step);
		this.#exports.opa_heap_ptr_set(this.#end);
	}

	#view(): Buffer {
		if (this.#bytes.byteLength === 0) this.#bytes = Buffer.from(this.#memory.buffer);
		return this.#bytes;
	}

	#refuseBroken(): void {
		if (this.#broken !== undefined) throw new EngineError(`the engine is broken: ${this.#broken}`);
	}

	#guard<T>(what: string, run: () => T): T {
		try {
			return run();
		} catch (error) {
			throw asEngineError(what, error);
		}
	}
}

const probe = JSON.stringify({
	constants: [null, true, false, {}, []],
	numbers: [0, -1, 1.5, 12_345_678_901],
	strings: ['', 'short', 'long '.repeat(40)],
	object: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`member ${index}`, index])),
});
const openingBrace = 0x7b;
/** One page less than 4 GiB: all that 32-bit addresses reach. */
const addressable = 2 ** 32 - page;

const unsigned = (address: number): number => address >>> 0;

/** JSON for the module, which refuses halves of characters: they become the replacement character, as in UTF-8. */
function textOf(value: unknown): string {
	const json = JSON.stringify(value);
	return json.includes('\\ud')
		? json.replace(/\\(?:\\|ud[89a-f]..)/g, (part) => (part === '\\\\' ? part : '\\ufffd'))
		: json;
}

/** Text that JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/;

/**
 * The JSON of the usual check, put together: an eighth of a check's time went into the general way. `undefined` for
 * input that has more members, or text that needs escapes.
 */
function plainText(input: EngineInput): string | undefined {
	const { user, action, resource } = input;
	const { type, key, tenant } = resource;
	const more = input.context ?? user.attributes ?? resource.attributes;
	if (more !== undefined || typeof tenant !== 'string') return undefined;
	if (!(plain.test(user.key) && plain.test(action) && plain.test(type) && plain.test(tenant))) return undefined;
	if (key !== undefined && !(typeof key === 'string' && plain.test(key))) return undefined;
	const instance = key === undefined ? '' : `"key":"${key}",`;
	const place = `"type":"${type}",${instance}"tenant":"${tenant}"`;
	return `{"user":{"key":"${user.key}"},"action":"${action}","resource":{${place}}}`;
}

/** The same JSON without halves of characters. */
function readable(json: Uint8Array): Uint8Array {
	const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
	return bytes.includes('\\ud') ? Buffer.from(textOf(JSON.parse(bytes.toString('utf8')))) : json;
}

const before = '[{"result":"';
const after = '"}]';

/** The one string in a result set, `undefined` when the result is something else. Codes need no JSON escapes. */
function codeOf(results: string): string | undefined {
	if (!results.startsWith(before) || !results.endsWith(after)) return undefined;
	return results.slice(before.length, -after.length);
}

/** Modules throw strings and traps; callers get errors. */
function asEngineError(what: string, error: unknown): EngineError {
	if (error instanceof EngineError) return error;
	const message = error instanceof Error ? error.message : typeof error === 'string' ? error : JSON.stringify(error);
	return new EngineError(`${what} failed: ${message}`, { cause: error });
}

import type { Json, Patch } from '../../../compiler/model.js';
import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { asEngineError, EngineError } from './engine-error.js';
import { Entrypoints } from './entrypoints.js';
import { Heap, parsedPerByte } from './heap.js';
import type { InputFrames } from './input-frame.js';
import { jsonText } from './json-text.js';
import { makeFrames } from './layout-probe.js';
import { aligned, headroom, ModuleMemory, type PatchStep, page } from './module-memory.js';
import { unsigned } from './policy-exports.js';
import { instantiatePolicy, type PolicyInstance } from './policy-instance.js';

/** Runs work that can pause. */
export type Run = <T>(steps: Steps<T>) => Promise<T>;

const immediately: Run = async (steps) => runToEnd(steps);

export { EngineError } from './engine-error.js';

/** The input of the policies: one normalised check. The usual one, without attributes and context, is passed without JSON. */
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
	/** When the check is decided, in milliseconds since 1970: what expires until then is absent. Callers cannot set it. */
	readonly time: number;
}

/** What decisions need of an engine. */
export type DecidingEngine = Pick<Engine, 'code' | 'evaluate'>;

/** The code of a check whose evaluation failed: a denial. */
export const evaluationFailed = 'evaluation_failed';

/**
 * Where the data begins, unless the module is larger: the same address in every engine, so that a heap can be moved.
 */
const dataBase = 4 * 1024 * 1024;
/** Room for the frames of inputs, below the data, in bytes. */
const framesRoom = 4 * 1024;
/** How much heap to reserve for each byte of JSON. More is added when needed. */
const heapPerByte = 4;
/** How many patches are read between two pauses. */
const stride = 200;
/** How many aborted evaluations an instance may accumulate. Hundreds would exhaust its stack. */
const tolerableAborts = 8;
/** The entrypoint every policy has: the code of one check. */
const codeEntrypoint = 'regolith/check/code';
const smokeInput: EngineInput = { user: { key: '' }, action: '', resource: { type: '', tenant: '' }, time: 0 };

/**
 * One compiled policy with the data of one environment. Everything except `load`, `fork` and `copy` is synchronous, so
 * nobody sees half a patch. An engine whose patch failed is broken and denies everything from then on.
 *
 * This class evaluates; only the files of `engine/` touch WASM memory.
 */
export class Engine {
	readonly #module: WebAssembly.Module;
	readonly #entrypoints: Entrypoints;
	readonly #code: number;
	#heap: Heap;
	/** Inputs that are passed without JSON; `undefined` when the module does not share our layout of values. */
	#frames: InputFrames | undefined;
	#broken: string | undefined;
	/** Evaluations that were aborted in this instance: see `#renew`. */
	#aborts = 0;

	private constructor(module: WebAssembly.Module, policy: PolicyInstance) {
		this.#module = module;
		this.#entrypoints = new Entrypoints(policy.entrypoints);
		const code = this.#entrypoints.find(codeEntrypoint);
		if (code === undefined) throw new EngineError(`the policy has no entrypoint \`${codeEntrypoint}\``);
		this.#code = code;
		const memory = new ModuleMemory(policy.exports, policy.memory);
		const start = aligned(memory.free, 8);
		this.#heap = new Heap(memory, aligned(Math.max(start + framesRoom, dataBase), page));
		const frames = this.#heap.laidOut ? makeFrames(memory, start, code) : undefined;
		if (frames !== undefined && frames.end <= this.#heap.base) this.#frames = frames;
	}

	/**
	 * Makes an engine from a policy and `data`, the bytes of a JSON object; `run` may do the work in slices. Rejects
	 * with `EngineError` when the module is not a policy, the data is not a JSON object, or a trial evaluation fails.
	 */
	static async load(module: WebAssembly.Module, data: Uint8Array, run: Run = immediately): Promise<Engine> {
		const engine = Engine.#instantiate(module, data.byteLength * heapPerByte);
		await wrapRejection('loading data', run(engine.#heap.loading(data)));
		engine.#begin();
		return engine;
	}

	/**
	 * An engine with this one's data and another policy. This one stays as it is and may evaluate meanwhile, but must
	 * not be patched. Rejects with `EngineError` as `load` does.
	 */
	async fork(module: WebAssembly.Module, run: Run = immediately): Promise<Engine> {
		this.#refuseBroken();
		return Engine.#become(module, this.heapBytes, (next) => run(this.#heap.movingTo(next)));
	}

	/** A second engine with the same policy and data, made as by `fork`. It takes about a millisecond for each MiB. */
	async copy(run: Run = immediately): Promise<Engine> {
		this.#refuseBroken();
		return Engine.#become(this.#module, this.heapBytes, (next) => run(this.#heap.cloningTo(next)));
	}

	/** The size of the data in memory, free blocks included, in bytes. */
	get heapBytes(): number {
		return this.#heap.bytes;
	}

	/** The whole memory of the WASM instance, in bytes. It never shrinks. */
	get memoryBytes(): number {
		return this.#heap.memory.bytes.byteLength;
	}

	/**
	 * Whether data and inputs are laid out by this code rather than parsed by the module: so unless the module comes
	 * from another version of OPA.
	 */
	get laidOut(): boolean {
		return this.#frames !== undefined;
	}

	/** Why the engine denies everything: set when a patch failed halfway. */
	get broken(): string | undefined {
		return this.#broken;
	}

	/** Applies all patches in order. Throws `EngineError` when one fails; the engine is broken then. */
	patch(patches: readonly Patch[]): void {
		runToEnd(this.patching(patches));
	}

	/** As `patch`, in steps, for an engine that nobody uses yet. */
	*patching(patches: readonly Patch[]): Steps<void> {
		this.#refuseBroken();
		const steps: PatchStep[] = [];
		for (const [index, patch] of patches.entries()) {
			if (index % stride === stride - 1) yield;
			if (patch.path.length === 0) throw new EngineError('a patch names no member');
			steps.push({ path: jsonText(patch.path), value: patch.op === 'upsert' ? jsonText(patch.value) : undefined });
		}
		try {
			yield* this.#heap.patching(steps);
		} catch (error) {
			const failure = asEngineError('a patch', error);
			this.#broken = failure.message;
			throw failure;
		}
	}

	/**
	 * The code of a check: `allow`, or the reason of the denial. Never throws: a failure is the denial
	 * `evaluation_failed`.
	 */
	code(input: EngineInput): string {
		try {
			this.#refuseBroken();
			const frames = this.#frames;
			if (frames === undefined) return this.#codeByText(input) ?? evaluationFailed;
			const code = isUsual(input) ? this.#codeByFrame(frames, input) : this.#codeByParsing(frames, input);
			return code ?? evaluationFailed;
		} catch {
			// Whatever a module throws (strings, traps) has one meaning to the caller: no decision, so a denial.
			return evaluationFailed;
		}
	}

	/** The result of any entrypoint. Throws `EngineError` for unknown names, undefined results and failures. */
	evaluate(entrypoint: string, input: unknown): unknown {
		this.#refuseBroken();
		const id = this.#entrypoints.find(entrypoint);
		if (id === undefined) throw new EngineError(`the policy has no entrypoint \`${entrypoint}\``);
		const question = this.#entrypoints.inputFor(entrypoint, input);
		const [first] = wrapErrors(`evaluating ${entrypoint}`, () => this.#results(id, question));
		if (first === undefined) throw new EngineError(`\`${entrypoint}\` is undefined for this input`);
		return first.result;
	}

	/** All data. For tests and for comparing replicas. Throws `EngineError` when the engine is broken. */
	dump(): Json {
		this.#refuseBroken();
		return JSON.parse(wrapErrors('dumping data', () => this.#heap.dump())) as Json;
	}

	static #instantiate(module: WebAssembly.Module, heapBytes: number): Engine {
		const initial = Math.ceil((dataBase + heapBytes + headroom) / page);
		return wrapErrors('instantiating the policy', () => new Engine(module, instantiatePolicy(module, initial)));
	}

	/** Makes a new engine and fills its heap. */
	static async #become(
		module: WebAssembly.Module,
		bytes: number,
		fill: (heap: Heap) => Promise<void>,
	): Promise<Engine> {
		const next = Engine.#instantiate(module, bytes);
		await wrapRejection('moving data', fill(next.#heap));
		next.#begin();
		return next;
	}

	/** Completes an engine that has its data. Throws `EngineError` when a trial evaluation fails. */
	#begin(): void {
		const code = this.evaluate(codeEntrypoint, smokeInput);
		if (typeof code !== 'string') throw new EngineError(`\`${codeEntrypoint}\` gave no code in a trial evaluation`);
		this.#frames?.useData(this.#heap.root);
		if (this.code(smokeInput) !== code) this.#frames = undefined;
	}

	/**
	 * Continues in a new instance. An aborted evaluation never removes its frames from the module's stack, which is
	 * small: aborts would add up until every evaluation fails.
	 */
	#renew(): void {
		const next = Engine.#instantiate(this.#module, this.heapBytes);
		wrapErrors('moving data', () => runToEnd(this.#heap.movingTo(next.#heap)));
		next.#begin();
		this.#heap = next.#heap;
		this.#frames = next.#frames;
		this.#aborts = 0;
	}

	#codeByFrame(frames: InputFrames, input: EngineInput): string | undefined {
		const { user, action, resource } = input;
		const { type, tenant, key = '' } = resource;
		this.#reserve(user.key.length + action.length + type.length + tenant.length + key.length);
		return this.#counted(() => frames.evaluate(input, this.#heap.end));
	}

	#codeByParsing(frames: InputFrames, input: EngineInput): string | undefined {
		const text = jsonText(input);
		this.#reserve(text.length);
		return this.#counted(() => frames.evaluateText(text, this.#heap.end));
	}

	#codeByText(input: EngineInput): string | undefined {
		const [first] = this.#results(this.#code, input);
		return typeof first?.result === 'string' ? first.result : undefined;
	}

	#results(entrypoint: number, input: unknown): readonly { readonly result: unknown }[] {
		const { memory } = this.#heap;
		const address = this.#counted(() => this.#evaluate(entrypoint, jsonText(input)));
		return JSON.parse(memory.textAt(address)) as readonly { readonly result: unknown }[];
	}

	/** Evaluates and returns the address of the result's JSON text. The data and everything below it stay untouched. */
	#evaluate(entrypoint: number, input: string): number {
		this.#reserve(input.length);
		const { memory, root, end } = this.#heap;
		const length = memory.writeText(input, end);
		// Blocks are aligned to 8 only if the first one is.
		const free = aligned(end + length, 8);
		return unsigned(memory.exports.opa_eval(0, entrypoint, root, end, length, free, 0));
	}

	/** Ensures memory above the data for an input of so many characters. */
	#reserve(characters: number): void {
		const { memory, end } = this.#heap;
		const wanted = characters * parsedPerByte;
		if (memory.bytes.byteLength - end < wanted + headroom / 2) memory.reserve(end, wanted);
	}

	/** Runs one evaluation, and renews the instance when too many were aborted. */
	#counted<T>(evaluation: () => T): T {
		try {
			return evaluation();
		} catch (error) {
			this.#aborts += 1;
			if (this.#aborts >= tolerableAborts) this.#renew();
			throw error;
		}
	}

	#refuseBroken(): void {
		if (this.#broken !== undefined) throw new EngineError(`the engine is broken: ${this.#broken}`);
	}
}

/** Whether an input has only the strings that a frame has places for. */
function isUsual({ user, action, resource, context, time }: EngineInput): boolean {
	if (!Number.isSafeInteger(time)) return false;
	if (context !== undefined || user.attributes !== undefined || resource.attributes !== undefined) return false;
	const { type, tenant, key = '' } = resource;
	return isText(user.key) && isText(action) && isText(type) && isText(tenant) && isText(key);
}

// Callers in plain JavaScript may pass anything.
const isText = (value: unknown): boolean => typeof value === 'string';

async function wrapRejection<T>(step: string, running: Promise<T>): Promise<T> {
	try {
		return await running;
	} catch (error) {
		throw asEngineError(step, error);
	}
}

function wrapErrors<T>(step: string, run: () => T): T {
	try {
		return run();
	} catch (error) {
		throw asEngineError(step, error);
	}
}

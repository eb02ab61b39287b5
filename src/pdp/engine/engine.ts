import type { Json, Patch } from '../../../compiler/model.js';
import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { asEngineError, EngineError } from './engine-error.js';
import { Entrypoints } from './entrypoints.js';
import { Heap, parsedPerByte } from './heap.js';
import type { InputFrames } from './input-frame.js';
import { jsonText } from './json-text.js';
import { makeFrames } from './layout-probe.js';
import { aligned, headroom, ModuleMemory, type PatchStep, page } from './module-memory.js';
import { type PolicyInstance, unsigned } from './policy-exports.js';
import { instantiatePolicy } from './policy-instance.js';

/** Runs steps that can be paused. */
export type Run = <T>(steps: Steps<T>) => Promise<T>;

const immediately: Run = async (steps) => runToEnd(steps);

export { EngineError } from './engine-error.js';

/** Role assignments on instances: resource type, role, instance name. */
export type Holdings = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, null>>>>>>;

/** Policy input: a normalized check. A typical check, without attributes and context, is passed without JSON. */
export interface EngineInput {
	readonly user: {
		readonly key: string;
		readonly attributes?: Readonly<Record<string, unknown>>;
		/** Replaces the stored role assignments. Only this program sets it; no request can. */
		readonly holdings?: Holdings;
	};
	readonly action: string;
	readonly resource: {
		readonly type: string;
		readonly key?: string;
		readonly tenant: string;
		readonly attributes?: Readonly<Record<string, unknown>>;
	};
	readonly context?: Readonly<Record<string, unknown>>;
	/** The check's contextual facts, for logs and reasons. The policy reads only the resulting `holdings`. */
	readonly contextual_facts?: object;
	/**
	 * Evaluation time in milliseconds since 1970. Facts that have expired by then are ignored. Callers cannot set this
	 * time.
	 */
	readonly time: number;
	/** The check time minus each duration in conditions, as strings keyed by duration. Callers cannot set these times. */
	readonly before?: Readonly<Record<string, string>>;
}

/** The engine properties that decisions need. */
export type DecidingEngine = Pick<Engine, 'code' | 'evaluate'>;

/** Denial code for a failed evaluation. */
export const evaluationFailed = 'evaluation_failed';

/**
 * Start address for data, unless the module is larger. The address is the same in every engine so a heap can be moved.
 */
const dataBase = 4 * 1024 * 1024;
/** Number of bytes reserved below the data for input frames. */
const framesRoom = 4 * 1024;
/** Number of heap bytes to reserve per JSON byte. The heap grows when needed. */
const heapPerByte = 4;
/** Number of patches read between two pauses. */
const stride = 200;
/** Maximum number of aborted evaluations per instance. Hundreds of aborts would exhaust the instance's stack. */
const tolerableAborts = 8;
/** The entrypoint that exists in every policy. It returns the code for a check. */
const codeEntrypoint = 'regolith/check/code';
const smokeInput: EngineInput = { user: { key: '' }, action: '', resource: { type: '', tenant: '' }, time: 0 };

/**
 * A compiled policy with the data of an environment. All methods except `load`, `fork` and `copy` are synchronous, so
 * callers never see a partly applied patch. After a failed patch, the engine is broken and denies everything.
 *
 * Only files in `engine/` access WASM memory.
 */
export class Engine {
	readonly #module: WebAssembly.Module;
	readonly #entrypoints: Entrypoints;
	readonly #code: number;
	#heap: Heap;
	/** Frames for inputs passed without JSON; `undefined` if the module has a different value layout. */
	#frames: InputFrames | undefined;
	#broken: string | undefined;
	/** Number of aborted evaluations in this instance: see `#renew`. */
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
	 * Creates an engine from a policy and `data`, a JSON object in bytes. `run` may run the steps in slices. Rejects with
	 * `EngineError` if the module is not a policy, the data is not a JSON object, or a trial evaluation fails.
	 */
	static async load(module: WebAssembly.Module, data: Uint8Array, run: Run = immediately): Promise<Engine> {
		const engine = Engine.#instantiate(module, data.byteLength * heapPerByte);
		await wrapRejection('loading data', run(engine.#heap.loading(data)));
		engine.#begin();
		return engine;
	}

	/**
	 * Creates an engine with the same data and a new policy. This engine stays unchanged. It may evaluate while the copy
	 * is made, but must not be patched. Rejects with `EngineError` like `load`.
	 */
	async fork(module: WebAssembly.Module, run: Run = immediately): Promise<Engine> {
		this.#refuseBroken();
		return Engine.#become(module, this.heapBytes, (next) => run(this.#heap.movingTo(next)));
	}

	/** Creates a second engine with the same policy and data. Otherwise like `fork`. Takes about a millisecond per MiB. */
	async copy(run: Run = immediately): Promise<Engine> {
		this.#refuseBroken();
		return Engine.#become(this.#module, this.heapBytes, (next) => run(this.#heap.cloningTo(next)));
	}

	/** Data size in memory, including free blocks, in bytes. */
	get heapBytes(): number {
		return this.#heap.bytes;
	}

	/** Total memory size of the WASM instance, in bytes. The memory never shrinks. */
	get memoryBytes(): number {
		return this.#heap.memory.bytes.byteLength;
	}

	/**
	 * True if this code writes data and inputs to memory itself, without the module's parser. False only for modules from
	 * an unknown OPA version.
	 */
	get laidOut(): boolean {
		return this.#frames !== undefined;
	}

	/** Reason why the engine denies everything; `undefined` unless a patch has failed halfway. */
	get broken(): string | undefined {
		return this.#broken;
	}

	/** Applies all patches in order. If a patch fails, throws `EngineError` and leaves the engine broken. */
	patch(patches: readonly Patch[]): void {
		runToEnd(this.patching(patches));
	}

	/** Like `patch`, in steps, for an engine that is not in use yet. */
	*patching(patches: readonly Patch[]): Steps<void> {
		this.#refuseBroken();
		const steps: PatchStep[] = [];
		for (const [index, patch] of patches.entries()) {
			if (index % stride === stride - 1) yield;
			if (patch.path.length === 0) throw new EngineError('a patch has an empty path');
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
	 * Returns the code for a check: `allow`, or the denial reason. Never throws; returns the denial `evaluation_failed`
	 * after a failure.
	 */
	code(input: EngineInput): string {
		try {
			this.#refuseBroken();
			const frames = this.#frames;
			if (frames === undefined) return this.#codeByText(input) ?? evaluationFailed;
			const code = isUsual(input) ? this.#codeByFrame(frames, input) : this.#codeByParsing(frames, input);
			return code ?? evaluationFailed;
		} catch {
			// Modules throw strings and traps. All have the same result for callers: no decision, and therefore a denial.
			return evaluationFailed;
		}
	}

	/** Evaluates any entrypoint. Throws `EngineError` for unknown names, undefined results and failures. */
	evaluate(entrypoint: string, input: unknown): unknown {
		this.#refuseBroken();
		const id = this.#entrypoints.find(entrypoint);
		if (id === undefined) throw new EngineError(`the policy has no entrypoint \`${entrypoint}\``);
		const question = this.#entrypoints.inputFor(entrypoint, input);
		const [first] = wrapErrors(`evaluating ${entrypoint}`, () => this.#results(id, question));
		if (first === undefined) throw new EngineError(`\`${entrypoint}\` is undefined for this input`);
		return first.result;
	}

	/** Returns all data, for tests and for comparing replicas. Throws `EngineError` if the engine is broken. */
	dump(): Json {
		this.#refuseBroken();
		return JSON.parse(wrapErrors('dumping data', () => this.#heap.dump())) as Json;
	}

	static #instantiate(module: WebAssembly.Module, heapBytes: number): Engine {
		const initial = Math.ceil((dataBase + heapBytes + headroom) / page);
		return wrapErrors('instantiating the policy', () => new Engine(module, instantiatePolicy(module, initial)));
	}

	/** Creates an engine and fills its heap. */
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

	/** Completes an engine after its data is loaded. Throws `EngineError` if a trial evaluation fails. */
	#begin(): void {
		const code = this.evaluate(codeEntrypoint, smokeInput);
		if (typeof code !== 'string') throw new EngineError(`\`${codeEntrypoint}\` returned no code in a trial evaluation`);
		this.#frames?.useData(this.#heap.root);
		if (this.code(smokeInput) !== code) this.#frames = undefined;
	}

	/**
	 * Continues in a new instance. An aborted evaluation never removes its frames from the module's small stack, so aborts
	 * would add up until every evaluation fails.
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

	/**
	 * Evaluates an entrypoint and returns the address of the JSON result. Does not change the data or any memory below the
	 * data.
	 */
	#evaluate(entrypoint: number, input: string): number {
		this.#reserve(input.length);
		const { memory, root, end } = this.#heap;
		const length = memory.writeText(input, end);
		// Blocks are aligned to 8 only if the first block is.
		const free = aligned(end + length, 8);
		return unsigned(memory.exports.opa_eval(0, entrypoint, root, end, length, free, 0));
	}

	/** Reserves memory above the data for an input with the given number of characters. */
	#reserve(characters: number): void {
		const { memory, end } = this.#heap;
		const wanted = characters * parsedPerByte;
		if (memory.bytes.byteLength - end < wanted + headroom / 2) memory.reserve(end, wanted);
	}

	/** Runs an evaluation, and renews the instance after too many aborts. */
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

/** True if the input fits a frame, because all its fields are plain strings. */
function isUsual({ user, action, resource, context, time, before }: EngineInput): boolean {
	if (!Number.isSafeInteger(time) || before !== undefined) return false;
	if (context !== undefined || user.attributes !== undefined || resource.attributes !== undefined) return false;
	if (user.holdings !== undefined) return false;
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

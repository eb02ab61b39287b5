import { EngineError } from './engine-error.js';
import { writeImage } from './heap-image.js';
import { collection, element, kind, number, string } from './heap-layout.js';
import { aligned, type ModuleMemory } from './module-memory.js';
import { unsigned } from './policy-exports.js';
import { utf8Bytes, utf8Text } from './text-bytes.js';

/** Strings and time of a typical check. */
export interface UsualInput {
	readonly user: { readonly key: string };
	readonly action: string;
	readonly resource: { readonly type: string; readonly tenant: string; readonly key?: string };
	/** An integer. */
	readonly time: number;
}

/**
 * Inputs for the two typical kinds of checks: with an instance key, and without. The input values stay in memory, and a
 * check only writes its strings, their lengths and the time. Neither the input nor the result is converted to JSON.
 * Other inputs are passed as JSON, but their results need no JSON.
 */
export class InputFrames {
	/** First address after the frames. */
	readonly end: number;
	readonly #start: number;
	readonly #memory: ModuleMemory;
	readonly #ofType: Frame;
	readonly #ofInstance: Frame;
	/** Evaluation context for inputs with more fields than the frames. */
	readonly #ofOthers: number;
	/** Strings in the policy text, keyed by address. All addresses are below the frames, where memory never changes. */
	readonly #known = new Map<number, string>();

	/** Creates the frames at `start`, above all memory used by the module, for evaluations of `entrypoint`. */
	constructor(memory: ModuleMemory, start: number, entrypoint: number) {
		this.#memory = memory;
		this.#start = start;
		this.#ofType = new Frame(memory, start, entrypoint, ['type', 'tenant']);
		this.#ofInstance = new Frame(memory, this.#ofType.end, entrypoint, ['type', 'tenant', 'key']);
		memory.free = this.#ofInstance.end;
		this.#ofOthers = memory.exports.opa_eval_ctx_new();
		memory.exports.opa_eval_ctx_set_entrypoint(this.#ofOthers, entrypoint);
		this.end = aligned(memory.free, 8);
	}

	/** Sets the data for evaluations. */
	useData(root: number): void {
		for (const context of [this.#ofType.context, this.#ofInstance.context, this.#ofOthers]) {
			this.#memory.exports.opa_eval_ctx_set_data(context, root);
		}
	}

	/**
	 * Evaluates a check. May overwrite all memory above `free`, which must have room for the strings. Returns the result
	 * if it is a single string, and `undefined` for any other result. Throws all errors thrown by the module.
	 */
	evaluate(input: UsualInput, free: number): string | undefined {
		const frame = this.#frameFor(input);
		const { exports } = this.#memory;
		exports.opa_heap_ptr_set(frame.fill(input, free));
		if (exports.eval(frame.context) !== 0) return undefined;
		return this.#string(unsigned(exports.opa_eval_ctx_get_result(frame.context)));
	}

	/**
	 * Evaluates a check with any fields. The module parses the check from `json`. May overwrite all memory above `free`,
	 * which must have room for the text and its parsed values. Returns and throws like `evaluate`.
	 */
	evaluateText(json: string, free: number): string | undefined {
		const { exports } = this.#memory;
		const length = this.#memory.writeText(json, free);
		// Blocks are aligned to 8 only if the first block is.
		exports.opa_heap_ptr_set(aligned(free + length, 8));
		const input = exports.opa_json_parse(free, length);
		if (input === 0) return undefined;
		exports.opa_eval_ctx_set_input(this.#ofOthers, input);
		if (exports.eval(this.#ofOthers) !== 0) return undefined;
		return this.#string(unsigned(exports.opa_eval_ctx_get_result(this.#ofOthers)));
	}

	/** Dumps the frame's input as JSON, for the layout probe. */
	dump(input: UsualInput, free: number): string {
		const frame = this.#frameFor(input);
		this.#memory.free = frame.fill(input, free);
		return this.#memory.dump(frame.input);
	}

	#frameFor({ resource }: UsualInput): Frame {
		return resource.key === undefined ? this.#ofType : this.#ofInstance;
	}

	/** Returns the string in a set that contains a single object with a single field. */
	#string(results: number): string | undefined {
		const { view } = this.#memory;
		const object = this.#first(results);
		if (object === 0) return undefined;
		const member = this.#first(view.getUint32(object, true));
		if (member === 0) return undefined;
		const value = view.getUint32(member + element.value * 4, true);
		const type = view.getUint8(value);
		if (type !== kind.string && type !== kind.lastingString) return undefined;
		return this.#known.get(value) ?? this.#read(value);
	}

	/** Returns the address of the only element in a set or object; 0 unless there is exactly one. */
	#first(values: number): number {
		const { view } = this.#memory;
		if (view.getUint32(values + collection.size * 4, true) !== 1) return 0;
		const buckets = view.getUint32(values + collection.buckets * 4, true);
		const table = view.getUint32(values + collection.table * 4, true);
		for (let at = table; at < table + buckets * 4; at += 4) {
			const found = view.getUint32(at, true);
			if (found !== 0) return found;
		}
		return 0;
	}

	#read(value: number): string {
		const { bytes, view } = this.#memory;
		const address = view.getUint32(value + string.address * 4, true);
		const length = view.getUint32(value + string.length * 4, true);
		const text = utf8Text(bytes, address, address + length);
		if (value < this.#start && address < this.#start) this.#known.set(value, text);
		return text;
	}
}

/** Time with the longest decimal text. Frames have room for this text. */
const longestTime = Number.MIN_SAFE_INTEGER;

/** An input and its evaluation context. */
class Frame {
	readonly context: number;
	readonly input: number;
	readonly end: number;
	readonly #memory: ModuleMemory;
	/** Word index for each string. */
	readonly #strings: Readonly<Record<'user' | 'action' | 'type' | 'tenant' | 'key', number>>;
	/** Word index for the time, a number. */
	readonly #timePlace: number;
	/** Time in the frame. Only written when it changes, because checks are more frequent than one per millisecond. */
	#time = longestTime;

	constructor(
		memory: ModuleMemory,
		start: number,
		entrypoint: number,
		members: readonly ('type' | 'tenant' | 'key')[],
	) {
		this.#memory = memory;
		const resource = Object.fromEntries(members.map((member) => [member, '']));
		const json = JSON.stringify({ user: { key: '' }, action: '', resource, time: longestTime });
		const { root, end } = writeImage(memory, start, utf8Bytes(json));
		this.input = root;
		const place = (...path: readonly string[]) => findWord(memory, root, path);
		this.#strings = {
			user: place('user', 'key'),
			action: place('action'),
			type: place('resource', 'type'),
			tenant: place('resource', 'tenant'),
			key: members.includes('key') ? place('resource', 'key') : 0,
		};
		this.#timePlace = place('time');
		memory.free = end;
		this.context = memory.exports.opa_eval_ctx_new();
		this.end = aligned(memory.free, 8);
		memory.exports.opa_eval_ctx_set_entrypoint(this.context, entrypoint);
		memory.exports.opa_eval_ctx_set_input(this.context, root);
	}

	/** Writes the strings from `start`. Returns the first aligned address after them. */
	fill({ user, action, resource: { type, tenant, key }, time }: UsualInput, start: number): number {
		if (time !== this.#time) this.#fillTime(time);
		const all = user.key + action + type + tenant + (key ?? '');
		const plain = this.#memory.writeText(all, start) === all.length;
		const place = this.#strings;
		let end = this.#fill(place.user, user.key, start, plain);
		end = this.#fill(place.action, action, end, plain);
		end = this.#fill(place.type, type, end, plain);
		end = this.#fill(place.tenant, tenant, end, plain);
		if (key !== undefined) end = this.#fill(place.key, key, end, plain);
		return aligned(end, 8);
	}

	/** Overwrites the time's digits. The frame has room for the longest time. */
	#fillTime(time: number): void {
		const { words } = this.#memory;
		const address = words[this.#timePlace + number.address] ?? 0;
		words[this.#timePlace + number.length] = this.#memory.writeText(String(time), address);
		this.#time = time;
	}

	/** Points a string at its bytes. If `plain`, every character is a single byte, and the bytes are already written. */
	#fill(place: number, text: string, start: number, plain: boolean): number {
		const length = plain ? text.length : this.#memory.writeText(text, start);
		const { words } = this.#memory;
		words[place + string.length] = length;
		words[place + string.address] = start;
		return start + length;
	}
}

/** Returns the word index of the value at a path in an image. */
function findWord(memory: ModuleMemory, object: number, path: readonly string[]): number {
	const { bytes, words } = memory;
	const wordAt = (index: number) => (words[index] ?? 0) >>> 2;
	const [name, ...rest] = path;
	const place = object >>> 2;
	if (name === undefined) return place;
	const table = wordAt(place + collection.table);
	for (let bucket = 0; bucket < (words[place + collection.buckets] ?? 0); bucket += 1) {
		for (let at = wordAt(table + bucket); at !== 0; at = wordAt(at + element.next)) {
			const key = wordAt(at + element.key);
			const text = (key + string.text) * 4;
			if (utf8Text(bytes, text, text + (words[key + string.length] ?? 0)) === name) {
				return findWord(memory, wordAt(at + element.value) * 4, rest);
			}
		}
	}
	throw new EngineError(`the frame has no \`${name}\``);
}

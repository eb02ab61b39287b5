import { Pauses, type Steps } from '../../../compiler/steps.js';

/** Minimum chunk length in characters. */
const minLength = 64 * 1024;

/** Number of fields written between two pauses. */
const stride = 1_000;

/** Collects JSON in chunks, for output that is too long to be written without a pause. */
class JsonChunks {
	readonly #pieces: string[] = [];
	#texts: string[] = [];
	#length = 0;

	write(text: string): void {
		this.#texts.push(text);
		this.#length += text.length;
		if (this.#length >= minLength) this.#cut();
	}

	/** Returns all written text in chunks. */
	all(): readonly string[] {
		this.#cut();
		return this.#pieces;
	}

	#cut(): void {
		if (this.#length > 0) this.#pieces.push(this.#texts.join(''));
		this.#texts = [];
		this.#length = 0;
	}
}

/** Writes an object. Each field is a key and its value in JSON. */
export function* objectChunks(members: readonly (readonly [key: string, json: string])[]): Steps<readonly string[]> {
	const pieces = new JsonChunks();
	pieces.write('{');
	for (const [index, [key, json]] of members.entries()) {
		if (index % stride === stride - 1) yield;
		pieces.write(`${index === 0 ? '' : ','}${JSON.stringify(key)}:${json}`);
	}
	pieces.write('}');
	return pieces.all();
}

/** Writes an array. Each item is JSON. */
export function* arrayChunks(items: readonly string[]): Steps<readonly string[]> {
	const pieces = new JsonChunks();
	pieces.write('[');
	for (const [index, json] of items.entries()) {
		if (index % stride === stride - 1) yield;
		pieces.write(index === 0 ? json : `,${json}`);
	}
	pieces.write(']');
	return pieces.all();
}

/** Values of at most this size are written in one step, and longer values in pieces. */
const smallSize = 200;

/** Writes a JSON value. Omits undefined fields. */
export function* valueChunks(value: unknown): Steps<readonly string[]> {
	const pieces = new JsonChunks();
	yield* writeValue(value, pieces, new Pauses(20));
	return pieces.all();
}

function* writeValue(value: unknown, pieces: JsonChunks, pauses: Pauses): Steps<void> {
	if (pauses.step()) yield;
	if (restOf(value, smallSize) >= 0) pieces.write(JSON.stringify(value));
	else if (typeof value === 'string') {
		pieces.write('"');
		for (let start = 0, end = 0; start < value.length; start = end) {
			end = start + minLength;
			// A surrogate pair that is cut in two would be escaped.
			if (/[\ud800-\udbff]/.test(value.charAt(end - 1))) end += 1;
			pieces.write(JSON.stringify(value.slice(start, end)).slice(1, -1));
			yield;
		}
		pieces.write('"');
	} else if (Array.isArray(value)) {
		for (const [index, item] of value.entries()) {
			pieces.write(index === 0 ? '[' : ',');
			yield* writeValue(item ?? null, pieces, pauses);
		}
		pieces.write(']');
	} else {
		let separator = '{';
		for (const [name, member] of Object.entries(value as object)) {
			if (member === undefined) continue;
			pieces.write(`${separator}${JSON.stringify(name)}:`);
			yield* writeValue(member, pieces, pauses);
			separator = ',';
		}
		pieces.write('}');
	}
}

/** Subtracts a value's size from `left`: its number of values, plus one per hundred characters. Stops below zero. */
function restOf(value: unknown, left: number): number {
	if (typeof value === 'string') return left - 1 - value.length / 100;
	if (typeof value !== 'object' || value === null) return left - 1;
	let rest = left - 1;
	for (const member of Array.isArray(value) ? value : Object.values(value)) {
		rest = restOf(member, rest);
		if (rest < 0) break;
	}
	return rest;
}

import type { Steps } from '../../../compiler/steps.js';

/** Minimum chunk length in characters. */
const minLength = 64 * 1024;

/** Number of members written between two pauses. */
const stride = 1_000;

/** Collects JSON in chunks, for texts that are too long to be written without a pause. */
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

/** Writes an object. Each member is a key and its value in JSON. */
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

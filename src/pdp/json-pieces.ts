import type { Steps } from './engine/steps.js';

/** How long a piece is at least, in characters. */
const enough = 64 * 1024;

/** How many members are written between two pauses. */
const stride = 1_000;

/** JSON that is too long to be written at one stretch, in pieces. */
class JsonPieces {
	readonly #pieces: string[] = [];
	#texts: string[] = [];
	#length = 0;

	/** Writes a text. */
	write(text: string): void {
		this.#texts.push(text);
		this.#length += text.length;
		if (this.#length >= enough) this.#cut();
	}

	/** All that was written. */
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

/** An object of members, each a key and the JSON of its value. */
export function* objectOf(members: readonly (readonly [key: string, json: string])[]): Steps<readonly string[]> {
	const pieces = new JsonPieces();
	pieces.write('{');
	for (const [index, [key, json]] of members.entries()) {
		if (index % stride === stride - 1) yield;
		pieces.write(`${index === 0 ? '' : ','}${JSON.stringify(key)}:${json}`);
	}
	pieces.write('}');
	return pieces.all();
}

/** An array of items, each JSON. */
export function* arrayOf(items: readonly string[]): Steps<readonly string[]> {
	const pieces = new JsonPieces();
	pieces.write('[');
	for (const [index, json] of items.entries()) {
		if (index % stride === stride - 1) yield;
		pieces.write(index === 0 ? json : `,${json}`);
	}
	pieces.write(']');
	return pieces.all();
}

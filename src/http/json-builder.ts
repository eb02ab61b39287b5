import { firstIllFormed, mayBeIllFormed, type Step } from './well-formed.js';

/** So much text, in characters, is parsed in a millisecond or two. */
const millisecondsWork = 32 * 1024;

/** What a JSON text may be. */
export interface JsonLimits {
	/** The most lists and objects within each other. */
	readonly depth: number;
	/** The most lists, objects and commas in all: so many values at least. */
	readonly values: number;
}

/** A JSON text that is too deep, or holds too much. */
export class JsonLimitError extends Error {
	constructor(readonly limit: keyof JsonLimits) {
		super(`the limit of ${limit} is exceeded`);
	}
}

/** A JSON text that stands for a text or a name with a lone surrogate. */
export class IllFormedError extends Error {
	constructor(readonly path: readonly Step[]) {
		super('a lone surrogate');
	}
}

/** Reads a whole JSON text. Throws `SyntaxError` and `IllFormedError`; limits are for the caller. */
export function parseJson(text: string): unknown {
	const value: unknown = JSON.parse(text);
	const place = mayBeIllFormed(text) ? firstIllFormed(value) : null;
	if (place !== null) throw new IllFormedError(place);
	return value;
}

type Container = unknown[] | Record<string, unknown>;

/** A list or an object that is open. Offsets count the characters of the whole text. */
interface Level {
	readonly list: boolean;
	/** What is built of it, from when a part of its text is no longer kept. */
	built: Container | undefined;
	/** Its place in the level around it, once that is built. */
	place: Step;
	/** What stands before the text that is not parsed yet. */
	lead: 'bracket' | 'value' | 'comma';
	/** Where that text begins. */
	from: number;
	/** After the last comma in it; `from` when it has none. */
	comma: number;
}

/**
 * Builds the value of a JSON text that comes in parts, as `JSON.parse` would of the whole. A part is searched for brackets,
 * commas and strings only; runs of whole members or items are then given to `JSON.parse`. So no part holds the event loop
 * for long, and a text that is too deep or holds too much is refused before it is built.
 */
export class JsonBuilder {
	readonly #limits: JsonLimits;
	readonly #pieceLength: number;
	readonly #levels: Level[] = [];
	/** The text from `#base` to `#end`. */
	#text = '';
	#base = 0;
	#end = 0;
	#inString = false;
	#escaped = false;
	#values = 0;
	/** The outermost list or object, once it is begun. */
	#root: Container | undefined;

	/** `pieceLength` is how much text waits, in characters, before what is complete of it is parsed. */
	constructor(limits: JsonLimits, pieceLength = millisecondsWork) {
		this.#limits = limits;
		this.#pieceLength = pieceLength;
	}

	/** Takes the next part. Throws `SyntaxError`, `JsonLimitError` or `IllFormedError`, as soon as it can tell. */
	add(part: string): void {
		this.#text += part;
		this.#scan(part);
		this.#end += part.length;
		if (this.#end - this.#base >= this.#pieceLength) this.#buildComplete();
	}

	/** The value of the whole text. Throws as `add` does. */
	finish(): unknown {
		if (this.#root === undefined) return parseJson(this.#text);
		if (this.#levels.length > 0) throw new SyntaxError('Unexpected end of JSON input');
		requireBlank(this.#text, this.#base);
		return this.#root;
	}

	#scan(part: string): void {
		for (let index = 0; index < part.length; index++) {
			const code = part.charCodeAt(index);
			if (this.#inString) {
				if (this.#escaped) this.#escaped = false;
				else if (code === 92) this.#escaped = true;
				else if (code === 34) this.#inString = false;
			} else if (code === 34) this.#inString = true;
			else if (code === 44) this.#separate(this.#end + index);
			else if (code === 91 || code === 123) this.#open(code === 91, this.#end + index);
			else if (code === 93 || code === 125) this.#close(code === 93, this.#end + index);
		}
	}

	#count(): void {
		this.#values += 1;
		if (this.#values > this.#limits.values) throw new JsonLimitError('values');
	}

	#open(list: boolean, at: number): void {
		this.#count();
		if (this.#levels.length === this.#limits.depth) throw new JsonLimitError('depth');
		this.#levels.push({ list, built: undefined, place: 0, lead: 'bracket', from: at + 1, comma: at + 1 });
	}

	#separate(at: number): void {
		this.#count();
		const level = this.#levels.at(-1);
		if (level === undefined) throw unexpected(at);
		level.comma = at + 1;
	}

	#close(list: boolean, at: number): void {
		const level = this.#levels.pop();
		if (level === undefined) throw unexpected(at);
		// What is still text is parsed with the text around it.
		if (level.built === undefined) return;
		if (level.list !== list) throw unexpected(at);
		this.#append(level, at, false);
		const around = this.#levels.at(-1);
		if (around === undefined) this.#forget(at + 1);
		else Object.assign(around, { lead: 'value', from: at + 1, comma: at + 1 });
	}

	/** Builds what is complete of the levels that are open: the members and items before their last commas. */
	#buildComplete(): void {
		for (const [depth, level] of this.#levels.entries()) {
			if (level.built === undefined) this.#begin(level, this.#levels[depth - 1]);
		}
		const level = this.#levels.at(-1);
		if (level === undefined) return;
		if (level.comma > level.from) this.#append(level, level.comma, true);
		this.#forget(level.from);
	}

	/** Begins a level whose end is not there yet, in the level around it. */
	#begin(level: Level, around: Level | undefined): void {
		const bracket = level.from - 1;
		level.built = level.list ? [] : {};
		if (around?.built === undefined) {
			if (this.#root !== undefined) throw unexpected(bracket);
			requireBlank(this.#slice(this.#base, bracket), this.#base);
			this.#root = level.built;
			return;
		}
		if (around.comma > around.from) this.#append(around, around.comma, true);
		else if (around.lead === 'value') throw unexpected(bracket);
		level.place = this.#placeBefore(bracket, around);
		put(around.built, level.place, level.built);
	}

	/** Where in `around` the list or object stands that begins at `bracket`. */
	#placeBefore(bracket: number, around: Level): Step {
		const before = this.#slice(around.from, bracket);
		if (Array.isArray(around.built)) {
			requireBlank(before, around.from);
			return around.built.length;
		}
		const [name, ...others] = Object.keys(this.#parse(`{${before}null}`, around.from) as object);
		if (name === undefined || others.length > 0) throw unexpected(bracket);
		if (mayBeIllFormed(before)) requireWellFormed(null, [...this.#pathOf(around), name]);
		return name;
	}

	/** Builds the text of a level up to `to`: its end, or after a comma where `more` follows. */
	#append(level: Level, to: number, more: boolean): void {
		const { from } = level;
		const members = membersIn(this.#slice(from, more ? to - 1 : to), level, more);
		Object.assign(level, { lead: more ? 'comma' : 'value', from: to, comma: to });
		if (members === null) return;
		const parsed = this.#parse(level.list ? `[${members}]` : `{${members}}`, from);
		const suspicious = mayBeIllFormed(members);
		for (const [name, value] of Array.isArray(parsed) ? parsed.entries() : Object.entries(parsed as object)) {
			const place = Array.isArray(level.built) ? level.built.length : String(name);
			if (suspicious) requireWellFormed(value, [...this.#pathOf(level), place]);
			put(level.built, place, value);
		}
	}

	#parse(text: string, from: number): unknown {
		try {
			return JSON.parse(text);
		} catch (error) {
			const what = error instanceof Error ? error.message.replace(/( in JSON)? at position.*$/s, '') : String(error);
			throw new SyntaxError(`${what}, after character ${from}`);
		}
	}

	/** The place of a level that is built; it may just have been closed. */
	#pathOf(level: Level): readonly Step[] {
		const last = this.#levels.indexOf(level);
		const levels = last === -1 ? [...this.#levels, level] : this.#levels.slice(0, last + 1);
		return levels.slice(1).map(({ place }) => place);
	}

	#slice(from: number, to: number): string {
		return this.#text.slice(from - this.#base, to - this.#base);
	}

	#forget(before: number): void {
		this.#text = this.#text.slice(before - this.#base);
		this.#base = before;
	}
}

const blank = /^[ \t\n\r]*$/;
const leadingComma = /^[ \t\n\r]*,/;

/** The members or items in a text of a level; `null` when there are none. A comma after the text is not part of it. */
function membersIn(text: string, { lead, from }: Level, more: boolean): string | null {
	const empty = blank.test(text);
	if (empty && (lead === 'value' || (lead === 'bracket' && !more))) return null;
	const members = lead === 'value' ? text.replace(leadingComma, '') : text;
	if (members === text && lead === 'value') throw unexpected(from);
	if (empty || blank.test(members)) throw unexpected(from + text.length);
	return members;
}

/** As `JSON.parse` sets members: also one called `__proto__`. */
function put(container: Container | undefined, place: Step, value: unknown): void {
	if (Array.isArray(container)) container.push(value);
	else if (place !== '__proto__') (container as Record<string, unknown>)[place] = value;
	else Object.defineProperty(container, place, { value, enumerable: true, configurable: true, writable: true });
}

function requireBlank(text: string, from: number): void {
	if (!blank.test(text)) throw unexpected(from + text.search(/[^ \t\n\r]/));
}

/** Refuses a value, or its name, for what is no Unicode. `path` is the value's. */
function requireWellFormed(value: unknown, path: readonly Step[]): void {
	const place = firstIllFormed(path.at(-1)) === null ? firstIllFormed(value) : [];
	if (place !== null) throw new IllFormedError([...path, ...place]);
}

function unexpected(at: number): SyntaxError {
	return new SyntaxError(`Unexpected character at ${at}`);
}

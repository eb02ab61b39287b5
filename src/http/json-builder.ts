import { firstIllFormed, mayBeIllFormed, type Step } from './well-formed.js';

/** Number of characters that can be parsed in a millisecond or two. */
const millisecondsWork = 32 * 1024;

export interface JsonLimits {
	/** Maximum nesting depth. */
	readonly depth: number;
	/** Maximum number of lists, objects and commas. This is about the number of values. */
	readonly values: number;
	/** Maximum number of characters per string, name or number, as written. */
	readonly token: number;
	/** Maximum number of fields per object. A repeated name is counted each time. */
	readonly members: number;
	/** Nesting level at which objects may have any number of fields. The outermost list or object is level 1. */
	readonly mapLevel?: number | undefined;
}

/** Thrown when a JSON text exceeds a limit. */
export class JsonLimitError extends Error {
	constructor(readonly limit: 'depth' | 'values' | 'token' | 'members') {
		super(`the ${limit} limit is exceeded`);
	}
}

/** Thrown for a lone surrogate in a string or a name. */
export class IllFormedError extends Error {
	constructor(readonly path: readonly Step[]) {
		super('a lone surrogate');
	}
}

/** Parses a complete JSON text. Throws `SyntaxError` and `IllFormedError`. Does not check limits; the caller does. */
export function parseJson(text: string): unknown {
	const value: unknown = JSON.parse(text);
	const place = mayBeIllFormed(text) ? firstIllFormed(value) : null;
	if (place !== null) throw new IllFormedError(place);
	return value;
}

type Container = unknown[] | Record<string, unknown>;

/** A list or object whose end has not been read. Offsets are in characters from the start of the text. */
interface Level {
	readonly list: boolean;
	/** The value built so far. It is set when its parsed text is dropped. */
	built: Container | undefined;
	/** Position in the parent level. It is set when the parent has a value. */
	place: Step;
	/** Kind of token before the unparsed text. */
	lead: 'bracket' | 'value' | 'comma';
	/** Offset at which the unparsed text starts. */
	from: number;
	/** Offset after the last comma in the unparsed text; equal to `from` if there is no comma. */
	comma: number;
	/** Number of commas in the level. */
	commas: number;
}

/**
 * Parses JSON incrementally, with the same result as `JSON.parse`. Each part is only scanned for brackets, commas and
 * strings. Runs of complete fields or items are then passed to `JSON.parse`. No part occupies the event loop for long,
 * and a text that exceeds a limit is rejected before its value is built.
 */
export class JsonBuilder {
	readonly #limits: JsonLimits;
	readonly #pieceLength: number;
	readonly #levels: Level[] = [];
	/** The text from the offset `#base` to `#end`. */
	#text = '';
	#base = 0;
	#end = 0;
	#inString = false;
	#escaped = false;
	/** Offset at which the unfinished string, name, number or run of white space starts. */
	#token = 0;
	#values = 0;
	/** Outermost list or object, set when its value is first built. */
	#root: Container | undefined;

	/** `pieceLength` is the number of characters to collect before complete fields are parsed. */
	constructor(limits: JsonLimits, pieceLength = millisecondsWork) {
		this.#limits = limits;
		this.#pieceLength = pieceLength;
	}

	/** Adds the next part. Throws `SyntaxError`, `JsonLimitError` or `IllFormedError` as early as possible. */
	add(part: string): void {
		this.#text += part;
		this.#scan(part);
		this.#end += part.length;
		this.#requireShort(this.#end);
		if (this.#end - this.#base >= this.#pieceLength) this.#buildComplete();
	}

	/** Returns the complete value. Throws the same errors as `add`. */
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
				else if (code === 34) this.#quote(this.#end + index);
			} else if (code === 34) this.#quote(this.#end + index);
			else if (code === 44) this.#separate(this.#end + index);
			else if (code === 91 || code === 123) this.#open(code === 91, this.#end + index);
			else if (code === 93 || code === 125) this.#close(code === 93, this.#end + index);
		}
	}

	#quote(at: number): void {
		this.#inString = !this.#inString;
		this.#beginToken(at);
	}

	/** Ends a token at this character; the next token starts after it. */
	#beginToken(at: number): void {
		this.#requireShort(at);
		this.#token = at + 1;
	}

	#requireShort(end: number): void {
		if (end - this.#token > this.#limits.token) throw new JsonLimitError('token');
	}

	#count(at: number): void {
		this.#beginToken(at);
		this.#values += 1;
		if (this.#values > this.#limits.values) throw new JsonLimitError('values');
	}

	#open(list: boolean, at: number): void {
		this.#count(at);
		if (this.#levels.length === this.#limits.depth) throw new JsonLimitError('depth');
		this.#levels.push({ list, built: undefined, place: 0, lead: 'bracket', from: at + 1, comma: at + 1, commas: 0 });
	}

	#separate(at: number): void {
		this.#count(at);
		const level = this.#levels.at(-1);
		if (level === undefined) throw unexpected(at);
		level.comma = at + 1;
		level.commas += 1;
		if (level.list || level.commas < this.#limits.members) return;
		if (this.#levels.length !== this.#limits.mapLevel) throw new JsonLimitError('members');
	}

	#close(list: boolean, at: number): void {
		this.#beginToken(at);
		const level = this.#levels.pop();
		if (level === undefined) throw unexpected(at);
		// A level for which no value was built yet is parsed together with its parent.
		if (level.built === undefined) return;
		if (level.list !== list) throw unexpected(at);
		this.#append(level, at, false);
		const around = this.#levels.at(-1);
		if (around === undefined) this.#forget(at + 1);
		else Object.assign(around, { lead: 'value', from: at + 1, comma: at + 1 });
	}

	/** Builds the complete fields and items in open levels, up to each level's last comma. */
	#buildComplete(): void {
		for (const [depth, level] of this.#levels.entries()) {
			if (level.built === undefined) this.#begin(level, this.#levels[depth - 1]);
		}
		const level = this.#levels.at(-1);
		if (level === undefined) return;
		if (level.comma > level.from) this.#append(level, level.comma, true);
		this.#forget(level.from);
	}

	/** Starts the value of an unfinished level inside its parent. */
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

	/** Returns the position in `around` for the list or object that starts at the offset `bracket`. */
	#placeBefore(bracket: number, around: Level): Step {
		const before = this.#slice(around.from, bracket);
		if (Array.isArray(around.built)) {
			requireBlank(before, around.from);
			return around.built.length;
		}
		const [name, ...others] = Object.keys(this.#parse(`{${before}null}`, around.from) as object);
		if (name === undefined || others.length > 0) throw unexpected(bracket);
		if (mayBeIllFormed(before)) requireWellFormed(null, [...this.#levelPath(around), name]);
		return name;
	}

	/**
	 * Builds the fields of a level up to the offset `to`. This is the end of the level or, if `more` members follow,
	 * the offset after a comma.
	 */
	#append(level: Level, to: number, more: boolean): void {
		const { from } = level;
		const members = membersIn(this.#slice(from, more ? to - 1 : to), level, more);
		Object.assign(level, { lead: more ? 'comma' : 'value', from: to, comma: to });
		if (members === null) return;
		const parsed = this.#parse(level.list ? `[${members}]` : `{${members}}`, from);
		const suspicious = mayBeIllFormed(members);
		for (const [name, value] of Array.isArray(parsed) ? parsed.entries() : Object.entries(parsed as object)) {
			const place = Array.isArray(level.built) ? level.built.length : String(name);
			if (suspicious) requireWellFormed(value, [...this.#levelPath(level), place]);
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

	/** Returns the path to a level, which may just have been closed. */
	#levelPath(level: Level): readonly Step[] {
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

/** Returns the fields or items in a level's text, without a trailing comma; `null` if there are none. */
function membersIn(text: string, { lead, from }: Level, more: boolean): string | null {
	const empty = blank.test(text);
	if (empty && (lead === 'value' || (lead === 'bracket' && !more))) return null;
	const members = lead === 'value' ? text.replace(leadingComma, '') : text;
	if (members === text && lead === 'value') throw unexpected(from);
	if (empty || blank.test(members)) throw unexpected(from + text.length);
	return members;
}

/** Sets a field in the same way as `JSON.parse`, even if its name is `__proto__`. */
function put(container: Container | undefined, place: Step, value: unknown): void {
	if (Array.isArray(container)) container.push(value);
	else if (place !== '__proto__') (container as Record<string, unknown>)[place] = value;
	else Object.defineProperty(container, place, { value, enumerable: true, configurable: true, writable: true });
}

function requireBlank(text: string, from: number): void {
	if (!blank.test(text)) throw unexpected(from + text.search(/[^ \t\n\r]/));
}

/** Rejects a value if it or its name is not valid Unicode. `path` is the value's path. */
function requireWellFormed(value: unknown, path: readonly Step[]): void {
	const place = firstIllFormed(path.at(-1)) === null ? firstIllFormed(value) : [];
	if (place !== null) throw new IllFormedError([...path, ...place]);
}

function unexpected(at: number): SyntaxError {
	return new SyntaxError(`Unexpected character at ${at}`);
}

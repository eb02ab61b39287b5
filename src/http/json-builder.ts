import { firstIllFormed, mayBeIllFormed, type Step } from './well-formed.js';

/** How many characters of text are parsed in a millisecond or two. */
const millisecondsWork = 32 * 1024;

/** The limits of a JSON text. */
export interface JsonLimits {
	/** The deepest nesting of lists and objects. */
	readonly depth: number;
	/** The most lists, objects and commas in all, and so about the most values. */
	readonly values: number;
	/** The most characters of one text, name or number, as it is written. */
	readonly token: number;
	/** The most members of one object. A repeated name counts each time. */
	readonly members: number;
	/** The level whose objects may have more members; the outermost list or object is level 1. */
	readonly mapLevel?: number | undefined;
}

/** A JSON text that exceeds a limit. */
export class JsonLimitError extends Error {
	constructor(readonly limit: 'depth' | 'values' | 'token' | 'members') {
		super(`the limit of ${limit} is exceeded`);
	}
}

/** A JSON text with a lone surrogate in a text or a name. */
export class IllFormedError extends Error {
	constructor(readonly path: readonly Step[]) {
		super('a lone surrogate');
	}
}

/** Parses a whole JSON text. Throws `SyntaxError` and `IllFormedError`; limits are for the caller to check. */
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
	/** The value built so far, once part of its text has been dropped. */
	built: Container | undefined;
	/** Its place in the level around it, once that has a value. */
	place: Step;
	/** What comes before the text that is not parsed yet. */
	lead: 'bracket' | 'value' | 'comma';
	/** Where that text begins. */
	from: number;
	/** After the last comma in it; `from` when it has none. */
	comma: number;
	/** How many commas it has. */
	commas: number;
}

/**
 * Builds the value of a JSON text that arrives in parts, as `JSON.parse` would from the whole. Each part is only
 * scanned for brackets, commas and strings; runs of complete members or items then go to `JSON.parse`. So no part holds
 * the event loop for long, and a text that exceeds a limit is refused before it is built.
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
	/** The start of the unfinished text, name or number, or of the blanks between two of them. */
	#token = 0;
	#values = 0;
	/** The outermost list or object, once it has been started. */
	#root: Container | undefined;

	/** `pieceLength` is how many characters to collect before their complete members are parsed. */
	constructor(limits: JsonLimits, pieceLength = millisecondsWork) {
		this.#limits = limits;
		this.#pieceLength = pieceLength;
	}

	/** Takes the next part. Throws `SyntaxError`, `JsonLimitError` or `IllFormedError`, as soon as it can tell. */
	add(part: string): void {
		this.#text += part;
		this.#scan(part);
		this.#end += part.length;
		this.#requireShort(this.#end);
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

	/** Ends a token with this character; the next one begins after it. */
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
		// A level without a value is parsed with the text around it.
		if (level.built === undefined) return;
		if (level.list !== list) throw unexpected(at);
		this.#append(level, at, false);
		const around = this.#levels.at(-1);
		if (around === undefined) this.#forget(at + 1);
		else Object.assign(around, { lead: 'value', from: at + 1, comma: at + 1 });
	}

	/** Builds the complete members and items of the open levels: those before their last commas. */
	#buildComplete(): void {
		for (const [depth, level] of this.#levels.entries()) {
			if (level.built === undefined) this.#begin(level, this.#levels[depth - 1]);
		}
		const level = this.#levels.at(-1);
		if (level === undefined) return;
		if (level.comma > level.from) this.#append(level, level.comma, true);
		this.#forget(level.from);
	}

	/** Starts the value of an unfinished level, in the level around it. */
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

	/** The place in `around` of the list or object that begins at `bracket`. */
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

	/** Builds the members of a level up to `to`: its end, or after a comma when `more` follows. */
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

	/** The path to a level, which may just have been closed. */
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

/** The members or items in a level's text; `null` when there are none. A comma after the text is not part of it. */
function membersIn(text: string, { lead, from }: Level, more: boolean): string | null {
	const empty = blank.test(text);
	if (empty && (lead === 'value' || (lead === 'bracket' && !more))) return null;
	const members = lead === 'value' ? text.replace(leadingComma, '') : text;
	if (members === text && lead === 'value') throw unexpected(from);
	if (empty || blank.test(members)) throw unexpected(from + text.length);
	return members;
}

/** Sets a member as `JSON.parse` does, even one called `__proto__`. */
function put(container: Container | undefined, place: Step, value: unknown): void {
	if (Array.isArray(container)) container.push(value);
	else if (place !== '__proto__') (container as Record<string, unknown>)[place] = value;
	else Object.defineProperty(container, place, { value, enumerable: true, configurable: true, writable: true });
}

function requireBlank(text: string, from: number): void {
	if (!blank.test(text)) throw unexpected(from + text.search(/[^ \t\n\r]/));
}

/** Refuses a value, or its name, that is not Unicode. `path` is the value's. */
function requireWellFormed(value: unknown, path: readonly Step[]): void {
	const place = firstIllFormed(path.at(-1)) === null ? firstIllFormed(value) : [];
	if (place !== null) throw new IllFormedError([...path, ...place]);
}

function unexpected(at: number): SyntaxError {
	return new SyntaxError(`Unexpected character at ${at}`);
}

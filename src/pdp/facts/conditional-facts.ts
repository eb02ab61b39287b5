import type { Attributes, Json } from '../../../compiler/model.js';
import type { Steps } from '../../../compiler/steps.js';
import { jsonMember } from './json-members.js';

/** A fact that counts only in checks in which its condition holds. */
interface ConditionalFact {
	/** Condition key. */
	readonly set: string;
	/** Condition values. */
	readonly values: Attributes;
	/** Expiry in milliseconds since 1970; `null` if the fact does not expire. */
	readonly until: number | null;
}

/** A user's conditional assignment on an instance. */
export interface ConditionalRole extends ConditionalFact {
	readonly instance: string;
	readonly role: string;
}

/** A conditional relationship between two instances. */
export interface ConditionalRelationship extends ConditionalFact {
	readonly object: string;
	readonly relation: string;
	readonly subject: string;
}

/** Decides whether the conditions of assignments and relationships hold in a check. */
export interface ConditionTest {
	/** True if only the engine can decide some condition. */
	readonly uncertain: boolean;
	holds(fact: ConditionalRole | ConditionalRelationship): boolean;
}

/** A fact with the names that it connects. */
interface Entry<Fact> {
	readonly left: string;
	readonly right: string;
	readonly fact: Fact;
}

/** Entries in nested maps, with a level for each name in their paths. */
type Level<Fact> = Map<string, Level<Fact> | Entry<Fact>>;

/** Conditional facts between two names, such as user and instance. A fact can be found from both ends. */
export class ConditionalFacts<Fact extends ConditionalFact> {
	/** Entries by path. Paths begin with the left name. */
	#byPath: Level<Fact> = new Map();
	readonly #byRight = new Map<string, Set<Entry<Fact>>>();

	private constructor(private readonly read: (path: readonly string[], value: Json) => readonly [Fact, string]) {}

	/** Returns an index of conditional assignments, from users to instances. */
	static ofRoles(): ConditionalFacts<ConditionalRole> {
		return new ConditionalFacts(([, , role = '', instance = '', set = ''], value) => [
			{ instance, role, set, ...entryIn(value) },
			instance,
		]);
	}

	/** Returns an index of conditional relationships, from objects to subjects. */
	static ofRelationships(): ConditionalFacts<ConditionalRelationship> {
		return new ConditionalFacts(([object = '', relation = '', subject = '', set = ''], value) => [
			{ object, relation, subject, set, ...entryIn(value) },
			subject,
		]);
	}

	/** Copies `other` into this object. `other` must not change during the copy. */
	*copyingFrom(other: ConditionalFacts<Fact>): Steps<void> {
		this.#byPath = yield* this.#copyingLevel(other.#byPath);
	}

	/** True if there are no conditional facts. */
	get isEmpty(): boolean {
		return this.#byPath.size === 0;
	}

	/** True if a left name has conditional facts, valid or expired. */
	has(left: string): boolean {
		return this.#byPath.has(left);
	}

	/** All left names with conditional facts. */
	get leftNames(): Iterable<string> {
		return this.#byPath.keys();
	}

	/** Yields a left name's facts that are valid at `time`, in milliseconds since 1970. */
	*from(left: string, time: number): Iterable<Fact> {
		for (const { fact } of entriesAt(this.#byPath.get(left))) if (isValid(fact, time)) yield fact;
	}

	/** Yields a right name's facts that are valid at `time`, each with its left name. */
	*to(right: string, time: number): Iterable<readonly [left: string, fact: Fact]> {
		for (const { left, fact } of this.#byRight.get(right) ?? []) if (isValid(fact, time)) yield [left, fact];
	}

	/** Adds a fact, at a path that begins with its left name. */
	add(path: readonly string[], value: Json): void {
		this.clear(path);
		const [fact, right] = this.read(path, value);
		let level = this.#byPath;
		for (const name of path.slice(0, -1)) {
			const known = level.get(name);
			const next: Level<Fact> = known instanceof Map ? known : new Map();
			level.set(name, next);
			level = next;
		}
		level.set(path.at(-1) ?? '', this.#linked({ left: path[0] ?? '', right, fact }));
	}

	/** Removes all facts whose paths begin with a path. */
	clear(path: readonly string[]): void {
		this.#clearIn(this.#byPath, path);
	}

	/** Removes a level's facts whose paths continue with a path, and the levels that become empty. */
	#clearIn(level: Level<Fact>, [name, ...below]: readonly string[]): void {
		if (name === undefined) {
			for (const entry of entriesAt(level)) this.#unlink(entry);
			level.clear();
			return;
		}
		const found = level.get(name);
		if (found instanceof Map) this.#clearIn(found, below);
		else if (found !== undefined) this.#unlink(found);
		if (!(found instanceof Map) || found.size === 0) level.delete(name);
	}

	*#copyingLevel(level: Level<Fact>): Steps<Level<Fact>> {
		const copy: Level<Fact> = new Map();
		for (const [name, below] of level) {
			copy.set(name, below instanceof Map ? yield* this.#copyingLevel(below) : this.#linked(below));
			yield;
		}
		return copy;
	}

	/** Indexes an entry by its right name. */
	#linked(entry: Entry<Fact>): Entry<Fact> {
		const known = this.#byRight.get(entry.right) ?? new Set();
		this.#byRight.set(entry.right, known.add(entry));
		return entry;
	}

	#unlink(entry: Entry<Fact>): void {
		const known = this.#byRight.get(entry.right);
		known?.delete(entry);
		if (known?.size === 0) this.#byRight.delete(entry.right);
	}
}

/** Yields all entries in a level. */
function* entriesAt<Fact>(level: Level<Fact> | Entry<Fact> | undefined): Iterable<Entry<Fact>> {
	if (level instanceof Map) for (const below of level.values()) yield* entriesAt(below);
	else if (level !== undefined) yield level;
}

function isValid({ until }: ConditionalFact, time: number): boolean {
	return until === null || until > time;
}

function entryIn(value: Json): Pick<ConditionalFact, 'values' | 'until'> {
	const until = jsonMember(value, 'until');
	const values = jsonMember(value, 'values');
	return {
		values: typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as Attributes) : {},
		until: typeof until === 'number' ? until : null,
	};
}

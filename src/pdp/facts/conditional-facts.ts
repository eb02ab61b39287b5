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

/** Conditional facts between two names, such as user and instance. A fact can be found from both ends. */
export class ConditionalFacts<Fact extends ConditionalFact> {
	/** Facts of each left name, keyed by path. */
	readonly #byLeft = new Map<string, Map<string, readonly [right: string, fact: Fact]>>();
	/** Facts of each right name, each with its left name, keyed by path including the left name. */
	readonly #byRight = new Map<string, Map<string, readonly [left: string, fact: Fact]>>();

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
		for (const [left, facts] of other.#byLeft) {
			for (const [name, [right, fact]] of facts) {
				this.#set(left, name, right, fact);
				yield;
			}
		}
	}

	/** True if there are no such facts. */
	get isEmpty(): boolean {
		return this.#byLeft.size === 0;
	}

	/** True if a left name has such facts, valid or expired. */
	has(left: string): boolean {
		return this.#byLeft.has(left);
	}

	/** All left names with such facts. */
	get leftNames(): Iterable<string> {
		return this.#byLeft.keys();
	}

	/** Yields a left name's facts that are valid at `time`, in milliseconds since 1970. */
	*from(left: string, time: number): Iterable<Fact> {
		for (const [, fact] of this.#byLeft.get(left)?.values() ?? []) {
			if (fact.until === null || fact.until > time) yield fact;
		}
	}

	/** Yields a right name's facts that are valid at `time`, each with its left name. */
	*to(right: string, time: number): Iterable<readonly [left: string, fact: Fact]> {
		for (const entry of this.#byRight.get(right)?.values() ?? []) {
			const [, { until }] = entry;
			if (until === null || until > time) yield entry;
		}
	}

	/** Adds a fact, at a path that begins with its left name. */
	add(path: readonly string[], value: Json): void {
		const [left = '', ...below] = path;
		const [fact, right] = this.read(path, value);
		this.#set(left, JSON.stringify(below), right, fact);
	}

	/** Removes all facts whose paths begin with a path. */
	clear([left, ...path]: readonly string[]): void {
		const name = JSON.stringify(path);
		for (const one of left === undefined ? [...this.#byLeft.keys()] : [left]) {
			const facts = this.#byLeft.get(one);
			const names = facts?.has(name) ? [name] : [...(facts?.keys() ?? [])];
			for (const found of names) if (startsWith(JSON.parse(found), path)) this.#delete(one, found);
		}
	}

	#set(left: string, name: string, right: string, fact: Fact): void {
		const facts = this.#byLeft.get(left) ?? new Map<string, readonly [string, Fact]>();
		this.#byLeft.set(left, facts.set(name, [right, fact]));
		const others = this.#byRight.get(right) ?? new Map<string, readonly [string, Fact]>();
		this.#byRight.set(right, others.set(JSON.stringify([left, name]), [left, fact]));
	}

	#delete(left: string, name: string): void {
		const facts = this.#byLeft.get(left);
		const [right] = facts?.get(name) ?? [''];
		facts?.delete(name);
		if (facts?.size === 0) this.#byLeft.delete(left);
		const others = this.#byRight.get(right);
		others?.delete(JSON.stringify([left, name]));
		if (others?.size === 0) this.#byRight.delete(right);
	}
}

function entryIn(value: Json): Pick<ConditionalFact, 'values' | 'until'> {
	const until = jsonMember(value, 'until');
	const values = jsonMember(value, 'values');
	return {
		values: typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as Attributes) : {},
		until: typeof until === 'number' ? until : null,
	};
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
	return start.every((name, index) => path[index] === name);
}

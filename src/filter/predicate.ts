/**
 * Predicates over rows, between the residual and the writers.
 *
 * A predicate has no negation, and a test other than `missing` is true only if each of its columns has a value.
 * Therefore a target with three-valued logic, such as SQL, gives the same result as two-valued logic: an unknown test
 * counts as false, and nothing negates it.
 */

import { Pauses, runToEnd, type Steps } from '../../compiler/steps.js';

/**
 * Kind of the values in a column. `number` columns may contain values beyond ±(2^53 - 1), `integer` columns do not.
 * `other` columns, such as arrays, can only be tested for a value.
 */
export type ColumnKind = 'string' | 'uuid' | 'number' | 'integer' | 'boolean' | 'time' | 'other';

export interface PredicateColumn {
	/** `key`, `tenant`, or the attribute's path, joined with dots. */
	readonly name: string;
	readonly kind: ColumnKind;
	/** If set, every row has a value. */
	readonly required: boolean;
}

/**
 * Limits of operators: `exact` for numbers from -(2^53 - 1) to 2^53 - 1, `searched` for strings up to the maximum
 * length of a searched string.
 */
export type Bound = 'exact' | 'searched';

export type Scalar = string | number | boolean;

export type Relation = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';

/** A test of a row. `name` is the condition set that needs it. */
export type PredicateTest =
	/** True if the column has no value, or has a value. */
	| { readonly kind: 'missing' | 'present'; readonly column: PredicateColumn }
	| { readonly kind: 'inside' | 'outside'; readonly column: PredicateColumn; readonly bound: Bound }
	/**
	 * Strings are ordered by code point. For a time column, the relation is `lt` or `ge`, and the value is a time in
	 * milliseconds since 1970.
	 */
	| {
			readonly kind: 'compare';
			readonly column: PredicateColumn;
			readonly relation: Relation;
			readonly operand: { readonly value: Scalar } | { readonly column: PredicateColumn };
			readonly name: string;
	  }
	/** `values` is never empty. Not used for time columns. */
	| {
			readonly kind: 'in' | 'not-in';
			readonly column: PredicateColumn;
			readonly values: readonly Scalar[];
			readonly name: string;
	  }
	/** Substring search. `text` is never empty. */
	| {
			readonly kind: 'search';
			readonly column: PredicateColumn;
			readonly place: 'start' | 'end' | 'anywhere';
			readonly text: string;
			readonly found: boolean;
			readonly name: string;
	  };

/** An empty `all` is always true, an empty `any` never. Parts never have their parent's kind. */
export type Predicate = { readonly kind: 'all' | 'any'; readonly parts: readonly Predicate[] } | PredicateTest;

export const always: Predicate = { kind: 'all', parts: [] };
export const never: Predicate = { kind: 'any', parts: [] };

export function allOf(...parts: readonly Predicate[]): Predicate {
	return runToEnd(joinParts('all', parts));
}

export function anyOf(...parts: readonly Predicate[]): Predicate {
	return runToEnd(joinParts('any', parts));
}

/** Maximum number of tests for which implications are searched, because each pair of tests is compared. */
const mostCompared = 64;

/**
 * Joins parts, without nesting, repetition and constants. If there are only a few parts, also removes parts that follow
 * from their siblings.
 */
export function* joinParts(
	kind: 'all' | 'any',
	parts: readonly Predicate[],
	pauses = new Pauses(50),
): Steps<Predicate> {
	const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
	const dual = kind === 'all' ? never : always;
	if (flat.some((part) => 'parts' in part && part.kind === dual.kind && part.parts.length === 0)) return dual;
	const [single] = flat;
	if (single !== undefined && flat.length === 1) return single;
	const byText = new Map<string, Predicate>();
	let size = 0;
	for (const part of flat) {
		if (pauses.step()) yield;
		const text = textOf(part);
		if (byText.has(text)) continue;
		byText.set(text, part);
		size += sizeOf(part);
	}
	const different = [...byText.values()];
	const kept = size > mostCompared ? different : withoutRedundant(kind, different);
	const missing = new Set(kept.flatMap((part) => (part.kind === 'missing' ? part.column.name : [])));
	if (kept.some((part) => part.kind === 'present' && missing.has(part.column.name))) return dual;
	const [only] = kept;
	return only !== undefined && kept.length === 1 ? only : { kind, parts: kept };
}

function withoutRedundant(kind: 'all' | 'any', parts: readonly Predicate[]): readonly Predicate[] {
	const kept: Predicate[] = [];
	for (const part of parts) {
		if (kept.some((other) => isRedundant(kind, part, other))) continue;
		const needed = kept.filter((other) => !isRedundant(kind, other, part));
		kept.splice(0, kept.length, ...needed, part);
	}
	return kept;
}

/** Returns a string that equal predicates share. */
function textOf(predicate: Predicate): string {
	return JSON.stringify(predicate);
}

/** Returns the number of tests, up to a limit. */
function sizeOf(predicate: Predicate): number {
	if (!('parts' in predicate)) return 1;
	if (predicate.parts.length > mostCompared) return predicate.parts.length;
	return predicate.parts.reduce((sum, part) => sum + sizeOf(part), 0);
}

/**
 * Adds a presence test to each test that would be true for a missing value in two-valued targets, such as LINQ. The
 * result is nested.
 */
export function* guardNegations(
	predicate: Predicate,
	missing: readonly string[] = [],
	pauses = new Pauses(50),
): Steps<Predicate> {
	if (pauses.step()) yield;
	if ('parts' in predicate) {
		const { kind, parts } = predicate;
		const known = kind === 'all' ? missing : parts.flatMap((part) => (part.kind === 'missing' ? part.column.name : []));
		const guarded: Predicate[] = [];
		for (const part of parts) guarded.push(yield* guardNegations(part, known, pauses));
		return { kind, parts: guarded };
	}
	const guards = negatedColumns(predicate)
		.filter(({ name, required }) => !required && !missing.includes(name))
		.map((column) => ({ kind: 'present', column }) as const);
	return guards.length === 0 ? predicate : { kind: 'all', parts: [...guards, predicate] };
}

function negatedColumns(test: PredicateTest): readonly PredicateColumn[] {
	if (test.kind === 'compare' && test.relation === 'ne') {
		return 'column' in test.operand ? [test.column, test.operand.column] : [test.column];
	}
	return test.kind === 'not-in' || (test.kind === 'search' && !test.found) ? [test.column] : [];
}

/** True if `part` adds nothing to `other`: `other` implies it in an `all`, or it implies `other` in an `any`. */
function isRedundant(kind: 'all' | 'any', part: Predicate, other: Predicate): boolean {
	return kind === 'all' ? implies(other, part) : implies(part, other);
}

/** True if the first predicate implies the second. */
function implies(first: Predicate, second: Predicate): boolean {
	if ('parts' in second && second.kind === 'all') {
		return second.parts.length > 0 && second.parts.every((part) => implies(first, part));
	}
	if ('parts' in first) {
		const isImplying = (part: Predicate) => implies(part, second);
		return first.kind === 'all'
			? first.parts.some(isImplying)
			: first.parts.length > 0 && first.parts.every(isImplying);
	}
	return 'parts' in second ? second.parts.some((part) => implies(first, part)) : isImplied(first, second);
}

function isImplied(first: PredicateTest, second: PredicateTest): boolean {
	if (first.column.name !== second.column.name) return false;
	if (isSame(first, second)) return true;
	if (first.kind === 'missing') return false;
	return second.kind === 'present' || (second.kind === 'inside' && second.bound === 'exact' && isInside(first));
}

/** True if the test holds only for numbers that are equal to an exact number. */
function isInside(test: PredicateTest): boolean {
	return test.kind === 'in' || (test.kind === 'compare' && test.relation === 'eq' && 'value' in test.operand);
}

function isSame(first: Predicate, second: Predicate): boolean {
	return first === second || (first.kind === second.kind && textOf(first) === textOf(second));
}

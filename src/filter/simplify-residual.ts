/** Simplifies residuals without changing their meaning. */

import { acceptedKinds } from '../../compiler/condition/accepted-kinds.js';
import { arrayItems, valueSet } from '../../compiler/condition/value.js';
import { canonicalText } from '../../compiler/json-writer.js';
import type { Json } from '../../compiler/model.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import { type Column, type ColumnComparison, constantOf, everyRow, noRow, type Residual } from './residual.js';

/** `simplifyResidual` results. They are not simplified again within a larger residual. */
const simple = new WeakSet<Residual>([everyRow, noRow]);
/** Lists whose items all differ. */
const differing = new WeakSet<readonly Json[]>();

/**
 * Returns an equal residual without constant parts, repeated parts, and parts of the same kind as the part around them.
 * An `any` or `all` has at most one `equals` or `in` per column, and an `in` has at least two items, all different.
 */
export function* simplifyResidual(residual: Residual, pauses = new Pauses(50)): Steps<Residual> {
	if (isSimple(residual)) return residual;
	if (pauses.step()) yield;
	const result = yield* simplified(residual, pauses);
	simple.add(result);
	return result;
}

/**
 * True if simplifying changes nothing. For comparisons, the most frequent parts, this test is faster than simplifying.
 */
function isSimple(residual: Residual): boolean {
	if (residual.kind === 'mistyped') return true;
	if (residual.kind === 'comparison' && residual.operator !== 'in') return true;
	if (residual.kind === 'not' && 'operator' in residual.part) return isSimple(residual.part);
	return simple.has(residual);
}

function* simplified(residual: Residual, pauses: Pauses): Steps<Residual> {
	switch (residual.kind) {
		case 'not':
			return negated(yield* simplifyResidual(residual.part, pauses));
		case 'comparison': {
			const items = itemsIn(residual);
			return items === undefined ? residual : yield* membership(residual, items);
		}
		case 'mistyped':
			return residual;
		default: {
			const parts: Residual[] = [];
			for (const part of residual.parts) {
				const one = isSimple(part) ? part : yield* simplifyResidual(part, pauses);
				if (one.kind !== residual.kind) parts.push(one);
				else for (const inner of one.parts) parts.push(inner);
			}
			return yield* joined(residual.kind, parts, pauses);
		}
	}
}

function negated(part: Residual): Residual {
	const constant = constantOf(part);
	if (constant !== undefined) return constant ? noRow : everyRow;
	return part.kind === 'not' ? part.part : { kind: 'not', part };
}

/** Equality tests on a column. */
interface ColumnTest {
	/** Place in the joined parts. */
	readonly place: number;
	readonly first: ColumnComparison;
	/** Items in the joined tests; `undefined` if there is only the first. */
	items?: readonly Json[];
}

/** Joins simplified parts, all with a kind other than `kind`. */
function* joined(kind: 'all' | 'any', simplified: readonly Residual[], pauses: Pauses): Steps<Residual> {
	const parts: Residual[] = [];
	const tests = new Map<string, ColumnTest>();
	const others = new DistinctResiduals();
	for (const part of simplified) {
		if (pauses.step()) yield;
		const constant = constantOf(part);
		if (constant === (kind === 'any')) return part;
		if (constant !== undefined) continue;
		const items = part.kind === 'comparison' ? itemsIn(part) : undefined;
		if (items === undefined || part.kind !== 'comparison') {
			if (others.add(part)) parts.push(part);
			continue;
		}
		const column = textOfColumn(part.column);
		const test = tests.get(column);
		if (test === undefined) {
			tests.set(column, { place: parts.push(part) - 1, first: part });
			continue;
		}
		const before = test.items ?? itemsIn(test.first) ?? [];
		if (kind === 'all') {
			test.items = before.filter(valueSet(items).has);
			if (test.items.length === 0) return noRow;
		} else if (items !== before) {
			const all = test.items === undefined ? [...before] : (before as Json[]);
			for (const item of items) all.push(item);
			test.items = all;
		}
	}
	// Removing equal items once for each column keeps the time linear.
	for (const { place, first, items } of tests.values()) {
		if (items !== undefined) parts[place] = yield* membership(first, items);
	}
	const [only, ...rest] = parts;
	return only !== undefined && rest.length === 0 ? only : { kind, parts };
}

/** Returns equal strings for equal columns only. */
function textOfColumn(column: Column): string {
	return column.kind === 'attribute' ? JSON.stringify(column) : column.kind;
}

/** Different residuals. Writing JSON takes long, so only residuals with the same outline are compared as JSON. */
class DistinctResiduals {
	readonly #byOutline = new Map<string, Residual | Set<string>>();

	/** Returns false for a residual that equals an earlier residual. */
	add(residual: Residual): boolean {
		const outline = outlineOf(residual);
		const before = this.#byOutline.get(outline);
		if (before === undefined) {
			this.#byOutline.set(outline, residual);
			return true;
		}
		const texts = before instanceof Set ? before : new Set([JSON.stringify(before)]);
		this.#byOutline.set(outline, texts);
		const { size } = texts;
		return texts.add(JSON.stringify(residual)).size > size;
	}
}

/** Returns a short string that equal residuals share. */
function outlineOf(residual: Residual): string {
	if (residual.kind === 'not') return `not ${outlineOf(residual.part)}`;
	if ('parts' in residual) {
		const [first] = residual.parts;
		return `${residual.kind} ${residual.parts.length} ${first === undefined ? '' : outlineOf(first)}`;
	}
	const { kind, column, operator, operand } = residual;
	const [name] = column.kind === 'attribute' ? column.path : [column.kind];
	const value = 'value' in operand && typeof operand.value !== 'object' ? operand.value : '';
	return `${kind} ${operator} ${name} ${value}`;
}

/** Returns the values that a test for equality compares with its column; `undefined` for any other comparison. */
function itemsIn({ operator, operand, reversed }: ColumnComparison): readonly Json[] | undefined {
	if ((operator !== 'equals' && operator !== 'in') || reversed === true || !('value' in operand)) return undefined;
	const { value } = operand;
	if (operator === 'in' && differing.has(value as readonly Json[])) return value as readonly Json[];
	if (!acceptedKinds.compared.accepts(value)) return undefined;
	if (operator === 'equals') return value === null ? undefined : [value];
	return Array.isArray(value) ? arrayItems(value) : undefined;
}

/** Returns the comparison without duplicate items. */
function* membership(comparison: ColumnComparison, items: readonly Json[]): Steps<Residual> {
	const different = yield* distinctItems(items);
	const [only, other] = different;
	if (only === undefined) return noRow;
	const isOne = other === undefined && only !== null;
	return {
		...comparison,
		kind: 'comparison',
		operator: isOne ? 'equals' : 'in',
		operand: { value: isOne ? only : different },
	};
}

/** Returns the items without duplicates. The result is not searched for duplicates again. */
export function* distinctItems<T extends Json>(items: readonly T[]): Steps<readonly T[]> {
	if (differing.has(items)) return items;
	const different: T[] = [];
	const plain = new Set<Json>();
	const nested = new Set<string>();
	const pauses = new Pauses();
	for (const item of items) {
		if (pauses.step()) yield;
		const before = plain.size + nested.size;
		if (typeof item === 'object' && item !== null) nested.add(canonicalText(item));
		else plain.add(item);
		if (plain.size + nested.size > before) different.push(item);
	}
	differing.add(different);
	return different;
}

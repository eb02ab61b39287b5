/** Simplifies residuals without changing their meaning. */

import { acceptedKinds } from '../../compiler/condition/accepted-kinds.js';
import { arrayItems, valueSet } from '../../compiler/condition/value.js';
import { canonicalText } from '../../compiler/json-writer.js';
import type { Json } from '../../compiler/model.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import { type ColumnComparison, constantOf, everyRow, noRow, type Residual } from './residual.js';

/**
 * Returns an equal residual without constant parts, repeated parts, and parts of the same kind as the part around them.
 * An `any` or `all` has at most one `equals` or `in` per column, and an `in` has at least two items, all different.
 */
export function* simplifyResidual(residual: Residual, pauses = new Pauses(50)): Steps<Residual> {
	if (pauses.step()) yield;
	switch (residual.kind) {
		case 'not':
			return negated(yield* simplifyResidual(residual.part, pauses));
		case 'comparison': {
			const items = itemsIn(residual);
			return items === undefined ? residual : membership(residual, yield* distinct(items));
		}
		case 'mistyped':
			return residual;
		default: {
			const parts: Residual[] = [];
			for (const part of residual.parts) parts.push(yield* simplifyResidual(part, pauses));
			return yield* joined(residual.kind, parts, pauses);
		}
	}
}

function negated(part: Residual): Residual {
	const constant = constantOf(part);
	if (constant !== undefined) return constant ? noRow : everyRow;
	return part.kind === 'not' ? part.part : { kind: 'not', part };
}

/** Joins simplified parts. */
function* joined(kind: 'all' | 'any', simplified: readonly Residual[], pauses: Pauses): Steps<Residual> {
	const parts: Residual[] = [];
	/** Tests for equality by column, with their place in `parts` and their items. */
	const tests = new Map<string, { readonly place: number; readonly first: ColumnComparison; items: Json[] }>();
	const seen = new Set<string>();
	for (const part of simplified.flatMap((one) => (one.kind === kind ? one.parts : [one]))) {
		if (pauses.step()) yield;
		const constant = constantOf(part);
		if (constant === (kind === 'any')) return part;
		if (constant !== undefined) continue;
		const items = part.kind === 'comparison' ? itemsIn(part) : undefined;
		if (items === undefined || part.kind !== 'comparison') {
			const text = JSON.stringify(part);
			if (!seen.has(text)) parts.push(part);
			seen.add(text);
			continue;
		}
		const column = JSON.stringify(part.column);
		const test = tests.get(column);
		if (test === undefined) tests.set(column, { place: parts.push(part) - 1, first: part, items: [...items] });
		else if (kind === 'any') for (const item of items) test.items.push(item);
		else {
			test.items = test.items.filter(valueSet(items).has);
			if (test.items.length === 0) return noRow;
		}
	}
	// Removing equal items once for each column keeps the time linear.
	for (const { place, first, items } of tests.values()) parts[place] = membership(first, yield* distinct(items));
	const [only, ...others] = parts;
	return only !== undefined && others.length === 0 ? only : { kind, parts };
}

/** Returns the values that a test for equality compares with its column; `undefined` for any other comparison. */
function itemsIn({ operator, operand, reversed }: ColumnComparison): readonly Json[] | undefined {
	if (reversed === true || !('value' in operand) || !acceptedKinds.compared.accepts(operand.value)) return undefined;
	if (operator === 'equals') return operand.value === null ? undefined : [operand.value];
	return operator === 'in' && Array.isArray(operand.value) ? arrayItems(operand.value) : undefined;
}

/** Returns the comparison with different items. */
function membership(comparison: ColumnComparison, items: readonly Json[]): Residual {
	const [only, ...others] = items;
	if (only === undefined) return noRow;
	const isOne = others.length === 0 && only !== null;
	return {
		...comparison,
		kind: 'comparison',
		operator: isOne ? 'equals' : 'in',
		operand: { value: isOne ? only : items },
	};
}

function* distinct(items: readonly Json[]): Steps<readonly Json[]> {
	const found = new Map<Json, Json>();
	const pauses = new Pauses();
	for (const item of items) {
		if (pauses.step()) yield;
		const text = typeof item === 'object' && item !== null ? canonicalText(item) : undefined;
		// The text of a nested value begins with a bracket, unlike any marked string.
		const mark = text ?? (typeof item === 'string' ? `"${item}` : item);
		if (!found.has(mark)) found.set(mark, item);
	}
	return [...found.values()];
}

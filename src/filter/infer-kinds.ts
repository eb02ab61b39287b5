/** Column kinds for formats without column types. */

import type { AcceptedKind } from '../../compiler/condition/accepted-kinds.js';
import { operatorNamed } from '../../compiler/condition/operator.js';
import { arrayItems } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import type { ColumnKind } from './predicate.js';
import { columnNameOf, type ReadKind } from './predicate-column.js';
import type { ColumnComparison, Residual } from './residual.js';
import { millisecondsOf } from './time-text.js';

/**
 * Infers the kind of each column from the values that the residual compares with the column. A column with values of
 * several kinds, or with none, has no scalar kind, unless its type is declared. A column compared with times may
 * contain other strings too, so it allows only comparisons with the same result for strings and timestamps.
 */
export function* inferKinds(residual: Residual): Steps<ReadKind> {
	const found = new Map<string, Set<ColumnKind>>();
	const pauses = new Pauses();
	for (const comparison of comparisonsIn(residual)) {
		if (pauses.step()) yield;
		const { column, operand, operator } = comparison;
		if (column.kind !== 'attribute' || column.type !== undefined || operator === 'is-null') continue;
		const kinds = found.get(columnNameOf(column)) ?? new Set();
		found.set(columnNameOf(column), kinds);
		if (valuesInside.has(operatorNamed(operator)?.attribute ?? 'anything')) kinds.add('other');
		const { value = null } = 'value' in operand ? operand : {};
		for (const item of Array.isArray(value) ? arrayItems(value) : [value]) {
			const kind = kindOfValue(item);
			if (kind !== undefined) kinds.add(kind === 'time' && !timeOrders.has(operator) ? 'other' : kind);
		}
	}
	return (name) => {
		const [kind, ...others] = found.get(name) ?? [];
		return others.length === 0 ? kind : undefined;
	};
}

/** Accepted kinds of the operators that compare the items or fields inside a value. */
const valuesInside: ReadonlySet<AcceptedKind> = new Set(['array', 'list', 'object']);

const timeOrders: ReadonlySet<string> = new Set(['greater-than-equals', 'less-than']);

export function* comparisonsIn(residual: Residual): Generator<ColumnComparison, void, undefined> {
	if (residual.kind === 'not') yield* comparisonsIn(residual.part);
	else if ('parts' in residual) for (const part of residual.parts) yield* comparisonsIn(part);
	else yield residual;
}

function kindOfValue(value: Json): ColumnKind | undefined {
	switch (typeof value) {
		case 'string':
			return millisecondsOf(value) === undefined ? 'string' : 'time';
		case 'number':
			return 'number';
		case 'boolean':
			return 'boolean';
		default:
			return value === null ? undefined : 'other';
	}
}

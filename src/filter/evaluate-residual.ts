/** Evaluates residuals on rows: the reference for every target. */

import { compileCondition } from '../../compiler/condition/compile-condition.js';
import { evaluateComparison, type Truth } from '../../compiler/condition/evaluate-comparison.js';
import { operatorNamed, type PatternMatcher } from '../../compiler/condition/operator.js';
import { lookUp } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { Pauses, runToEnd, type Steps } from '../../compiler/steps.js';
import type { Column, ColumnComparison, Residual, Row } from './residual.js';

/** True if the row satisfies the residual. `matches` evaluates regular expressions. */
export function evaluateResidual(residual: Residual, row: Row, matches: PatternMatcher): boolean {
	return runToEnd(compileResidual(residual, matches))(row);
}

/** Like `evaluateResidual`, for many rows. */
export function* compileResidual(
	residual: Residual,
	matches: PatternMatcher,
	pauses = new Pauses(50),
): Steps<(row: Row) => boolean> {
	if (pauses.step()) yield;
	switch (residual.kind) {
		case 'all':
		case 'any': {
			const parts: ((row: Row) => boolean)[] = [];
			for (const part of residual.parts) parts.push(yield* compileResidual(part, matches, pauses));
			return residual.kind === 'all'
				? (row) => parts.every((holds) => holds(row))
				: (row) => parts.some((holds) => holds(row));
		}
		case 'not': {
			const holds = yield* compileResidual(residual.part, matches, pauses);
			return (row) => !holds(row);
		}
		case 'comparison':
		case 'mistyped': {
			const wanted: Truth = residual.kind === 'comparison' ? true : 'mistyped';
			const compare = compileComparison(residual, matches);
			return (row) => compare(row) === wanted;
		}
	}
}

function compileComparison(comparison: ColumnComparison, matches: PatternMatcher): (row: Row) => Truth {
	const { column, operand, reversed, now = 0 } = comparison;
	const operator = operatorNamed(comparison.operator);
	if (operator === undefined) return () => 'mistyped';
	if (reversed !== true && ('match' in operand || ('value' in operand && operand.value !== null))) {
		const readers = { attribute: columnReader, reference: () => () => undefined, related: () => ({}), matches };
		const test = compileCondition(
			{ kind: 'comparison', attribute: column, operator: operator.name, operand, at: [] },
			readers,
		);
		return (row) => test(row, now);
	}
	const read = columnReader(column);
	const refer = 'column' in operand ? columnReader(operand.column) : () => literalIn(operand);
	return reversed === true
		? (row) => evaluateComparison(operator, refer(row), read(row), { now, matches })
		: (row) => evaluateComparison(operator, read(row), refer(row), { now, matches });
}

function literalIn(operand: ColumnComparison['operand']): Json | undefined {
	return 'value' in operand ? (operand.value ?? undefined) : undefined;
}

function columnReader(column: Column): (row: Row) => Json | undefined {
	if (column.kind !== 'attribute') return (row) => row[column.kind];
	return (row) => lookUp(row.attributes, column.path);
}

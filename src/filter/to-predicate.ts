/** Converts residuals to predicates: the only place that handles missing and mistyped values for all targets. */

import { acceptedKinds, orderedKind } from '../../compiler/condition/accepted-kinds.js';
import { timeBefore } from '../../compiler/condition/duration.js';
import { type Operator, operatorNamed } from '../../compiler/condition/operator.js';
import type { Kind } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import { acceptanceOf } from './acceptance.js';
import {
	allOf,
	always,
	anyOf,
	joinParts,
	never,
	type Predicate,
	type PredicateColumn,
	type Relation,
} from './predicate.js';
import { inside, type KnownColumns, missing, outside, present, readColumn } from './predicate-column.js';
import { type ColumnComparison, columnText, FilterRefusal, type Residual } from './residual.js';
import { relations, valueTests } from './value-tests.js';

/** Where a predicate will be used. */
export interface PredicateTarget extends KnownColumns {
	/** Name for refusals, such as `sql.sqlite`. */
	readonly target: string;
	/**
	 * If set, the target has no tests for bounds, because its number and string columns never contain values beyond
	 * them.
	 */
	readonly ignoresBounds?: true;
}

/** Returns the rows that satisfy a residual. Throws `FilterRefusal` if a comparison needs more than scalar values. */
export function toPredicate(residual: Residual, target: PredicateTarget): Steps<Predicate> {
	return rowsWhere(residual, true, target, new Pauses(20));
}

/** Returns the rows on which the residual is `wanted`. */
function* rowsWhere(residual: Residual, wanted: boolean, target: PredicateTarget, pauses: Pauses): Steps<Predicate> {
	if (pauses.step()) yield;
	switch (residual.kind) {
		case 'not':
			return yield* rowsWhere(residual.part, !wanted, target, pauses);
		case 'comparison': {
			const { holds, fails } = outcomesOf(residual, target);
			return wanted ? holds : fails;
		}
		case 'mistyped': {
			const { mistyped, typed } = outcomesOf(residual, target);
			return wanted ? mistyped : typed;
		}
		default: {
			const parts: Predicate[] = [];
			for (const part of residual.parts) parts.push(yield* rowsWhere(part, wanted, target, pauses));
			return yield* joinParts((residual.kind === 'all') === wanted ? 'all' : 'any', parts, pauses);
		}
	}
}

/** The rows for which a comparison holds, fails or is mistyped. */
interface Outcomes {
	readonly holds: Predicate;
	readonly fails: Predicate;
	readonly mistyped: Predicate;
	readonly typed: Predicate;
}

/** Returns the values of a column that an operator accepts. */
type Accept = (column: PredicateColumn) => ReturnType<typeof acceptanceOf>;

const noOutcome = { holds: never, fails: always } as const;

function outcomesOf(comparison: ColumnComparison, where: PredicateTarget): Outcomes {
	const { target } = where;
	const { operand, name } = comparison;
	const refuse = (reason: string) => new FilterRefusal(name, target, reason);
	const operator = operatorNamed(comparison.operator);
	if (operator === undefined || comparison.reversed === true || 'match' in operand) {
		throw refuse(`\`${comparison.operator}\` on \`${columnText(comparison.column)}\` has no equivalent`);
	}
	const column = readColumn(comparison.column, where);
	if ('value' in operand && column.kind === 'string' && hasUnstorable(operand.value)) {
		throw refuse('a value has a character that some databases cannot store');
	}
	const accept: Accept = ({ kind }) => {
		const accepts = acceptanceOf(operator.attribute, kind);
		return accepts !== undefined && accepts !== 'none' && where.ignoresBounds === true ? 'all' : accepts;
	};
	const outcomes =
		'column' in operand
			? columnOutcomes(operator, [column, readColumn(operand.column, where)], accept, name)
			: valueOutcomes(operator, column, operand.value, accept, comparison);
	if (outcomes !== undefined) return outcomes;
	const types = column.kind === 'other' ? ' without a scalar type' : ` of type \`${column.kind}\``;
	throw refuse(`\`${operator.name}\` on \`${columnText(comparison.column)}\`${types} has no exact equivalent`);
}

/** True if a string contains U+0000 or half of a surrogate pair, which databases store or compare differently. */
function hasUnstorable(value: Json): boolean {
	if (Array.isArray(value)) return value.some(hasUnstorable);
	return typeof value === 'string' && /[\0\p{Surrogate}]/u.test(value);
}

/** Compares a column with a value; `undefined` if there is no exact equivalent. */
function valueOutcomes(
	operator: Operator,
	column: PredicateColumn,
	value: Json,
	accept: Accept,
	{ name, now }: ColumnComparison,
): Outcomes | undefined {
	// An operand that the operator does not accept makes even a missing attribute mistyped.
	if (value !== null && !acceptedKinds[operator.operand].accepts(value)) {
		return { ...noOutcome, mistyped: always, typed: never };
	}
	if (operator.name === 'is-null') {
		const [holds, fails] = value === true ? [missing(column), present(column)] : [present(column), missing(column)];
		return { ...(value === null ? noOutcome : { holds, fails }), mistyped: never, typed: always };
	}
	const accepts = accept(column);
	if (accepts === undefined) return undefined;
	if (accepts === 'none') return { ...noOutcome, mistyped: present(column), typed: missing(column) };
	const types = { mistyped: outside(column, accepts), typed: anyOf(missing(column), inside(column, accepts)) };
	if (value === null) return { ...noOutcome, ...types };
	if (operator.ordered === true && orderedKind(value) !== jsonKindOf(column)) {
		return { ...noOutcome, mistyped: present(column), typed: missing(column) };
	}
	const [asked, operand] = withTime(operator.name, value, now);
	const tests = valueTests(asked, column, operand, name);
	return (
		tests && {
			holds: allOf(tests.holds, inside(column, accepts)),
			fails: anyOf(missing(column), tests.fails, outside(column, accepts)),
			...types,
		}
	);
}

/** Replaces a duration before `now` with a comparison with a time. */
function withTime(operator: string, value: Json, now: number | undefined): readonly [operator: string, value: Json] {
	if (operator !== 'within-last' && operator !== 'older-than') return [operator, value];
	const order = operator === 'within-last' ? 'greater-than-equals' : 'less-than';
	return [order, now === undefined ? value : timeBefore(now, String(value))];
}

/** Compares two columns; `undefined` if there is no exact equivalent. */
function columnOutcomes(operator: Operator, columns: ColumnPair, accept: Accept, name: string): Outcomes | undefined {
	const [column, other] = columns;
	const relation = relations.get(operator.name);
	if (relation === undefined || columns.some(({ kind }) => kind === 'time' || kind === 'uuid')) return undefined;
	const [first, second] = [accept(column), accept(other)];
	if (first === undefined || first === 'none' || second === undefined || second === 'none') return undefined;
	const isSameKind = jsonKindOf(column) === jsonKindOf(other);
	if (!isSameKind && operator.ordered === true) return undefined;
	const valid = allOf(inside(column, first), inside(other, second));
	const invalid = anyOf(outside(column, first), outside(other, second));
	const test = (one: Relation) => compareColumns(one, columns, isSameKind, name);
	return {
		holds: allOf(test(relation[0]), valid),
		fails: anyOf(missing(column), missing(other), test(relation[1]), invalid),
		mistyped: invalid,
		typed: allOf(anyOf(missing(column), inside(column, first)), anyOf(missing(other), inside(other, second))),
	};
}

type ColumnPair = readonly [PredicateColumn, PredicateColumn];

function compareColumns(relation: Relation, [column, other]: ColumnPair, isSameKind: boolean, name: string): Predicate {
	if (isSameKind) return { kind: 'compare', column, relation, operand: { column: other }, name };
	return relation === 'ne' ? allOf(present(column), present(other)) : never;
}

function jsonKindOf({ kind }: PredicateColumn): Kind {
	if (kind === 'number' || kind === 'integer') return 'number';
	return kind === 'boolean' ? 'boolean' : 'string';
}

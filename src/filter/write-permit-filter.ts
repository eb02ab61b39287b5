/**
 * Filters as residuals of `permit-datafilter`: `and`, `or`, and comparisons of a variable with a value. The plugin
 * evaluates them in SQL, where a comparison with NULL is neither true nor false. Negations are therefore expanded down
 * to the comparisons, and each comparison explicitly includes missing values.
 */

import { arrayItems } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { type ColumnComparison, columnText, FilterRefusal, type Residual } from './residual.js';

/** An expression or one of its operands. */
export type PermitOperand =
	| { readonly expression: { readonly operator: string; readonly operands: readonly PermitOperand[] } }
	| { readonly variable: string }
	| { readonly value: Json };

/** Name of this target in error messages. */
const target = 'permit-datafilter';

/** Writes a simplified residual that rows decide. Throws `FilterRefusal`. */
export function writePermitFilter(residual: Residual): PermitOperand {
	return written(residual, true);
}

/** Writes a residual, or its negation if it must not hold. */
function written(residual: Residual, holds: boolean): PermitOperand {
	switch (residual.kind) {
		case 'not':
			return written(residual.part, !holds);
		case 'all':
		case 'any': {
			const operator = (residual.kind === 'all') === holds ? 'and' : 'or';
			return joined(
				operator,
				residual.parts.map((part) => written(part, holds)),
			);
		}
		case 'comparison':
			return comparison(residual, holds);
		case 'mistyped':
			throw refusal(residual, 'it depends on the types of values');
	}
}

/** Operators with their negations, for values that are present. */
const negations = { eq: 'ne', ne: 'eq', lt: 'ge', ge: 'lt', gt: 'le', le: 'gt' } as const;
type PermitOperator = keyof typeof negations;

const ordering: Readonly<Record<string, PermitOperator>> = {
	'greater-than': 'gt',
	'greater-than-equals': 'ge',
	'less-than': 'lt',
	'less-than-equals': 'le',
};

function comparison(residual: ColumnComparison, holds: boolean): PermitOperand {
	const { operator, operand, reversed } = residual;
	if (reversed === true || !('value' in operand)) throw refusal(residual, 'it compares a column with a literal only');
	const { value } = operand;
	const either = (kind: 'and' | 'or', tests: readonly (readonly [PermitOperator, Json])[]) => {
		const parts = tests.map(([name, other]) => test(residual, holds ? name : negations[name], other));
		if (holds) return joined(kind, parts);
		const opposite = joined(kind === 'and' ? 'or' : 'and', parts);
		return residual.column.kind === 'attribute' ? joined('or', [opposite, isMissing(residual, true)]) : opposite;
	};
	const order = ordering[operator];
	if (order !== undefined) return either('and', [[order, number(residual, value)]]);
	switch (operator) {
		case 'equals':
			return either('and', [['eq', scalar(residual, value)]]);
		case 'not-equals':
			return either('and', [['ne', scalar(residual, value)]]);
		case 'in':
		case 'not-in': {
			const isIn = operator === 'in';
			const items = arrayItems(value).map((item) => [isIn ? 'eq' : 'ne', scalar(residual, item)] as const);
			if (items.length > 0) return either(isIn ? 'or' : 'and', items);
			if (isIn) throw refusal(residual, 'an empty list');
			return isMissing(residual, !holds);
		}
		case 'between': {
			const [first = null, last = null] = arrayItems(value);
			return either('and', [
				['ge', number(residual, first)],
				['le', number(residual, last)],
			]);
		}
		case 'is-null':
			return isMissing(residual, (value === true) === holds);
		default:
			throw refusal(residual, `it has no operator for \`${operator}\``);
	}
}

function isMissing(residual: ColumnComparison, missing: boolean): PermitOperand {
	return test(residual, missing ? 'eq' : 'ne', null);
}

function test({ column }: ColumnComparison, operator: PermitOperator, value: Json): PermitOperand {
	return { expression: { operator, operands: [{ variable: `input.${columnText(column)}` }, { value }] } };
}

function joined(operator: 'and' | 'or', operands: readonly PermitOperand[]): PermitOperand {
	const [only, ...others] = operands;
	return only !== undefined && others.length === 0 ? only : { expression: { operator, operands } };
}

function scalar(residual: ColumnComparison, value: Json): Json {
	if (typeof value !== 'object') return value;
	throw refusal(residual, 'it compares text, numbers and booleans only');
}

function number(residual: ColumnComparison, value: Json): Json {
	if (typeof value === 'number') return value;
	throw refusal(residual, 'the order of text depends on the database');
}

function refusal({ name }: ColumnComparison, reason: string): FilterRefusal {
	return new FilterRefusal(name, target, reason);
}

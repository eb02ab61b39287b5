/**
 * Filters in the format of `permit-datafilter`: `and`, `or`, and comparisons of a variable with a value. The plugin
 * evaluates them in SQL, where a comparison with NULL is neither true nor false.
 */

import { greatestWhole } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { mapInSteps, Pauses, type Steps } from '../../compiler/steps.js';
import { inferKinds } from './infer-kinds.js';
import type { Predicate, PredicateTest, Relation } from './predicate.js';
import { FilterRefusal, type Residual } from './residual.js';
import { toPredicate } from './to-predicate.js';

/** An expression or one of its operands. */
export type PermitOperand =
	| { readonly expression: { readonly operator: string; readonly operands: readonly PermitOperand[] } }
	| { readonly variable: string }
	| { readonly value: Json };

/** Name of this target in error messages. */
const target = 'permit-datafilter';

/** Writes a filter for the plugin. Throws `FilterRefusal`. */
export function* writePermitFilter(residual: Residual): Steps<PermitOperand> {
	const readKind = yield* inferKinds(residual);
	return yield* writeOperand(yield* toPredicate(residual, { target, readKind }));
}

function* writeOperand(predicate: Predicate, pauses = new Pauses(50)): Steps<PermitOperand> {
	if (pauses.step()) yield;
	if (!('parts' in predicate)) return yield* writeTest(predicate);
	const { kind, parts } = predicate;
	// The plugin has no constants, but every row has a key.
	if (parts.length === 0) return comparison(kind === 'all' ? 'ne' : 'eq', 'key', null);
	const operands: PermitOperand[] = [];
	for (const part of parts) operands.push(yield* writeOperand(part, pauses));
	return expression(kind === 'all' ? 'and' : 'or', operands);
}

function* writeTest(test: PredicateTest): Steps<PermitOperand> {
	const { name } = test.column;
	switch (test.kind) {
		case 'missing':
			return comparison('eq', name, null);
		case 'present':
			return comparison('ne', name, null);
		case 'compare': {
			const { operand, relation } = test;
			if ('column' in operand) throw refusal(test.name, 'it compares a column with a literal only');
			const isOrder = relation !== 'eq' && relation !== 'ne';
			if (isOrder && (test.column.kind === 'string' || test.column.kind === 'time')) {
				throw refusal(test.name, 'the order of strings depends on the database');
			}
			return comparison(relation, name, operand.value);
		}
		case 'in':
		case 'not-in':
			return expression(
				test.kind === 'in' ? 'or' : 'and',
				yield* mapInSteps(test.values, (value) => comparison(test.kind === 'in' ? 'eq' : 'ne', name, value)),
			);
		case 'search':
			throw refusal(test.name, 'it has no search in strings');
		case 'inside':
		case 'outside':
			return bounds(test, name);
	}
}

function bounds(
	{ kind, bound, column }: Extract<PredicateTest, { readonly bound: unknown }>,
	name: string,
): PermitOperand {
	if (bound !== 'exact') throw refusal(column.name, 'it has no string length');
	return kind === 'inside'
		? expression('and', [comparison('ge', name, -greatestWhole), comparison('le', name, greatestWhole)])
		: expression('or', [comparison('lt', name, -greatestWhole), comparison('gt', name, greatestWhole)]);
}

function comparison(relation: Relation, name: string, value: Json): PermitOperand {
	const column = name === 'key' || name === 'tenant' ? name : `attributes.${name}`;
	return expression(relation, [{ variable: `input.resource.${column}` }, { value }]);
}

function expression(operator: string, operands: readonly PermitOperand[]): PermitOperand {
	return { expression: { operator, operands } };
}

function refusal(condition: string, reason: string): FilterRefusal {
	return new FilterRefusal(condition, target, reason);
}

/** Filters as Cerbos query plans. */

import { Pauses, type Steps } from '../../compiler/steps.js';
import { inferKinds } from './infer-kinds.js';
import { guardNegations, type Predicate, type PredicateColumn, type PredicateTest, type Scalar } from './predicate.js';
import { requirePlain } from './require-plain.js';
import { FilterRefusal, type Residual } from './residual.js';
import { timeText } from './time-text.js';
import { toPredicate } from './to-predicate.js';

export type CerbosOperand =
	| { readonly expression: { readonly operator: string; readonly operands: readonly CerbosOperand[] } }
	| { readonly variable: string }
	| { readonly value: Scalar | null | readonly Scalar[] };

/** The `filter` in a PlanResources response. */
export type CerbosFilter =
	| { readonly kind: 'KIND_ALWAYS_ALLOWED' | 'KIND_ALWAYS_DENIED' }
	| { readonly kind: 'KIND_CONDITIONAL'; readonly condition: CerbosOperand };

const target = 'cerbos';
const searches = { start: 'startsWith', end: 'endsWith', anywhere: 'contains' } as const;

/** Writes a filter as a Cerbos plan. Makes the same assumptions about columns as `toUcast`. Throws `FilterRefusal`. */
export function* toCerbosPlan(residual: Residual): Steps<CerbosFilter> {
	const readKind = yield* inferKinds(residual);
	const predicate = yield* toPredicate(residual, { target, readKind, ignoresBounds: true });
	if ('parts' in predicate && predicate.parts.length === 0) {
		return { kind: predicate.kind === 'all' ? 'KIND_ALWAYS_ALLOWED' : 'KIND_ALWAYS_DENIED' };
	}
	return { kind: 'KIND_CONDITIONAL', condition: yield* writeOperand(yield* guardNegations(predicate)) };
}

function* writeOperand(predicate: Predicate, pauses = new Pauses(50)): Steps<CerbosOperand> {
	if (pauses.step()) yield;
	if (!('parts' in predicate)) return writeTest(predicate);
	const operands: CerbosOperand[] = [];
	for (const part of predicate.parts) operands.push(yield* writeOperand(part, pauses));
	return expression(predicate.kind === 'all' ? 'and' : 'or', operands);
}

function writeTest(test: PredicateTest): CerbosOperand {
	const column = variable(test.column);
	switch (test.kind) {
		case 'missing':
			return expression('eq', [column, { value: null }]);
		case 'present':
			return expression('ne', [column, { value: null }]);
		case 'compare': {
			const { operand, relation } = test;
			if ('column' in operand) throw new FilterRefusal(test.name, target, 'it compares columns only with values');
			const value = test.column.kind === 'time' ? timeText(Number(operand.value)) : operand.value;
			return expression(relation, [column, { value }]);
		}
		case 'in':
			return expression('in', [column, { value: test.values }]);
		case 'not-in':
			return expression('not', [expression('in', [column, { value: test.values }])]);
		case 'search': {
			requirePlain(test, target);
			const found = expression(searches[test.place], [column, { value: test.text }]);
			return test.found ? found : expression('not', [found]);
		}
		default:
			throw new FilterRefusal(test.column.name, target, 'it cannot limit numbers or string lengths');
	}
}

function variable({ name }: PredicateColumn): CerbosOperand {
	return { variable: name === 'key' ? 'request.resource.id' : `request.resource.attr.${name}` };
}

function expression(operator: string, operands: readonly CerbosOperand[]): CerbosOperand {
	return { expression: { operator, operands } };
}

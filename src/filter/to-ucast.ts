/** Filters as UCAST trees, as in responses from OPA's Compile API. */

import { mapInSteps, Pauses, type Steps } from '../../compiler/steps.js';
import { inferKinds } from './infer-kinds.js';
import {
	guardNegations,
	type Predicate,
	type PredicateColumn,
	type PredicateTest,
	type Relation,
	type Scalar,
} from './predicate.js';
import { requirePlain } from './require-plain.js';
import { FilterRefusal, type Residual } from './residual.js';
import { timeText } from './time-text.js';
import { toPredicate } from './to-predicate.js';

/** Features that a UCAST variant supports. */
interface UcastLimits {
	/** If set, the operators `in` and `nin` are available. */
	readonly lists: 'in' | 'in and nin' | 'none';
	/** If set, searches and `not` are available. */
	readonly searches: boolean;
	/** If set, a value can be a column. */
	readonly columns: boolean;
}

/** UCAST variants by name. */
export const ucastVariants = {
	all: { lists: 'in and nin', searches: true, columns: true },
	// The published interpreter for Prisma does not support `nin`.
	prisma: { lists: 'in', searches: true, columns: false },
	linq: { lists: 'in', searches: false, columns: false },
	minimal: { lists: 'none', searches: false, columns: false },
} as const satisfies Record<string, UcastLimits>;

export type UcastVariant = keyof typeof ucastVariants;

export type UcastNode =
	| { readonly type: 'compound'; readonly operator: 'and' | 'or' | 'not'; readonly value: readonly UcastNode[] }
	| { readonly type: 'field'; readonly operator: string; readonly field: string; readonly value: UcastValue };

type UcastValue = Scalar | null | readonly Scalar[] | { readonly field: string };

/** Returns a column's name, such as `documents.owner`. */
type FieldName = (name: string) => string;

/**
 * Writes a filter as UCAST. Assumes that columns contain only exact numbers, and no strings over the search limit.
 * Returns `undefined` for a filter that no row satisfies, and an empty object for a filter that every row satisfies.
 * Throws `FilterRefusal`.
 */
export function* toUcast(
	residual: Residual,
	variant: UcastVariant,
	field: FieldName,
): Steps<UcastNode | Readonly<Record<string, never>> | undefined> {
	const target = `ucast.${variant}`;
	const readKind = yield* inferKinds(residual);
	const predicate = yield* toPredicate(residual, { target, readKind, ignoresBounds: true });
	if ('parts' in predicate && predicate.parts.length === 0) return predicate.kind === 'all' ? {} : undefined;
	// Prisma rejects tests for null on required fields, and its tests are three-valued.
	const guarded = variant === 'prisma' ? predicate : yield* guardNegations(predicate);
	return yield* writeNode(guarded, { target, limits: ucastVariants[variant], field });
}

interface Writing {
	readonly target: string;
	readonly limits: UcastLimits;
	readonly field: FieldName;
}

const operators: Readonly<Record<Relation, string>> = { eq: 'eq', ne: 'ne', lt: 'lt', le: 'lte', gt: 'gt', ge: 'gte' };
const searches = { start: 'startswith', end: 'endswith', anywhere: 'contains' } as const;

function* writeNode(predicate: Predicate, writing: Writing, pauses = new Pauses(50)): Steps<UcastNode> {
	if (pauses.step()) yield;
	if (!('parts' in predicate)) return yield* writeTest(predicate, writing);
	const nodes: UcastNode[] = [];
	for (const part of predicate.parts) nodes.push(yield* writeNode(part, writing, pauses));
	return compound(predicate.kind === 'all' ? 'and' : 'or', nodes);
}

function* writeTest(test: PredicateTest, writing: Writing): Steps<UcastNode> {
	const { target, limits } = writing;
	const write = (operator: string, value: UcastValue): UcastNode => {
		return { type: 'field', operator, field: writing.field(test.column.name), value };
	};
	switch (test.kind) {
		case 'missing':
			return write('eq', null);
		case 'present':
			return write('ne', null);
		case 'compare': {
			const { operand, relation } = test;
			if ('value' in operand) return write(operators[relation], columnValue(test.column, operand.value));
			if (limits.columns) return write(operators[relation], { field: writing.field(operand.column.name) });
			throw new FilterRefusal(test.name, target, 'it compares columns only with values');
		}
		case 'in':
			if (limits.lists !== 'none') return write('in', test.values);
			return compound('or', yield* mapInSteps(test.values, (value) => write('eq', value)));
		case 'not-in':
			if (limits.lists === 'in and nin') return write('nin', test.values);
			return compound('and', yield* mapInSteps(test.values, (value) => write('ne', value)));
		case 'search': {
			if (!limits.searches) throw new FilterRefusal(test.name, target, 'it has no search in strings');
			requirePlain(test, target);
			const found = write(searches[test.place], test.text);
			return test.found ? found : compound('not', [found]);
		}
		default:
			throw new FilterRefusal(test.column.name, target, 'it cannot limit numbers or string lengths');
	}
}

function columnValue({ kind }: PredicateColumn, value: Scalar): Scalar {
	return kind === 'time' ? timeText(Number(value)) : value;
}

function compound(operator: 'and' | 'or' | 'not', value: readonly UcastNode[]): UcastNode {
	return { type: 'compound', operator, value };
}

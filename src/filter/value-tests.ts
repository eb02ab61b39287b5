/** Tests of a column with a value. */

import { arrayItems } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { allOf, anyOf, never, type Predicate, type PredicateColumn, type Relation, type Scalar } from './predicate.js';
import { present } from './predicate-column.js';
import { lastTime, millisecondsOf } from './time-text.js';

/** The rows with an accepted value for which a comparison holds or fails. */
export interface ValueTests {
	readonly holds: Predicate;
	readonly fails: Predicate;
}

/** A relation and its negation. */
export const relations: ReadonlyMap<string, readonly [Relation, Relation]> = new Map([
	['equals', ['eq', 'ne']],
	['not-equals', ['ne', 'eq']],
	['greater-than', ['gt', 'le']],
	['greater-than-equals', ['ge', 'lt']],
	['less-than', ['lt', 'ge']],
	['less-than-equals', ['le', 'gt']],
]);

/**
 * Compares a column with a value that the operator accepts. An ordering operator requires a value of the same JSON type
 * as the column. Returns `undefined` if there is no exact equivalent. `name` is the condition set.
 */
export function valueTests(
	operator: string,
	column: PredicateColumn,
	value: Json,
	name: string,
): ValueTests | undefined {
	const one = { column, name };
	switch (operator) {
		case 'equals':
			return membership(one, [value]);
		case 'not-equals':
			return negated(membership(one, [value]));
		case 'in':
			return membership(one, arrayItems(value));
		case 'not-in':
			return negated(membership(one, arrayItems(value)));
		case 'between': {
			const [first = null, last = null] = arrayItems(value);
			const [from, to] = [order(one, 'greater-than-equals', first), order(one, 'less-than-equals', last)];
			return from && to && { holds: allOf(from.holds, to.holds), fails: anyOf(from.fails, to.fails) };
		}
		case 'contains':
			return search(one, 'anywhere', String(value));
		case 'starts-with':
			return search(one, 'start', String(value));
		case 'ends-with':
			return search(one, 'end', String(value));
		default:
			return order(one, operator, value);
	}
}

/** A column, and the condition set for error messages. */
interface Place {
	readonly column: PredicateColumn;
	readonly name: string;
}

function negated({ holds, fails }: ValueTests): ValueTests {
	return { holds: fails, fails: holds };
}

function membership(place: Place, items: readonly Json[]): ValueTests {
	const { column } = place;
	if (column.kind === 'time') {
		const times = items.flatMap((item) => millisecondsOf(item) ?? []);
		return {
			holds: anyOf(...times.map((time) => allOf(since(place, time), before(place, time + 1)))),
			fails: allOf(present(column), ...times.map((time) => anyOf(before(place, time), since(place, time + 1)))),
		};
	}
	const values = items.filter((item): item is Scalar => isOfKind(item, column));
	const [value] = values;
	if (value === undefined) return { holds: never, fails: present(column) };
	if (values.length === 1) return { holds: compare(place, 'eq', value), fails: compare(place, 'ne', value) };
	if (column.kind !== 'boolean') {
		return { holds: { kind: 'in', ...place, values }, fails: { kind: 'not-in', ...place, values } };
	}
	return {
		holds: anyOf(...values.map((one) => compare(place, 'eq', one))),
		fails: allOf(...values.map((one) => compare(place, 'ne', one))),
	};
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function isOfKind(item: Json, { kind }: PredicateColumn): item is Scalar {
	switch (kind) {
		case 'uuid':
			return typeof item === 'string' && uuid.test(item);
		case 'integer':
			return typeof item === 'number';
		default:
			return typeof item === kind;
	}
}

function order(place: Place, operator: string, value: Json): ValueTests | undefined {
	const relation = relations.get(operator);
	if (relation === undefined || place.column.kind === 'uuid' || typeof value === 'object') return undefined;
	if (place.column.kind !== 'time') {
		return { holds: compare(place, relation[0], value), fails: compare(place, relation[1], value) };
	}
	const time = millisecondsOf(value);
	if (time === undefined) return undefined;
	// A value between two milliseconds has the text of the first.
	const border = operator === 'greater-than' || operator === 'less-than-equals' ? time + 1 : time;
	const tests = { holds: since(place, border), fails: before(place, border) };
	return operator.startsWith('greater') ? tests : negated(tests);
}

/** Compares a time column with milliseconds. */
function since(place: Place, time: number): Predicate {
	return time > lastTime ? never : compare(place, 'ge', time);
}

function before(place: Place, time: number): Predicate {
	return time > lastTime ? present(place.column) : compare(place, 'lt', time);
}

function compare(place: Place, relation: Relation, value: Scalar): Predicate {
	return { kind: 'compare', ...place, relation, operand: { value } };
}

function search(place: Place, where: 'start' | 'end' | 'anywhere', text: string): ValueTests | undefined {
	const { column } = place;
	if (column.kind !== 'string') return undefined;
	if (text === '') return { holds: present(column), fails: never };
	const test = { kind: 'search', ...place, place: where, text } as const;
	return { holds: { ...test, found: true }, fails: { ...test, found: false } };
}

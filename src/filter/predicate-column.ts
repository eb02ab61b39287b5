/** Predicate columns, and the tests that every writer supports. */

import type { Acceptance } from './acceptance.js';
import { always, type ColumnKind, never, type Predicate, type PredicateColumn } from './predicate.js';
import type { Column } from './residual.js';

/** Returns a column's kind; `undefined` for the kind of its declared type. `name` is as in `PredicateColumn`. */
export type ReadKind = (name: string) => ColumnKind | undefined;

/** Column properties that differ between targets. */
export interface KnownColumns {
	readonly readKind?: ReadKind;
	/** True if every row has a value. */
	readonly isRequired?: (name: string) => boolean;
}

const kinds: ReadonlyMap<string, ColumnKind> = new Map([
	['string', 'string'],
	['number', 'number'],
	['bool', 'boolean'],
	['time', 'time'],
	['integer', 'integer'],
	['uuid', 'uuid'],
]);

/** Column types: the attribute types, `integer` and `uuid`. */
export const columnTypes = [...kinds.keys(), 'array', 'json', 'object', 'object_array'] as const;

/** Returns the kind for an attribute type or a column type. */
export function kindOfType(type: string): ColumnKind {
	return kinds.get(type) ?? 'other';
}

/** Returns a column's name as in `PredicateColumn`. */
export function columnNameOf(column: Column): string {
	return column.kind === 'attribute' ? column.path.join('.') : column.kind;
}

export function readColumn(column: Column, { readKind, isRequired }: KnownColumns): PredicateColumn {
	const name = columnNameOf(column);
	const known = readKind?.(name);
	if (column.kind !== 'attribute') return { name, kind: known === 'uuid' ? known : 'string', required: true };
	return { name, kind: known ?? kindOfType(column.type ?? ''), required: isRequired?.(name) === true };
}

export function missing(column: PredicateColumn): Predicate {
	return column.required ? never : { kind: 'missing', column };
}

export function present(column: PredicateColumn): Predicate {
	return column.required ? always : { kind: 'present', column };
}

/** Returns a test for the accepted values. */
export function inside(column: PredicateColumn, accepts: Acceptance): Predicate {
	return accepts === 'all' ? always : { kind: 'inside', column, bound: accepts };
}

/** Returns a test for the values that are not accepted. */
export function outside(column: PredicateColumn, accepts: Acceptance): Predicate {
	return accepts === 'all' ? never : { kind: 'outside', column, bound: accepts };
}

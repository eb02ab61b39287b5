import type { Relation } from '../predicate.js';
import type { SqlText, SqlValue } from './sql-text.js';

/**
 * Differences between databases. Every test compares strings byte for byte, regardless of the column's collation, and
 * is true only if the column has a value.
 */
export interface SqlDialect {
	/** Writes an identifier in quotes. The name has no quotes. */
	readonly identifier: (name: string) => string;
	/** If set, parameters have numbers, and equal values share a parameter. */
	readonly numbersParameters: boolean;
	/** Writes the parameter with this number, from 1. */
	readonly parameter: (number: number, value: SqlValue) => string;
	/** Writes a string as a literal whose meaning does not depend on server settings. */
	readonly literal: (text: string) => string;
	readonly truth: Readonly<Record<'true' | 'false', string>>;
	/** Converts a column, or a value, to text that is equal only if all bytes are equal. */
	readonly exactColumn: (column: SqlText) => SqlText;
	readonly exactValue: (value: SqlText) => SqlText;
	/** If set, exact strings are ordered by code point. */
	readonly ordersText: boolean;
	/**
	 * If set, an equality test also contains a plain comparison that can use an index, because the exact form cannot.
	 */
	readonly addsIndexTest: boolean;
	/** Tests a column against a list in one parameter. */
	readonly inList: (column: SqlText, values: readonly string[], found: boolean) => SqlText;
	/** If set, a column of type `uuid` contains strings. */
	readonly hasTextUuids?: true;
	/** Tests a column of type `uuid` against lower-case strings. Without this function, there is no exact test. */
	readonly uuidTest?: (column: SqlText, values: readonly SqlText[], found: boolean) => SqlText;
	readonly search: (column: SqlText, place: 'start' | 'end' | 'anywhere', text: string, found: boolean) => SqlText;
	/** Counts the code points in a text. */
	readonly length: (column: SqlText) => SqlText;
	/** Compares a time column with milliseconds since 1970. Without this function, there is no exact comparison. */
	readonly timeTest?: (column: SqlText, relation: Relation, time: number) => SqlText;
}

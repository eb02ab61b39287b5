/** The application's mapping from attributes to columns. */

import type { ColumnKind } from './predicate.js';
import { columnTypes, kindOfType } from './predicate-column.js';

/**
 * A column, or its name. `type` is an attribute type, `uuid`, or `integer` for numbers without values beyond
 * ±(2^53 - 1); it defaults to the declared attribute type. A `required` column has a value in every row.
 */
export type MappedName = string | { readonly column: string; readonly type?: string; readonly required?: boolean };

/** Columns by attribute: `key`, `tenant`, or an attribute's path such as `owner` or `address.city`. */
export type ColumnMapping = Readonly<Record<string, MappedName>>;

/** Thrown if the columns are unusable. Each problem contains the attribute and the value. */
export class ColumnMappingError extends Error {
	override readonly name = 'ColumnMappingError';

	constructor(readonly problems: readonly string[]) {
		super(problems.join('; '));
	}
}

/** A checked column. */
export interface MappedColumn {
	/** Identifier, optionally preceded by its table and schema. */
	readonly identifiers: readonly string[];
	readonly kind: ColumnKind | undefined;
	readonly required: boolean;
}

const identifier = /^[A-Za-z_][\w$]{0,62}$/;
const mostProblems = 20;
/** Types for the columns `key` and `tenant`: conditions treat their values as strings. */
const textTypes = ['string', 'uuid'] as const;

/** Checks a mapping. Throws `ColumnMappingError`. */
export function readColumns(columns: ColumnMapping): ReadonlyMap<string, MappedColumn> {
	const problems: string[] = [];
	const read = new Map<string, MappedColumn>();
	for (const [attribute, given] of Object.entries(columns)) {
		const { column, type, required }: Readonly<Record<'column' | 'type' | 'required', unknown>> =
			typeof given === 'string' ? { column: given } : Object(given);
		const identifiers = String(column).split('.');
		const types: readonly string[] = attribute === 'key' || attribute === 'tenant' ? textTypes : columnTypes;
		if (typeof column !== 'string' || identifiers.length > 3 || !identifiers.every((one) => identifier.test(one))) {
			problems.push(
				`column of \`${attribute}\`: must be an identifier of letters, digits, \`_\` and \`$\`, up to 63 characters, got \`${excerpt(column)}\``,
			);
		} else if (type !== undefined && !types.some((known) => known === type)) {
			problems.push(`type of \`${attribute}\`: must be one of ${types.join(', ')}, got \`${excerpt(type)}\``);
		} else
			read.set(attribute, {
				identifiers,
				kind: type === undefined ? undefined : kindOfType(String(type)),
				required: required === true,
			});
	}
	if (problems.length > 0) throw new ColumnMappingError(problems.slice(0, mostProblems));
	return read;
}

/** Finds an attribute's column. Throws `ColumnMappingError`. */
export function mappedColumn(columns: ReadonlyMap<string, MappedColumn>, attribute: string): MappedColumn {
	const found = columns.get(attribute);
	if (found !== undefined) return found;
	throw new ColumnMappingError([`columns: the filter needs a column for the attribute \`${attribute}\``]);
}

function excerpt(value: unknown): string {
	return String(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);
}

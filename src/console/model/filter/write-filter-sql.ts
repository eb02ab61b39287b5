import { runToEnd } from '../../../../compiler/steps.js';
import type { ColumnMapping } from '../../../filter/column-mapping.js';
import { comparisonsIn, inferKinds } from '../../../filter/infer-kinds.js';
import { columnNameOf } from '../../../filter/predicate-column.js';
import { FilterRefusal, type Residual } from '../../../filter/residual.js';
import { type SqlDialectName, type SqlFilter, toSql } from '../../../filter/sql/to-sql.js';

/** A filter as SQL, with the assumed columns. */
export interface WrittenSql extends SqlFilter {
	/** Column names by attribute. */
	readonly columns: readonly (readonly [attribute: string, column: string])[];
}

/**
 * Writes a filter as SQL with parameters. `types` has the types of the resource's attributes. Columns are named after
 * the attributes. Returns the reason if the dialect cannot express the filter.
 */
export function writeFilterSql(
	residual: Residual,
	dialect: SqlDialectName,
	types: ReadonlyMap<string, string>,
): WrittenSql | string {
	const columns = columnsFor(residual, types);
	try {
		const written = toSql(residual, dialect, Object.fromEntries(columns));
		return { ...written, columns: columns.map(([attribute, { column }]) => [attribute, column]) };
	} catch (error) {
		if (error instanceof FilterRefusal) return error.message;
		throw error;
	}
}

/** Chooses a column for each compared attribute, with its declared type or else the type of the compared values. */
function columnsFor(residual: Residual, types: ReadonlyMap<string, string>) {
	const inferred = runToEnd(inferKinds(residual));
	const attributes = [...comparisonsIn(residual)].flatMap(({ column, operand }) =>
		[column, ...('column' in operand ? [operand.column] : [])].map(columnNameOf),
	);
	const taken = new Set<string>();
	return [...new Set(attributes)].map((attribute) => {
		const column = freeName(attribute === 'key' ? 'id' : attribute, taken);
		const kind = inferred(attribute);
		const type = types.get(attribute) ?? (kind === 'boolean' ? 'bool' : kind);
		const isBuiltIn = attribute === 'key' || attribute === 'tenant';
		const isTyped = !isBuiltIn && type !== undefined && type !== 'other';
		return [attribute, { column, ...(isTyped ? { type } : {}) }] as const satisfies readonly [
			string,
			ColumnMapping[string],
		];
	});
}

/** Returns an unused identifier for an attribute. */
function freeName(attribute: string, taken: Set<string>): string {
	const plain = attribute.replaceAll(/\W/g, '_').slice(0, 50);
	const name = /^\d/.test(plain) ? `_${plain}` : plain;
	let free = name;
	for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
	taken.add(free);
	return free;
}

/** Filters as SQL. */

import type { Residual } from '../residual.js';
import { toPredicate } from '../to-predicate.js';
import { mysql } from './mysql.js';
import { postgresql } from './postgresql.js';
import { ColumnMappingError, readColumns, type SqlColumns } from './sql-columns.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, type SqlText, type SqlValue } from './sql-text.js';
import { type SqlForm, writePredicate } from './sql-writer.js';
import { sqlite } from './sqlite.js';
import { sqlserver } from './sqlserver.js';

/** SQL dialects by name. `mysql` includes MariaDB. */
export const sqlDialects = { postgresql, mysql, sqlserver, sqlite } as const;

export type SqlDialectName = keyof typeof sqlDialects;

/** A filter in SQL with parameters. */
export interface SqlFilter {
	/** A condition for a `WHERE` clause. */
	readonly sql: string;
	/** The parameters, in order. A list is an array in PostgreSQL, and a text with a JSON array in other dialects. */
	readonly parameters: readonly SqlValue[];
}

/**
 * Writes a filter as SQL with parameters: `$1` in PostgreSQL, `@p1` in SQL Server, `?` in other dialects. Throws
 * `FilterRefusal` if the dialect cannot express the filter, and `ColumnMappingError`.
 */
export function toSql(residual: Residual, dialect: SqlDialectName, columns: SqlColumns): SqlFilter {
	const { parameter, numbersParameters } = sqlDialects[dialect];
	const parameters: SqlValue[] = [];
	const sql = fillGaps(writeSql(residual, dialect, columns, 'parameters'), (value) => {
		const known = numbersParameters ? parameters.indexOf(value) + 1 : 0;
		return parameter(known || parameters.push(value), value);
	});
	return { sql, parameters };
}

/** Writes a filter as SQL with quoted literals instead of parameters. Throws the same errors as `toSql`. */
export function toSqlLiterals(residual: Residual, dialect: SqlDialectName, columns: SqlColumns): string {
	const { literal }: SqlDialect = sqlDialects[dialect];
	const text = writeSql(residual, dialect, columns, 'literals');
	return fillGaps(text, (value) => (typeof value === 'number' ? String(value) : literal(String(value))));
}

/** Writes a filter with gaps for its values. Throws the same errors as `toSql`. */
export function writeSql(residual: Residual, dialectName: SqlDialectName, columns: SqlColumns, form: SqlForm): SqlText {
	const mapped = readColumns(columns);
	const target = `sql.${dialectName}`;
	const predicate = toPredicate(residual, { target, readKind: (name) => mapped.get(name)?.kind });
	const dialect: SqlDialect = sqlDialects[dialectName];
	return writePredicate(predicate, {
		dialect,
		target,
		form,
		column: ({ name }) => {
			const found = mapped.get(name);
			if (found !== undefined) return code(found.identifiers.map(dialect.identifier).join('.'));
			throw new ColumnMappingError([`columns: the filter needs a column for the attribute \`${name}\``]);
		},
	});
}

/** Joins a text, with the result of `write` in its gaps. */
export function fillGaps({ code: parts, values }: SqlText, write: (value: SqlValue) => string): string {
	const [first = '', ...others] = parts;
	return values.reduce((text: string, value, index) => `${text}${write(value)}${others[index] ?? ''}`, first);
}

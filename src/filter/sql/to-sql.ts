/** Filters as SQL. */

import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { type ColumnMapping, mappedColumn, readColumns } from '../column-mapping.js';
import type { ReadKind } from '../predicate-column.js';
import type { Residual } from '../residual.js';
import { toPredicate } from '../to-predicate.js';
import { mysql } from './mysql.js';
import { postgresql } from './postgresql.js';

import type { SqlDialect } from './sql-dialect.js';
import { code, fillGaps, type SqlText, type SqlValue } from './sql-text.js';
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
	/** The parameters, in order. A list is an array in PostgreSQL, and a string with a JSON array in other dialects. */
	readonly parameters: readonly SqlValue[];
}

/**
 * Writes a filter as SQL with parameters: `$1` in PostgreSQL, `@p1` in SQL Server, `?` in other dialects. Throws
 * `FilterRefusal` if the dialect cannot express the filter, and `ColumnMappingError`.
 */
export function toSql(residual: Residual, dialect: SqlDialectName, columns: ColumnMapping): SqlFilter {
	const { parameter, numbersParameters } = sqlDialects[dialect];
	const parameters: SqlValue[] = [];
	const numbers = new Map<SqlValue, number>();
	const text = runToEnd(writeSql(residual, dialect, columns, 'parameters'));
	const write = (value: SqlValue) => {
		const number = (numbersParameters ? numbers.get(value) : undefined) ?? parameters.push(value);
		numbers.set(value, number);
		return parameter(number, value);
	};
	return { sql: runToEnd(fillGaps(text, write)), parameters };
}

/**
 * Writes a filter as SQL with quoted literals instead of parameters. `inferKind` returns the kind of a column without a
 * type. Throws the same errors as `toSql`.
 */
export function* toSqlLiterals(
	residual: Residual,
	dialect: SqlDialectName,
	columns: ColumnMapping,
	inferKind?: ReadKind,
): Steps<string> {
	const { literal }: SqlDialect = sqlDialects[dialect];
	const text = yield* writeSql(residual, dialect, columns, 'literals', inferKind);
	return yield* fillGaps(text, (value) => (typeof value === 'number' ? String(value) : literal(String(value))));
}

/** Writes a filter with gaps for its values. Throws the same errors as `toSql`. */
export function* writeSql(
	residual: Residual,
	dialectName: SqlDialectName,
	columns: ColumnMapping,
	form: SqlForm,
	inferKind: ReadKind = () => undefined,
): Steps<SqlText> {
	const dialect: SqlDialect = sqlDialects[dialectName];
	const mapped = readColumns(columns);
	const target = `sql.${dialectName}`;
	const predicate = yield* toPredicate(residual, {
		target,
		readKind: (name) => {
			const kind = mappedColumn(mapped, name).kind ?? inferKind(name);
			return kind === 'uuid' && dialect.hasTextUuids === true ? 'string' : kind;
		},
		isRequired: (name) => mapped.get(name)?.required === true,
	});
	return yield* writePredicate(predicate, {
		dialect,
		target,
		form,
		column: ({ name }) => code(mappedColumn(mapped, name).identifiers.map(dialect.identifier).join('.')),
	});
}

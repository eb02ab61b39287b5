/** Writes filters from `POST /filter` and `LoadedEngine.filter` as parts of database queries. */

import { runToEnd } from '../../../compiler/steps.js';
import { ColumnMappingError } from '../../../src/filter/column-mapping.js';
import { everyRow, FilterRefusal, noRow, type Residual } from '../../../src/filter/residual.js';
import { fillGaps, type SqlValue } from '../../../src/filter/sql/sql-text.js';
import { sqlDialects, toSql as toParameters, writeSql } from '../../../src/filter/sql/to-sql.js';
import { toPrismaWhere as toPrisma } from '../../../src/filter/to-prisma-where.js';
import {
	type ColumnMapping,
	type KnexBuilder,
	type PrismaProvider,
	type PrismaWhere,
	RegolithError,
	type RowFilter,
	type SqlDialect,
	type SqlFilter,
} from './api.js';

/**
 * Writes a filter as a condition for `WHERE`, with parameters. Throws `RegolithError`: `filter_refused` if the dialect
 * cannot express the filter exactly, or `invalid_columns`.
 */
export function toSql(filter: RowFilter, dialect: SqlDialect, columns: ColumnMapping): SqlFilter {
	return written(() => toParameters(residualOf(filter), requireDialect(dialect), columns));
}

const dialectsByClient: Readonly<Record<string, SqlDialect>> = {
	pg: 'postgresql',
	postgres: 'postgresql',
	postgresql: 'postgresql',
	pgnative: 'postgresql',
	mysql: 'mysql',
	mysql2: 'mysql',
	mariadb: 'mysql',
	mssql: 'sqlserver',
	sqlite3: 'sqlite',
	'better-sqlite3': 'sqlite',
};

/**
 * Adds a filter to a Knex query, in the dialect of its client. Returns the query. Throws the same errors as `toSql`,
 * and `invalid_columns` for a client with a different dialect.
 */
export function applyFilter<Query extends KnexBuilder>(query: Query, filter: RowFilter, columns: ColumnMapping): Query {
	const { client = '' } = query.client?.config ?? {};
	const name = typeof client === 'string' ? client : (query.client?.dialect ?? '');
	const dialect = Object.hasOwn(dialectsByClient, name) ? dialectsByClient[name] : undefined;
	if (dialect === undefined) throw new RegolithError('invalid_columns', `the Knex client \`${name}\` is not supported`);
	return written(() => {
		const text = runToEnd(writeSql(residualOf(filter), dialect, columns, 'parameters'));
		const { parameter, numbersParameters } = sqlDialects[dialect];
		// Knex numbers the parameters itself, and reads `\?` as a question mark.
		const bindings: (string | number | string[])[] = [];
		const place = (value: SqlValue) => {
			bindings.push(typeof value === 'object' ? [...value] : value);
			return numbersParameters ? parameter(1, value).replace(/\$1|@p1/, '?') : '?';
		};
		query.whereRaw(runToEnd(fillGaps(text, place)), bindings);
		return query;
	});
}

/**
 * Writes a filter as a `where` for Prisma. Set `required` for fields without `?` in the Prisma schema. Throws the same
 * errors as `toSql`.
 */
export function toPrismaWhere(filter: RowFilter, provider: PrismaProvider, fields: ColumnMapping): PrismaWhere {
	if (provider !== 'postgresql' && provider !== 'sqlite') {
		throw new RegolithError(
			'filter_refused',
			`the Prisma provider \`${provider}\` is not supported: its comparisons are not exact`,
		);
	}
	return written(() => toPrisma(residualOf(filter), provider, fields));
}

function requireDialect(dialect: SqlDialect): SqlDialect {
	if (Object.hasOwn(sqlDialects, dialect)) return dialect;
	const known = Object.keys(sqlDialects).join(', ');
	throw new RegolithError('invalid_columns', `the dialect must be one of ${known}, got \`${dialect}\``);
}

/** Returns a filter's condition. An unknown type selects no rows. */
function residualOf({ type, condition }: RowFilter): Residual {
	if (type === 'always_allow') return everyRow;
	// The condition is from a decision point or an engine.
	return type === 'conditional' && condition !== undefined ? (condition as Residual) : noRow;
}

function written<T>(write: () => T): T {
	try {
		return write();
	} catch (error) {
		if (error instanceof FilterRefusal) throw new RegolithError('filter_refused', error.message, error);
		if (error instanceof ColumnMappingError) throw new RegolithError('invalid_columns', error.message, error);
		throw error;
	}
}

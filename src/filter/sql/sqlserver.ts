import { relationSign } from './relation-sign.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, type SqlText, sql } from './sql-text.js';

/**
 * SQL Server 2016 or newer. Equality ignores trailing blanks in every collation, so a mark at the end of both strings
 * makes it exact. No collation orders strings by code point.
 */
export const sqlserver: SqlDialect = {
	identifier: (name) => `[${name}]`,
	numbersParameters: true,
	parameter: (number, value) => {
		if (typeof value !== 'number') return `@p${number}`;
		return `CAST(@p${number} AS ${Number.isInteger(value) ? 'bigint' : 'float'})`;
	},
	literal: (text) => {
		// A backslash before a line break continues the literal, without both characters.
		const [first = '', ...others] = text.split(/(?<=\\)(?=[\r\n])/).map((part) => `N'${part.replaceAll("'", "''")}'`);
		return others.length === 0 ? first : `(${[`CAST(${first} AS nvarchar(max))`, ...others].join(' + ')})`;
	},
	truth: { true: '1', false: '0' },
	exactColumn,
	// The result of joining shorter types is cut off after 4,000 characters.
	exactValue: (value) => sql`CAST(${value} AS nvarchar(max)) + N'|'`,
	ordersText: false,
	addsIndexTest: true,
	inList: (column, values, found) => {
		const list = sql`OPENJSON(${JSON.stringify(values)}) WITH ([item] nvarchar(max) '$') AS [items]`;
		return sql`${exactColumn(column)} ${code(found ? 'IN' : 'NOT IN')} (SELECT [items].[item] + N'|' FROM ${list})`;
	},
	search: (column, place, text, found) => {
		if (place === 'anywhere') return sql`CHARINDEX(${text}, ${binary(column)}) ${code(found ? '> 0' : '= 0')}`;
		const [cut, length] = [code(place === 'start' ? 'LEFT' : 'RIGHT'), code(String(text.length))];
		return sql`${cut}(${binary(column)}, ${length}) + N'|' ${relationSign(found ? 'eq' : 'ne')} ${text} + N'|'`;
	},
	length: (column) => sql`LEN((CAST(${column} AS nvarchar(max)) + N'|') COLLATE Latin1_General_100_CI_AS_SC) - 1`,
};

function binary(column: SqlText): SqlText {
	return sql`CAST(${column} AS nvarchar(max)) COLLATE Latin1_General_100_BIN2`;
}

function exactColumn(column: SqlText): SqlText {
	return sql`${binary(column)} + N'|'`;
}

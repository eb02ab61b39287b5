import { relationSign } from './relation-sign.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, joinSql, type SqlText, sql } from './sql-text.js';

/** PostgreSQL, in databases with the encoding UTF-8. */
export const postgresql: SqlDialect = {
	identifier: (name) => `"${name}"`,
	numbersParameters: true,
	// Without a type, the server would infer the column type, which may differ between two uses.
	parameter: (number, value) => `CAST($${number} AS ${typeOf(value)})`,
	// In a plain literal, the setting `standard_conforming_strings` determines the meaning of backslashes.
	literal: (text) => {
		const quoted = text.replaceAll("'", "''");
		return text.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
	},
	truth: { true: 'TRUE', false: 'FALSE' },
	exactColumn,
	exactValue: (value) => value,
	ordersText: true,
	addsIndexTest: true,
	inList: (column, values, found) => {
		const exact = exactColumn(column);
		return found ? sql`(${column} = ANY(${values}) AND ${exact} = ANY(${values}))` : sql`${exact} <> ALL(${values})`;
	},
	uuidTest: (column, values, found) => {
		const items = joinSql(
			values.map((value) => sql`CAST(${value} AS uuid)`),
			', ',
		);
		return found ? sql`${column} IN (${items})` : sql`${column} NOT IN (${items})`;
	},
	search: (column, place, text, found) => {
		const exact = exactColumn(column);
		if (place === 'anywhere') return sql`strpos(${exact}, ${text}) ${code(found ? '> 0' : '= 0')}`;
		const [cut, length] = [code(place === 'start' ? 'left' : 'right'), code(String([...text].length))];
		return sql`${cut}(${exact}, ${length}) ${relationSign(found ? 'eq' : 'ne')} ${text}`;
	},
	length: (column) => sql`char_length(CAST(${column} AS text))`,
	// Works for timestamps with and without time zone. A timestamp without time zone is in UTC.
	timeTest: (column, relation, time) => sql`EXTRACT(EPOCH FROM ${column}) * 1000 ${relationSign(relation)} ${time}`,
};

function exactColumn(column: SqlText): SqlText {
	return sql`CAST(${column} AS text) COLLATE "C"`;
}

function typeOf(value: unknown): string {
	if (typeof value === 'string') return 'text';
	if (typeof value !== 'number') return 'text[]';
	return Number.isInteger(value) ? 'bigint' : 'double precision';
}

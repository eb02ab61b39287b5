import { timeText } from '../time-text.js';
import { relationSign } from './relation-sign.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, type SqlText, sql } from './sql-text.js';

/** SQLite, in databases with the encoding UTF-8. Times are strings such as `2030-01-31T08:15:00.000Z`. */
export const sqlite: SqlDialect = {
	// SQLite reads an unknown name in double quotes as a string.
	identifier: (name) => `\`${name}\``,
	numbersParameters: false,
	parameter: () => '?',
	literal: (text) => `'${text.replaceAll("'", "''")}'`,
	truth: { true: '1', false: '0' },
	exactColumn,
	exactValue: (value) => value,
	ordersText: true,
	addsIndexTest: true,
	inList: (column, values, found) => {
		const list = sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
		const exact = exactColumn(column);
		return found ? sql`(${column} IN ${list} AND ${exact} IN ${list})` : sql`${exact} NOT IN ${list}`;
	},
	hasTextUuids: true,
	// LIKE ignores case, and GLOB has more special characters than a string can quote.
	search: (column, place, text, found) => {
		if (place === 'anywhere') return sql`instr(${column}, ${text}) ${code(found ? '> 0' : '= 0')}`;
		if (place === 'start') return sql`instr(${column}, ${text}) ${code(found ? '= 1' : '<> 1')}`;
		const bytes = code(String(new TextEncoder().encode(text).length));
		const end = sql`substr(CAST(${column} AS BLOB), -${bytes})`;
		if (found) return sql`${end} = CAST(${text} AS BLOB)`;
		// The end of an empty string is null.
		return sql`(${column} IS NOT NULL AND ${end} IS NOT CAST(${text} AS BLOB))`;
	},
	length: (column) => sql`length(${column})`,
	timeTest: (column, relation, time) => sql`${column} COLLATE BINARY ${relationSign(relation)} ${timeText(time)}`,
};

/** A column of numbers would otherwise equal every text of the same number, such as `01`. */
function exactColumn(column: SqlText): SqlText {
	return sql`CAST(${column} AS TEXT) COLLATE BINARY`;
}

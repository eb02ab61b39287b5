import { timeText } from '../time-text.js';
import { relationSign } from './relation-sign.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, sql } from './sql-text.js';

/** SQLite, in databases with the encoding UTF-8. Times are strings such as `2030-01-31T08:15:00.000Z`. */
export const sqlite: SqlDialect = {
	// SQLite reads an unknown name in double quotes as a string.
	identifier: (name) => `\`${name}\``,
	numbersParameters: false,
	parameter: () => '?',
	literal: (text) => `'${text.replaceAll("'", "''")}'`,
	truth: { true: '1', false: '0' },
	exactColumn: (column) => sql`${column} COLLATE BINARY`,
	exactValue: (value) => value,
	ordersText: true,
	addsIndexTest: false,
	inList: (column, values, found) =>
		sql`${column} COLLATE BINARY ${code(found ? 'IN' : 'NOT IN')} (SELECT value FROM json_each(${JSON.stringify(values)}))`,
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

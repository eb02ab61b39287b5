import { relationSign } from './relation-sign.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, type SqlText, sql } from './sql-text.js';

/** MySQL 8.0 or newer, and MariaDB 10.6 or newer. Collations ignore case and trailing blanks, so bytes are compared. */
export const mysql: SqlDialect = {
	identifier: (name) => `\`${name}\``,
	numbersParameters: false,
	parameter: () => '?',
	// In a plain literal, the setting NO_BACKSLASH_ESCAPES determines the meaning of backslashes.
	literal: (text) => (/^[\w .,:;@/+-]*$/.test(text) ? `'${text}'` : `_utf8mb4 X'${hexadecimal(text)}'`),
	truth: { true: 'TRUE', false: 'FALSE' },
	exactColumn: bytes,
	exactValue: bytes,
	ordersText: true,
	addsIndexTest: true,
	inList: (column, values, found) => {
		const list = sql`JSON_TABLE(${JSON.stringify(values)}, '$[*]' COLUMNS (item LONGTEXT PATH '$')) AS items`;
		return sql`${bytes(column)} ${code(found ? 'IN' : 'NOT IN')} (SELECT ${bytes(code('items.item'))} FROM ${list})`;
	},
	hasTextUuids: true,
	search: (column, place, text, found) => {
		if (place === 'anywhere')
			return sql`LOCATE(${bytes(sql`${text}`)}, ${bytes(column)}) ${code(found ? '> 0' : '= 0')}`;
		const [cut, length] = [code(place === 'start' ? 'LEFT' : 'RIGHT'), code(String(utf8(text).length))];
		return sql`${cut}(${bytes(column)}, ${length}) ${relationSign(found ? 'eq' : 'ne')} ${bytes(sql`${text}`)}`;
	},
	length: (column) => sql`CHAR_LENGTH(CONVERT(${column} USING utf8mb4))`,
};

function bytes(text: SqlText): SqlText {
	return sql`CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
}

function utf8(text: string): Uint8Array {
	return new TextEncoder().encode(text);
}

function hexadecimal(text: string): string {
	return Array.from(utf8(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

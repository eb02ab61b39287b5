import { nextTurn } from '../../limit/next-turn.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** Rows per string: a number that can be read in a few milliseconds. */
const rowsPerText = 5_000;

/**
 * Reads the rows that match a condition (default: all rows). Each column is a string: an id, a key, a number or JSON,
 * which escapes tabs and line breaks. Null becomes an empty string. A large table arrives as a few long strings,
 * because reading each row through the driver would take eight times longer. Other requests are served between these
 * long strings.
 */
export async function* textRows(
	unit: ReadingUnit,
	table: string,
	columns: readonly string[],
	condition = 'true',
): AsyncGenerator<readonly (readonly string[])[]> {
	const { rows } = await unit.raw<{ readonly lines: string }>(
		`select string_agg(line, chr(10)) as lines from (
			select concat(${columns.join(', chr(9), ')}) as line, row_number() over () / ${rowsPerText} as chunk
			from ${table} where environment_id = :environment_id and ${condition}
		) as numbered group by chunk`,
		{},
	);
	for (const { lines } of rows) {
		yield lines.split('\n').map((line) => line.split('\t'));
		await nextTurn();
	}
}

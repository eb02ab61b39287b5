import { nextTurn } from '../../limit/next-turn.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** Rows per text, read in a few milliseconds. */
const rowsPerText = 5_000;

/**
 * Reads rows that match a condition (default: all rows) as column texts: ids, keys and JSON. They contain no tabs or
 * line breaks, because JSON escapes them; null becomes an empty text. A large table arrives as a few long texts:
 * reading each row through the driver would take eight times longer. Serves other requests between texts.
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

import { nextTurn } from '../../limit/next-turn.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** As many rows as take a few milliseconds. */
const rowsPerText = 5_000;

/**
 * Reads rows, all or those that a condition selects, as the texts of some columns: ids, keys and JSON. None of these
 * holds a tab or a line break, because JSON escapes them; a null is an empty text. A large table arrives as a few long
 * texts: getting each row out of the driver would take eight times as long. Other requests are served between two texts.
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

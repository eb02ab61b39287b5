import type { EnvironmentModel } from '../table/environment-model.js';
import { holdsNow } from './holds-now.js';
import type { TableModel } from './table-model.js';

/**
 * Statements that take whole rows as one JSON text: each is written once for its table, prepared once for a connection,
 * and has one parameter where a list of values would have thousands.
 */

/** What becomes of a row that meets one that is there: an error, nothing, or new values for these columns of it. */
export type OnConflict = 'fail' | 'ignore' | { readonly overwrite: readonly string[] };

const statements = new Map<string, string>();

/**
 * The statement that inserts these columns of rows into one environment, and returns whole rows. Its parameters are the
 * environment's id, whatever the rows say of it, and the rows.
 */
export function insertion<M extends EnvironmentModel>(
	{ tableName }: TableModel<M>,
	columns: readonly string[],
	conflict: OnConflict = 'fail',
): string {
	const action = onConflict(conflict);
	const name = `${tableName} ${columns.join(' ')} ${action}`;
	const known = statements.get(name);
	if (known !== undefined) return known;
	const listed = columns.flatMap((column) => (column === 'environment_id' ? [] : [`"${column}"`])).join(', ');
	// `json` and not `jsonb`, which would reorder the members of objects in columns of that type.
	const source = `select ?::uuid, ${listed} from json_populate_recordset(null::"${tableName}", ?::json)`;
	const statement = `insert into "${tableName}" (environment_id, ${listed}) ${source} ${action} returning *`;
	statements.set(name, statement);
	return statement;
}

/**
 * The statement that changes these columns of one row, and returns it whole. Its parameters are the new values as one
 * JSON text, the environment's id and that of the row.
 */
export function change<M extends EnvironmentModel>(
	{ tableName, expires }: TableModel<M>,
	columns: readonly string[],
): string {
	const name = `${tableName} ${columns.join(' ')} change`;
	const known = statements.get(name);
	if (known !== undefined) return known;
	const listed = columns.map((column) => `"${column}"`).join(', ');
	const values = `select ${listed} from json_populate_record(null::"${tableName}", ?::json)`;
	const holds = expires ? ` and ${holdsNow(`"${tableName}"`)}` : '';
	const statement = `update "${tableName}" set (${listed}) = (${values}) where environment_id = ? and id = ?${holds} returning *`;
	statements.set(name, statement);
	return statement;
}

function onConflict(conflict: OnConflict): string {
	if (conflict === 'fail') return '';
	if (conflict === 'ignore') return 'on conflict do nothing';
	const sets = conflict.overwrite.map((column) => `"${column}" = excluded."${column}"`);
	return `on conflict (environment_id, id) do update set ${sets.join(', ')}`;
}

/**
 * The columns that rows have, where JSON can say what is in them; `null` where they hold bytes, or where a row leaves a
 * column to its default that another one has.
 */
export function jsonColumns(rows: readonly object[]): readonly string[] | null {
	const columns = definedColumns(rows[0] ?? {});
	const alike = rows.every((row) => {
		const entries = Object.entries(row).filter(([, value]) => value !== undefined);
		return (
			entries.length === columns.length &&
			entries.every(([name, value], index) => {
				return name === columns[index] && !(value instanceof Uint8Array);
			})
		);
	});
	return alike ? columns : null;
}

function definedColumns(row: object): readonly string[] {
	return Object.entries(row).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

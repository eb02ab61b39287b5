import { holdsNow } from '../query/holds-now.js';
import type { EnvironmentModel } from '../table/environment-model.js';
import { asModel, type TableModel } from './table-model.js';

/**
 * Statements that receive whole rows as JSON. Each statement is composed once per table and prepared once per
 * connection. All rows are a single parameter, while a value list would need thousands.
 */

/** Behavior if a row conflicts with an existing row: fail, ignore the new row, or overwrite these columns. */
export type OnConflict = 'fail' | 'ignore' | { readonly overwrite: readonly string[] };

const statements = new Map<string, string>();

/**
 * Returns a statement that inserts rows with these columns into an environment. The statement's result is the inserted
 * rows or, if it ignores conflicting rows, the ids of the inserted rows. Parameters: the environment id, which
 * overrides the rows' own environment ids, and the rows.
 */
export function insertion<M extends EnvironmentModel>(
	table: TableModel<M>,
	columns: readonly string[],
	conflict: OnConflict = 'fail',
): string {
	const { tableName } = table;
	const action = onConflict(conflict);
	const name = `${tableName} ${columns.join(' ')} ${action}`;
	const known = statements.get(name);
	if (known !== undefined) return known;
	const listed = columns.flatMap((column) => (column === 'environment_id' ? [] : [`"${column}"`])).join(', ');
	// Use `json`: `jsonb` would reorder object fields in `json` columns.
	const source = `select ?::uuid, ${listed} from json_populate_recordset(null::"${tableName}", ?::json)`;
	const statement = `insert into "${tableName}" (environment_id, ${listed}) ${source} ${action} returning ${conflict === 'ignore' ? idColumns(table).join(', ') : '*'}`;
	statements.set(name, statement);
	return statement;
}

/** Returns the passed rows that an insertion has written, which are identified by the returned `ids`. */
export function rowsWritten<M extends EnvironmentModel>(
	table: TableModel<M>,
	rows: readonly object[],
	ids: readonly object[],
): readonly object[] {
	const columns = idColumns(table);
	const identity = (row: object) => JSON.stringify(columns.map((column) => Reflect.get(row, column)));
	const written = new Set(ids.map(identity));
	// If a row is passed twice, it is written once.
	return rows.filter((row) => written.delete(identity(row)));
}

/** Returns the columns identifying a row in its environment. */
function idColumns<M extends EnvironmentModel>(table: TableModel<M>): readonly string[] {
	return [asModel(table).idColumn].flat().filter((column) => column !== 'environment_id');
}

/**
 * Returns the statement that updates these columns in a row and returns the whole row. Parameters: the new values as
 * JSON, the environment id, and the row id.
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
 * Returns the rows' columns if JSON can represent them. Returns `null` if a value is binary, or if the rows do not all
 * define the same columns.
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

import { holdsNow } from '../query/holds-now.js';
import type { EnvironmentModel } from '../table/environment-model.js';
import type { TableModel, Within } from './table-model.js';

/**
 * Statements that find rows by keys or ids, used by nearly every request. Each statement is composed only once per
 * table, because composing it with a query builder takes longer than executing it.
 */
const statements = new Map<string, Prepared>();

/** A statement and its name as a prepared statement. */
interface Prepared {
	readonly name: string;
	readonly sql: string;
}

/**
 * Returns the statement that finds an environment's rows by keys or, if `withIds`, also by ids. Parameters: the
 * environment id, the keys, the ids, and the values in `within` that are not null.
 */
export function lookUp<M extends EnvironmentModel>(table: TableModel<M>, within: Within, withIds: boolean): Prepared {
	const narrowed = Object.entries(within).map(([column, value]) => `"${column}" ${value === null ? 'is null' : '= ?'}`);
	const shape = `${table.tableName} ${withIds} ${narrowed.join()} ${table.shown}`;
	const known = statements.get(shape);
	if (known !== undefined) return known;
	const named = withIds ? '(key = any(?::text[]) or id = any(?::uuid[]))' : 'key = any(?::text[])';
	const expires = table.expires ? [holdsNow(`"${table.tableName}"`)] : [];
	const shown = table.shown === undefined ? [] : [table.shown];
	const conditions = ['environment_id = ?', named, ...narrowed, ...expires, ...shown].join(' and ');
	const sql = `select * from "${table.tableName}" where ${conditions}`;
	const statement = { name: `look_up_${statements.size}`, sql };
	statements.set(shape, statement);
	return statement;
}

import type { EnvironmentModel } from '../table/environment-model.js';
import { holdsNow } from './holds-now.js';
import type { TableModel, Within } from './table-model.js';

/**
 * Finding rows by their keys or ids is the statement of nearly every request. Its text is written once for each table:
 * composing it by a query builder takes longer than the database takes to answer it.
 */
const statements = new Map<string, Prepared>();

/** A statement, and the name under which connections keep it prepared. */
interface Prepared {
	readonly name: string;
	readonly sql: string;
}

/**
 * The statement that finds rows of an environment by their keys or, `withIds`, also by ids. Its parameters are the
 * environment's id, the keys, the ids, and the values of `within` that are not null.
 */
export function lookUp<M extends EnvironmentModel>(table: TableModel<M>, within: Within, withIds: boolean): Prepared {
	const narrowed = Object.entries(within).map(([column, value]) => `"${column}" ${value === null ? 'is null' : '= ?'}`);
	const shape = `${table.tableName} ${withIds} ${narrowed.join()}`;
	const known = statements.get(shape);
	if (known !== undefined) return known;
	const named = withIds ? '(key = any(?::text[]) or id = any(?::uuid[]))' : 'key = any(?::text[])';
	const expires = table.expires ? [holdsNow(`"${table.tableName}"`)] : [];
	const conditions = ['environment_id = ?', named, ...narrowed, ...expires].join(' and ');
	const sql = `select * from "${table.tableName}" where ${conditions}`;
	const statement = { name: `look_up_${statements.size}`, sql };
	statements.set(shape, statement);
	return statement;
}

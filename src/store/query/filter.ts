import type { Model, QueryBuilder } from 'objection';
import type { SearchOperator } from '../../wire/query.js';

/**
 * Keeps rows with a column that matches the search, ignoring case. An operator determines the position at which the
 * search must match. Without an operator, the search matches a substring. If it contains a `*`, it matches the whole
 * value instead, and each `*` is a wildcard.
 */
export function whereSearched<M extends Model>(
	query: QueryBuilder<M, M[]>,
	columns: readonly string[],
	search: string | undefined,
	operator?: SearchOperator,
): QueryBuilder<M, M[]> {
	if (search === undefined || search === '') return query;
	const pattern = searchPattern(search, operator);
	return query.where((any) => {
		for (const column of columns) any.orWhereRaw('?? ilike ?', [column, pattern]);
	});
}

/** Returns the `like` pattern for a search: see `whereSearched`. */
export function searchPattern(search: string, operator?: SearchOperator): string {
	const literal = search.replace(/[\\%_]/g, '\\$&');
	if (operator === 'startswith') return `${literal}%`;
	if (operator === 'endswith') return `%${literal}`;
	return operator === undefined && literal.includes('*') ? literal.replaceAll('*', '%') : `%${literal}%`;
}

/** Keeps rows in which each column has an id from its list. Columns without a list do not filter. */
export function whereIdsIn<M extends Model>(
	query: QueryBuilder<M, M[]>,
	columns: Readonly<Record<string, readonly string[] | undefined>>,
): QueryBuilder<M, M[]> {
	for (const [column, ids] of Object.entries(columns)) {
		if (ids !== undefined) query.whereRaw('?? = any(?::uuid[])', [column, ids]);
	}
	return query;
}

/** String value that a field in a JSON column must have. */
export interface AttributeFilter {
	readonly name: string;
	readonly value: string;
}

/** Keeps rows whose JSON column has all these string values. */
export function whereAttributes<M extends Model>(
	query: QueryBuilder<M, M[]>,
	column: string,
	filters: readonly AttributeFilter[],
): QueryBuilder<M, M[]> {
	for (const { name, value } of filters) query.whereRaw('?? ->> ?::text = ?', [column, name, value]);
	return query;
}

import type { QueryBuilder } from 'objection';
import type { KeyedModel } from './table/environment-model.js';

const dashed = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const hex = /^[0-9a-f]{32}$/i;

/** The id a reference spells, dashed and lower case, or `null` when it can only be a key. */
export function asId(reference: string): string | null {
	if (dashed.test(reference)) return reference.toLowerCase();
	if (!hex.test(reference)) return null;
	return reference.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Narrows a query to rows that one of `references` names: each an id (dashed or bare hexadecimal) or a key. */
export function whereReferred<M extends KeyedModel>(
	query: QueryBuilder<M, M[]>,
	table: string,
	references: readonly string[],
): QueryBuilder<M, M[]> {
	const ids = references.map(asId).filter((id) => id !== null);
	return query.where((either) => {
		either.whereRaw('?? = any(?::text[])', [`${table}.key`, references]);
		if (ids.length > 0) either.orWhereRaw('?? = any(?::uuid[])', [`${table}.id`, ids]);
	});
}

/** The row each reference names, by reference; none for those that name nothing. INVARIANT: an id match wins. */
export function pairUp<M extends KeyedModel>(
	rows: readonly M[],
	references: readonly string[],
): ReadonlyMap<string, M> {
	const byId = new Map(rows.map((row) => [row.id, row]));
	const byKey = new Map(rows.map((row) => [row.key, row]));
	const found = new Map<string, M>();
	for (const reference of references) {
		const row = byId.get(asId(reference) ?? '') ?? byKey.get(reference);
		if (row !== undefined) found.set(reference, row);
	}
	return found;
}

import type { QueryBuilder } from 'objection';
import { asId } from '../../wire/common.js';
import type { Environment, Project } from '../table/account.js';
import type { KeyedModel } from '../table/environment-model.js';

/**
 * Keeps rows that match at least one reference. A reference is an id (hexadecimal, with or without dashes) or a key.
 */
export function whereReferred<M extends KeyedModel>(
	query: QueryBuilder<M, M[]>,
	table: string,
	references: readonly string[],
): QueryBuilder<M, M[]> {
	const ids = idsAmong(references);
	return query.where((either) => {
		either.whereRaw('?? = any(?::text[])', [`${table}.key`, references]);
		if (ids.length > 0) either.orWhereRaw('?? = any(?::uuid[])', [`${table}.id`, ids]);
	});
}

/** Returns the references that look like ids, converted to ids. */
export function idsAmong(references: readonly string[]): string[] {
	return references.map(asId).filter((id) => id !== null);
}

/**
 * Returns rows keyed by reference, omitting unknown references. INVARIANT: if a reference matches both an id and a key,
 * the id match is used.
 */
export function rowsByReference<R extends { readonly id: string; readonly key: string }>(
	rows: readonly R[],
	references: readonly string[],
): ReadonlyMap<string, R> {
	const byId = new Map(rows.map((row) => [row.id, row]));
	const byKey = new Map(rows.map((row) => [row.key, row]));
	const found = new Map<string, R>();
	for (const reference of references) {
		const row = byId.get(asId(reference) ?? '') ?? byKey.get(reference);
		if (row !== undefined) found.set(reference, row);
	}
	return found;
}

/** Keeps projects or environments with this id or key. */
export function referredIn<M extends Project | Environment>(
	query: QueryBuilder<M, M[]>,
	table: 'projects' | 'environments',
	reference: string,
): QueryBuilder<M, M[]> {
	const id = asId(reference);
	return query.where((either) => {
		either.where(`${table}.key`, reference);
		if (id !== null) either.orWhere(`${table}.id`, id);
	});
}

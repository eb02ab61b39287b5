import type { Place } from './management.js';

/** Returns the newest revision's changes in words, sorted. */
export async function newestChanges({ store, id, revision }: Place): Promise<readonly string[]> {
	const rows: { kind: string; operation: string; key: string }[] = await store.database
		.knex('changes')
		.where({ environment_id: id, revision: await revision() })
		.select('kind', 'operation', 'key');
	return rows.map(({ kind, operation, key }) => `${operation} ${kind} ${key}`).sort();
}

import type { Knex } from 'knex';
import { UnsupportedDatabase } from './unsupported-database.js';

/** The first and the last of thirty migrations before the first release. */
const oldest = '0001-foundation';
const newest = '0030-refreshes';

/**
 * Adopts a database from before the first release: after the last of the old migrations it has the same tables as after
 * `0001-first-release`, so only the names of its migrations change. `done` has the names of its migrations in order.
 * Returns false for a database from a release, or without migrations.
 */
export async function adoptUnreleased(knex: Knex, done: readonly string[]): Promise<boolean> {
	if (done[0] !== oldest) return false;
	const last = done.at(-1);
	if (last !== newest) {
		throw new UnsupportedDatabase(
			`an unreleased version of Regolith has migrated the database (${last}): start the last unreleased version (${newest}) once, or export the environments with the old version and import them into a new database`,
		);
	}
	await knex.transaction(async (transaction) => {
		await transaction('knex_migrations').whereNot({ name: oldest }).delete();
		await transaction('knex_migrations').update({ name: '0001-first-release' });
	});
	return true;
}

import type { Knex } from 'knex';

/** Last refresh requested from the decision points with an API key, and its reason. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		'alter table api_keys add column refresh_id uuid, add column refresh_revision bigint, add column refresh_reason text',
	);
}

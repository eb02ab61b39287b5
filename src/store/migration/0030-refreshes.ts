import type { Knex } from 'knex';

/** The refresh that was asked for last of the decision points that use an API key, and why. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		'alter table api_keys add column refresh_id uuid, add column refresh_revision bigint, add column refresh_reason text',
	);
}

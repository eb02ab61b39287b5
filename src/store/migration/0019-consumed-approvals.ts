import type { Knex } from 'knex';

/** When single-use operation approvals were used. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('alter table element_requests add column consumed_at timestamptz');
}

import type { Knex } from 'knex';

/** Approvals of operations that are good for one use say when they were used. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('alter table element_requests add column consumed_at timestamptz');
}

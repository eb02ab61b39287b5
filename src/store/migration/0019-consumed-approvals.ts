import type { Knex } from 'knex';

/** Time of use for single-use operation approvals. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('alter table element_requests add column consumed_at timestamptz');
}

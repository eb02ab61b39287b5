import type { Knex } from 'knex';

/** Records that the key created by a first start was shown. True for existing organizations. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('alter table organizations add column first_key_shown boolean not null default true');
}

import type { Knex } from 'knex';

/** Whether the key that a first start made was shown to somebody. Those of organizations that exist were. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('alter table organizations add column first_key_shown boolean not null default true');
}

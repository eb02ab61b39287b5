import type { Knex } from 'knex';

/** Whether the key that a first start made has been shown. For organizations that exist already, it has. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('alter table organizations add column first_key_shown boolean not null default true');
}

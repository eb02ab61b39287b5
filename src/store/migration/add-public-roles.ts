import type { Knex } from 'knex';

/** Adds the roles that can be assigned to everyone. */
export async function addPublicRoles(knex: Knex): Promise<void> {
	await knex.raw(`alter table roles add column "public" boolean not null default false
		check (not "public" or resource_id is not null)`);
}

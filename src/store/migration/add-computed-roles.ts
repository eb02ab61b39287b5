import type { Knex } from 'knex';

/** Adds the expressions of computed roles; null for all other roles. */
export async function addComputedRoles(knex: Knex): Promise<void> {
	await knex.raw('alter table roles add column computed jsonb');
}

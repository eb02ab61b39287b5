import type { Knex } from 'knex';

/**
 * Upper bounds for the cost of a check in an environment, in steps and closures: see
 * docs/decisions/0028-the-dearest-check.md. Existing environments may contain anything, so they start with the greatest
 * number and are counted when it matters.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table check_bounds (
		environment_id uuid primary key references environments on delete cascade,
		steps integer not null,
		closures integer not null
	)`,
	`insert into check_bounds (environment_id, steps, closures)
		select id, 2147483647, 2147483647 from environments`,
] as const;

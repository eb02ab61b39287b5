import type { Knex } from 'knex';

/** Invites may end. The index by which they are swept holds those alone. */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'alter table user_invites add column expires_at timestamptz',
	`create index user_invites_expiring on user_invites (expires_at, environment_id) where expires_at is not null`,
] as const;

import type { Knex } from 'knex';

/** Expiry of invites. The index for sweeping contains only expiring invites. */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'alter table user_invites add column expires_at timestamptz',
	`create index user_invites_expiring on user_invites (expires_at, environment_id) where expires_at is not null`,
] as const;

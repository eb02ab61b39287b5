import type { Knex } from 'knex';

/**
 * Expiry of role assignments and relationship tuples. Few expire, so the indexes for sweeping contain only expiring
 * rows. Requests have a requested expiry.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'alter table role_assignments add column expires_at timestamptz',
	'alter table relationship_tuples add column expires_at timestamptz',
	`create index role_assignments_expiring on role_assignments (expires_at, environment_id)
		where expires_at is not null`,
	`create index relationship_tuples_expiring on relationship_tuples (expires_at, environment_id)
		where expires_at is not null`,
	'alter table element_requests add column expires_at timestamptz',
] as const;

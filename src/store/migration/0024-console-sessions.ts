import type { Knex } from 'knex';

/**
 * Console sessions, and the tickets that begin them. A session belongs to an environment, and is deleted with it, and
 * to an API key with its secret at that time. Keys are not foreign keys: a session whose key is gone reports it until
 * it is removed.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table console_sessions (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		organization_id uuid not null,
		api_key_id uuid not null,
		key_fingerprint bytea not null,
		secret_hash bytea not null unique,
		previous_hash bytea,
		previous_until timestamptz,
		rotated_at timestamptz not null,
		created_at timestamptz not null,
		last_used_at timestamptz not null,
		primary key (environment_id, id)
	)`,
	'create index console_sessions_previous on console_sessions (previous_hash)',
	'create index console_sessions_key on console_sessions (api_key_id)',
	'create index console_sessions_use on console_sessions (last_used_at)',
	`create table console_tickets (
		ticket_hash bytea primary key,
		api_key_id uuid not null,
		key_fingerprint bytea not null,
		expires_at timestamptz not null,
		spent_at timestamptz
	)`,
	'create index console_tickets_expiry on console_tickets (expires_at)',
] as const;

import type { Knex } from 'knex';

/**
 * Sign-ins to an environment's elements. A row is a sign-in, with the hashes of its secrets: the ticket until it is
 * spent, the bearer token, and the cookie after the ticket was spent. A sign-in ends with its user, its tenant and its
 * environment.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table element_sessions (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		user_id uuid not null,
		tenant_id uuid not null,
		ticket_hash bytea unique,
		ticket_expires_at timestamptz,
		bearer_hash bytea unique,
		bearer_expires_at timestamptz,
		cookie_hash bytea unique,
		cookie_expires_at timestamptz,
		created_at timestamptz not null,
		expires_at timestamptz not null,
		last_used_at timestamptz,
		primary key (environment_id, id),
		foreign key (environment_id, user_id) references users on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade
	)`,
	'create index element_sessions_user on element_sessions (environment_id, user_id)',
	'create index element_sessions_tenant on element_sessions (environment_id, tenant_id)',
	'create index element_sessions_expiry on element_sessions (environment_id, expires_at)',
	// Finds environments that allow an origin to embed their elements.
	`create index environments_elements_origins on environments
		using gin ((settings -> 'elements_origins') jsonb_path_ops)`,
] as const;

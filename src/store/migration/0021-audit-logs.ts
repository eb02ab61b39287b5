import type { Knex } from 'knex';

/**
 * Decisions, as decision points have logged them. They are in parts by the day on which they came, so that old ones go
 * by dropping a table. They are no objects of the environment and refer to nothing, because whatever they name may be
 * gone while they are kept.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table audit_logs (
		environment_id uuid not null,
		received_on date not null,
		id uuid not null,
		logged_at timestamptz not null,
		api_key_id uuid not null,
		user_key text,
		action text,
		resource_type text,
		tenant text,
		decision boolean,
		code text,
		raw json not null,
		primary key (environment_id, id, received_on)
	) partition by range (received_on)`,
	'create index audit_logs_time on audit_logs (environment_id, logged_at desc, id desc)',
	'create index audit_logs_user on audit_logs (environment_id, user_key, logged_at desc, id desc)',
] as const;

import type { Knex } from 'knex';

/**
 * Decisions logged by decision points. They are partitioned by the day they were received, so old decisions are removed
 * by dropping a table. They are not environment objects and have no references, because they may outlive everything
 * they name.
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

import type { Knex } from 'knex';

/**
 * Elements: configurations for an environment's embedded pages, and their permission levels for roles. As in the
 * foundation, references never leave their environment.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table elements_configs (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		name text not null,
		elements_type text not null check (elements_type in
			('user_management', 'audit_log', 'approval_flow', 'operation_approval', 'approval_management')),
		settings jsonb not null,
		is_active boolean not null,
		email_notifications boolean not null,
		webhook_id uuid,
		webhook_url text,
		webhook_created_at timestamptz,
		webhook_updated_at timestamptz,
		secret_webhook_token bytea,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint elements_configs_key unique (environment_id, key)
	)`,
	`create table elements_levels (
		environment_id uuid not null,
		config_id uuid not null,
		role_id uuid not null,
		level text not null check (level in ('LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4', 'HIDDEN')),
		primary key (environment_id, config_id, role_id),
		foreign key (environment_id, config_id) references elements_configs on delete cascade,
		foreign key (environment_id, role_id) references roles on delete cascade
	)`,
	'create index elements_levels_role on elements_levels (environment_id, role_id)',
] as const;

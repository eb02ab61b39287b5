import type { Knex } from 'knex';

/** User invites and proxy configurations. As in the foundation, references never leave their environment. */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table user_invites (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		status text not null check (status in ('pending', 'approved')),
		email text not null,
		first_name text,
		last_name text,
		role_id uuid not null,
		tenant_id uuid not null,
		resource_instance_id uuid,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		foreign key (environment_id, resource_instance_id) references resource_instances on delete cascade,
		constraint user_invites_key unique (environment_id, key)
	)`,
	'create index user_invites_role on user_invites (environment_id, role_id)',
	'create index user_invites_tenant on user_invites (environment_id, tenant_id)',
	'create index user_invites_instance on user_invites (environment_id, resource_instance_id)',
	`create table proxy_configs (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		name text not null,
		secret_cipher bytea not null,
		auth_mechanism text not null check (auth_mechanism in ('Bearer', 'Basic', 'Headers')),
		mapping_rules jsonb not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint proxy_configs_key unique (environment_id, key)
	)`,
] as const;

import type { Knex } from 'knex';

/**
 * Organizations, projects, environments and their keys; an environment's RBAC objects; its change log; compiled
 * policies. INVARIANT: a table of environment objects has the primary key (environment_id, id), and its foreign keys
 * include environment_id, so no row can refer to a different environment.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table organizations (
		id uuid primary key,
		key text not null unique,
		name text not null,
		settings jsonb,
		created_at timestamptz not null,
		updated_at timestamptz not null
	)`,
	`create table projects (
		id uuid primary key,
		organization_id uuid not null references organizations on delete cascade,
		key text not null,
		name text not null,
		description text,
		urn_namespace text,
		settings jsonb,
		active_policy_repo_id uuid,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		unique (organization_id, key)
	)`,
	`create table environments (
		id uuid primary key,
		organization_id uuid not null references organizations on delete cascade,
		project_id uuid not null references projects on delete cascade,
		key text not null,
		name text not null,
		description text,
		custom_branch_name text,
		jwks jsonb,
		settings jsonb,
		revision bigint not null default 0,
		schema_revision bigint not null default 0,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		unique (project_id, key)
	)`,
	`create table api_keys (
		id uuid primary key,
		organization_id uuid not null references organizations on delete cascade,
		project_id uuid references projects on delete cascade,
		environment_id uuid references environments on delete cascade,
		object_type text not null check (object_type in ('org', 'project', 'env')),
		access_level text not null check (access_level in ('admin', 'write', 'read', 'no_access')),
		owner_type text not null check (owner_type in ('pdp_config', 'member', 'elements')),
		name text,
		secret_hash bytea not null unique,
		secret_cipher bytea not null,
		created_at timestamptz not null,
		last_used_at timestamptz,
		check ((project_id is not null) = (object_type in ('project', 'env'))),
		check ((environment_id is not null) = (object_type = 'env'))
	)`,
	`create table server_key_check (
		id boolean primary key default true check (id),
		sealed bytea not null
	)`,
	'create index api_keys_environment on api_keys (environment_id)',
	'create index api_keys_project on api_keys (project_id)',

	`create table resources (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		name text not null,
		urn text,
		description text,
		type_attributes jsonb,
		built_in boolean not null default false,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint resources_key unique (environment_id, key)
	)`,
	`create table resource_actions (
		environment_id uuid not null,
		id uuid not null,
		resource_id uuid not null,
		key text not null,
		name text not null,
		description text,
		attributes jsonb,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, resource_id) references resources on delete cascade,
		constraint resource_actions_key unique (environment_id, resource_id, key)
	)`,
	`create table resource_attributes (
		environment_id uuid not null,
		id uuid not null,
		resource_id uuid not null,
		key text not null,
		type text not null,
		description text,
		built_in boolean not null default false,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, resource_id) references resources on delete cascade,
		constraint resource_attributes_key unique (environment_id, resource_id, key)
	)`,
	`create table roles (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		name text not null,
		description text,
		attributes jsonb,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint roles_key unique (environment_id, key)
	)`,
	`create table role_permissions (
		environment_id uuid not null,
		role_id uuid not null,
		action_id uuid not null,
		position integer not null,
		primary key (environment_id, role_id, action_id),
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, action_id) references resource_actions on delete cascade
	)`,
	'create index role_permissions_action on role_permissions (environment_id, action_id)',
	`create table role_parents (
		environment_id uuid not null,
		role_id uuid not null,
		parent_id uuid not null,
		position integer not null,
		primary key (environment_id, role_id, parent_id),
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, parent_id) references roles on delete cascade
	)`,
	'create index role_parents_parent on role_parents (environment_id, parent_id)',

	`create table users (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		email text,
		first_name text,
		last_name text,
		attributes jsonb not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint users_key unique (environment_id, key)
	)`,
	`create table tenants (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		name text not null,
		description text,
		attributes jsonb,
		last_action_at timestamptz not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint tenants_key unique (environment_id, key)
	)`,
	`create table role_assignments (
		environment_id uuid not null,
		id uuid not null,
		user_id uuid not null,
		role_id uuid not null,
		tenant_id uuid not null,
		created_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, user_id) references users on delete cascade,
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		constraint role_assignments_key unique (environment_id, tenant_id, user_id, role_id)
	)`,
	'create index role_assignments_user on role_assignments (environment_id, user_id)',
	'create index role_assignments_role on role_assignments (environment_id, role_id)',

	`create table tenant_users (
		environment_id uuid not null,
		tenant_id uuid not null,
		user_id uuid not null,
		created_at timestamptz not null,
		primary key (environment_id, tenant_id, user_id),
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		foreign key (environment_id, user_id) references users on delete cascade
	)`,
	'create index tenant_users_user on tenant_users (environment_id, user_id)',

	`create table changes (
		environment_id uuid not null references environments on delete cascade,
		revision bigint not null,
		position integer not null,
		kind text not null,
		operation text not null check (operation in ('create', 'update', 'delete')),
		key text not null,
		before jsonb,
		after jsonb,
		actor_id uuid,
		created_at timestamptz not null,
		primary key (environment_id, revision, position)
	)`,

	`create table policies (
		digest text primary key,
		files jsonb not null,
		wasm bytea not null,
		created_at timestamptz not null
	)`,
	`create table publications (
		environment_id uuid primary key references environments on delete cascade,
		digest text references policies,
		schema_revision bigint,
		published_at timestamptz,
		failure jsonb,
		failed_revision bigint,
		failed_at timestamptz,
		check ((digest is null) = (schema_revision is null) and (digest is null) = (published_at is null)),
		check ((failure is null) = (failed_revision is null) and (failure is null) = (failed_at is null))
	)`,
] as const;

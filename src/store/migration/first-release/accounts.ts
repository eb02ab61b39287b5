/** Organizations, projects, environments and API keys, with the objects that depend on keys. */
export const accounts = [
	`create table organizations (
		id uuid primary key,
		key text not null unique,
		name text not null,
		settings jsonb,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		first_key_shown boolean not null default true
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
	// Finds environments that allow an origin to embed their elements.
	`create index environments_elements_origins on environments
		using gin ((settings -> 'elements_origins') jsonb_path_ops)`,

	// Environment copies that continue after the response was sent. `environment_id` is the source. The process running
	// a copy renews its lease. If the lease has expired, the process is gone and nothing was copied, because the copy
	// commits together with the row's success.
	`create table copy_tasks (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		status text not null check (status in ('processing', 'success', 'failure')),
		result jsonb,
		error text,
		lease_until timestamptz not null,
		created_at timestamptz not null,
		primary key (environment_id, id),
		check ((result is not null) = (status = 'success')),
		check ((error is not null) = (status = 'failure'))
	)`,

	// The `refresh_*` columns describe the last refresh requested from the decision points with this key.
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
		debug_audit_logs boolean not null default true,
		rotated_at timestamptz,
		refresh_id uuid,
		refresh_revision bigint,
		refresh_reason text,
		check ((project_id is not null) = (object_type in ('project', 'env'))),
		check ((environment_id is not null) = (object_type = 'env'))
	)`,
	'create index api_keys_environment on api_keys (environment_id)',
	'create index api_keys_project on api_keys (project_id)',
	// Secret hashes of API keys and console sessions of recently deleted environments, to inform their decision points
	// and pages. The rows have no references, because their environments are gone.
	`create table deleted_environment_keys (
		secret_hash bytea primary key,
		environment_id uuid not null,
		deleted_at timestamptz not null
	)`,
	'create index deleted_environment_keys_age on deleted_environment_keys (deleted_at)',
	`create table server_key_check (
		id boolean primary key default true check (id),
		sealed bytea not null
	)`,

	// State reported by decision points.
	`create table pdp_states (
		environment_id uuid not null references environments on delete cascade,
		pdp_instance_id text not null,
		api_key_id uuid not null,
		state jsonb not null,
		first_seen_at timestamptz not null,
		last_seen_at timestamptz not null,
		primary key (environment_id, pdp_instance_id)
	)`,
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

	// Console sessions, and the tickets that begin them. A session belongs to an environment, and is deleted with the
	// environment. It also belongs to an API key, with the hash of the key's secret at that time. The key's id is not a
	// foreign key, so a session can report that its key was deleted.
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

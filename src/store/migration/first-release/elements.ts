/**
 * Elements: configurations for an environment's embedded pages, with their sign-ins, requests, invites and webhooks.
 */
export const elements = [
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
	// Permission levels for roles.
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

	// Sign-ins, with the hashes of their secrets: the ticket until it is spent, the bearer token, and the cookie after the
	// ticket was spent. A sign-in ends with its user, its tenant and its environment.
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

	// Access requests and operation approvals. They outlive their element; deleting the element cancels pending requests.
	// They are deleted with any other object that they refer to. `expires_at` is the requested expiry; `consumed_at` is
	// the time when a single-use approval was used.
	`create table element_requests (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		config_id uuid,
		type text not null check (type in ('access_request', 'operation_approval')),
		status text not null check (status in ('pending', 'approved', 'denied', 'canceled')),
		requesting_user_id uuid not null,
		tenant_id uuid not null,
		role_id uuid,
		resource_id uuid,
		resource_instance_id uuid,
		reason text,
		reviewer_user_id uuid,
		reviewed_at timestamptz,
		reviewer_comment text,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		expires_at timestamptz,
		consumed_at timestamptz,
		primary key (environment_id, id),
		check ((type = 'access_request') = (role_id is not null)),
		check (type = 'access_request' or resource_id is not null),
		foreign key (environment_id, config_id) references elements_configs on delete set null (config_id),
		foreign key (environment_id, requesting_user_id) references users on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, resource_id) references resources on delete cascade,
		foreign key (environment_id, resource_instance_id) references resource_instances on delete cascade,
		foreign key (environment_id, reviewer_user_id) references users on delete set null (reviewer_user_id)
	)`,
	'create index element_requests_config on element_requests (environment_id, config_id, tenant_id, id)',
	'create index element_requests_requester on element_requests (environment_id, requesting_user_id)',
	'create index element_requests_tenant on element_requests (environment_id, tenant_id)',
	'create index element_requests_role on element_requests (environment_id, role_id)',
	'create index element_requests_resource on element_requests (environment_id, resource_id)',
	'create index element_requests_instance on element_requests (environment_id, resource_instance_id)',
	'create index element_requests_reviewer on element_requests (environment_id, reviewer_user_id)',

	// An invite created in an element contains the element, the future user's key, and the user's attributes. An invite's
	// key is unique in its environment. Several tenants may invite the same user, so the invite's key may differ from the
	// user's key.
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
		config_id uuid,
		user_key text,
		attributes jsonb,
		expires_at timestamptz,
		primary key (environment_id, id),
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		foreign key (environment_id, resource_instance_id) references resource_instances on delete cascade,
		foreign key (environment_id, config_id) references elements_configs on delete set null (config_id),
		constraint user_invites_key unique (environment_id, key)
	)`,
	'create index user_invites_role on user_invites (environment_id, role_id)',
	'create index user_invites_tenant on user_invites (environment_id, tenant_id)',
	'create index user_invites_instance on user_invites (environment_id, resource_instance_id)',
	'create index user_invites_config on user_invites (environment_id, config_id)',
	'create index user_invites_user_key on user_invites (environment_id, user_key)',
	`create index user_invites_expiring on user_invites (expires_at, environment_id) where expires_at is not null`,

	// Outbox of events, and log of their delivery. The unit of work that causes an event inserts its row. Rows are
	// deleted with their element.
	`create table webhook_deliveries (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		config_id uuid not null,
		event text not null,
		payload json not null,
		status text not null check (status in ('pending', 'delivered', 'failed')),
		attempts integer not null,
		next_attempt_at timestamptz not null default now(),
		lease_until timestamptz,
		attempted_at timestamptz,
		response_status integer,
		error text,
		created_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, config_id) references elements_configs on delete cascade
	)`,
	'create index webhook_deliveries_config on webhook_deliveries (environment_id, config_id, id)',
	`create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending'`,
	`create index webhook_deliveries_waiting on webhook_deliveries (environment_id, config_id, id)
		where status = 'pending'`,
] as const;

/**
 * An environment's facts: users, tenants, resource instances, groups, relationship tuples and role assignments.
 *
 * Delta queries find a user's roles anywhere, a user's roles on an instance, and relations with an instance as
 * subject. An id is indexed as text if a different index on this id has very many rows per id: without statistics,
 * the database might choose that index.
 */
export const facts = [
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

	`create table resource_instances (
		environment_id uuid not null,
		id uuid not null,
		resource_id uuid not null,
		tenant_id uuid not null,
		key text not null,
		attributes jsonb not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, resource_id) references resources on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		constraint resource_instances_key unique (environment_id, resource_id, key)
	)`,
	'create index resource_instances_tenant on resource_instances (environment_id, tenant_id)',
	// Resource instances that are groups. A group has its instance's id and is deleted with it. Schema objects and
	// instances that were created only for groups are marked (`made_for_groups`, `made_instance`).
	`create table groups (
		environment_id uuid not null,
		id uuid not null,
		made_instance boolean not null,
		created_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, id) references resource_instances on delete cascade
	)`,

	`create table relationship_tuples (
		environment_id uuid not null,
		id uuid not null,
		subject_id uuid not null,
		relation_id uuid not null,
		object_id uuid not null,
		tenant_id uuid not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		expires_at timestamptz,
		primary key (environment_id, id),
		foreign key (environment_id, subject_id) references resource_instances on delete cascade,
		foreign key (environment_id, relation_id) references relations on delete cascade,
		foreign key (environment_id, object_id) references resource_instances on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		constraint relationship_tuples_key unique (environment_id, object_id, relation_id, subject_id)
	)`,
	`create index relationship_tuples_subject on relationship_tuples
		(environment_id, subject_id, cast(relation_id as text))`,
	'create index relationship_tuples_relation on relationship_tuples (environment_id, relation_id)',
	'create index relationship_tuples_tenant on relationship_tuples (environment_id, tenant_id)',
	// Few grants expire, so the indexes for sweeping contain only expiring rows.
	`create index relationship_tuples_expiring on relationship_tuples (expires_at, environment_id)
		where expires_at is not null`,

	`create table role_assignments (
		environment_id uuid not null,
		id uuid not null,
		user_id uuid not null,
		role_id uuid not null,
		tenant_id uuid not null,
		created_at timestamptz not null,
		resource_instance_id uuid,
		element_request_id uuid,
		expires_at timestamptz,
		primary key (environment_id, id),
		foreign key (environment_id, user_id) references users on delete cascade,
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		foreign key (environment_id, resource_instance_id) references resource_instances on delete cascade,
		constraint role_assignments_key
			unique nulls not distinct (environment_id, tenant_id, user_id, role_id, resource_instance_id)
	)`,
	'create index role_assignments_user on role_assignments (environment_id, user_id, role_id)',
	'create index role_assignments_role on role_assignments (environment_id, role_id)',
	`create index role_assignments_instance on role_assignments
		(environment_id, resource_instance_id, cast(user_id as text))`,
	// Finds users with roles in a tenant. It excludes roles on instances: there may be a million of them and only a few
	// roles in the tenant. It compares the missing instance as text: otherwise, without statistics, the database might
	// choose the index by instance, which has all tenants under null.
	`create index role_assignments_in_tenant on role_assignments (environment_id, tenant_id, user_id)
		where cast(resource_instance_id as text) is null`,
	`create index role_assignments_expiring on role_assignments (expires_at, environment_id)
		where expires_at is not null`,

	// Upper bounds for the cost of a check in an environment, in steps and closures: see
	// docs/decisions/0028-limit-check-steps.md.
	`create table check_bounds (
		environment_id uuid primary key references environments on delete cascade,
		steps integer not null,
		closures integer not null
	)`,
] as const;

import type { Knex } from 'knex';

/**
 * Resource roles and their derivations, relations, resource instances, relationship tuples, roles held on instances,
 * action groups. INVARIANT: as in the foundation, references never leave their environment.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	// A resource role is held on instances; a role without a resource is held in a tenant.
	'alter table roles add column resource_id uuid',
	'alter table roles add column granted_to_id uuid',
	'alter table roles add column no_direct_roles_on_object boolean not null default false',
	'alter table roles add foreign key (environment_id, resource_id) references resources on delete cascade',
	'alter table roles drop constraint roles_key',
	'alter table roles add constraint roles_key unique nulls not distinct (environment_id, key, resource_id)',
	'create index roles_resource on roles (environment_id, resource_id)',

	`create table relations (
		environment_id uuid not null,
		id uuid not null,
		resource_id uuid not null,
		subject_resource_id uuid not null,
		key text not null,
		name text not null,
		description text,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, resource_id) references resources on delete cascade,
		foreign key (environment_id, subject_resource_id) references resources on delete cascade,
		constraint relations_key unique (environment_id, resource_id, key)
	)`,
	'create index relations_subject on relations (environment_id, subject_resource_id)',
	`create table role_derivations (
		environment_id uuid not null,
		id uuid not null,
		role_id uuid not null,
		source_role_id uuid not null,
		relation_id uuid not null,
		no_direct_roles_on_object boolean not null,
		created_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, role_id) references roles on delete cascade,
		foreign key (environment_id, source_role_id) references roles on delete cascade,
		foreign key (environment_id, relation_id) references relations on delete cascade,
		constraint role_derivations_key unique (environment_id, role_id, source_role_id, relation_id)
	)`,
	'create index role_derivations_source on role_derivations (environment_id, source_role_id)',
	'create index role_derivations_relation on role_derivations (environment_id, relation_id)',

	`create table action_groups (
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
		constraint action_groups_key unique (environment_id, resource_id, key)
	)`,
	`create table action_group_actions (
		environment_id uuid not null,
		action_group_id uuid not null,
		action_id uuid not null,
		position integer not null,
		primary key (environment_id, action_group_id, action_id),
		foreign key (environment_id, action_group_id) references action_groups on delete cascade,
		foreign key (environment_id, action_id) references resource_actions on delete cascade
	)`,
	'create index action_group_actions_action on action_group_actions (environment_id, action_id)',

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
	`create table relationship_tuples (
		environment_id uuid not null,
		id uuid not null,
		subject_id uuid not null,
		relation_id uuid not null,
		object_id uuid not null,
		tenant_id uuid not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, subject_id) references resource_instances on delete cascade,
		foreign key (environment_id, relation_id) references relations on delete cascade,
		foreign key (environment_id, object_id) references resource_instances on delete cascade,
		foreign key (environment_id, tenant_id) references tenants on delete cascade,
		constraint relationship_tuples_key unique (environment_id, object_id, relation_id, subject_id)
	)`,
	'create index relationship_tuples_subject on relationship_tuples (environment_id, subject_id)',
	'create index relationship_tuples_relation on relationship_tuples (environment_id, relation_id)',
	'create index relationship_tuples_tenant on relationship_tuples (environment_id, tenant_id)',

	'alter table role_assignments add column resource_instance_id uuid',
	`alter table role_assignments add foreign key (environment_id, resource_instance_id)
		references resource_instances on delete cascade`,
	'alter table role_assignments drop constraint role_assignments_key',
	`alter table role_assignments add constraint role_assignments_key
		unique nulls not distinct (environment_id, tenant_id, user_id, role_id, resource_instance_id)`,
	'create index role_assignments_instance on role_assignments (environment_id, resource_instance_id)',
] as const;

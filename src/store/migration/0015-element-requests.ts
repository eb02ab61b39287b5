import type { Knex } from 'knex';

/**
 * Access requests and operation approvals. They outlive their element, as canceled requests, and are deleted with every
 * other object they refer to. An assignment refers to its request.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
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
	'alter table role_assignments add column element_request_id uuid',
] as const;

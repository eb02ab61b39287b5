import type { Knex } from 'knex';

/**
 * Index for users with roles in a tenant. It excludes roles on instances, which may number a million beside a few in
 * the tenant. It tests for a missing instance as text: otherwise, without statistics, the database might choose the
 * index by instance, which has all tenants under null.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create index role_assignments_in_tenant on role_assignments (environment_id, tenant_id, user_id)
		where cast(resource_instance_id as text) is null`,
	);
}

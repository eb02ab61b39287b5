import type { Knex } from 'knex';

/**
 * An index for the question who holds roles in a tenant, which leaves out the roles on instances: there may be a million
 * for a few in the tenant. It asks for a missing instance as text, because without statistics the database might choose
 * the index by instance for that, which has all tenants under it.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create index role_assignments_in_tenant on role_assignments (environment_id, tenant_id, user_id)
		where cast(resource_instance_id as text) is null`,
	);
}

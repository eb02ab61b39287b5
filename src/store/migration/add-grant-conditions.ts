import type { Knex } from 'knex';

/**
 * Adds role assignment conditions. Condition sets of type `grant` have parameters, roles name these sets by key, and an
 * assignment names such a set with a value for each parameter. Set keys never change, and a set cannot be deleted while
 * a role names it.
 */
export async function addGrantConditions(knex: Knex): Promise<void> {
	await knex.raw('alter table condition_sets add column parameters json');
	await knex.raw(`alter table roles add column grant_conditions jsonb not null default '[]'`);
	await knex.raw('alter table role_assignments add column condition_set text, add column condition_values jsonb');
	await knex.raw('alter table role_assignments drop constraint role_assignments_key');
	await knex.raw(`alter table role_assignments add constraint role_assignments_key unique nulls not distinct
		(environment_id, tenant_id, user_id, role_id, resource_instance_id, condition_set)`);
	await knex.raw(`create index role_assignments_conditional on role_assignments (environment_id, user_id, role_id)
		where condition_set is not null`);
}

import type { Knex } from 'knex';

/**
 * Indexes for what deltas ask: which roles a user holds anywhere, which on one instance, and where an instance is the
 * subject of some relations. They also do what those they replace did. An id is indexed as a text where the question
 * has another index for it, under which there may be very many rows: a database that has not counted its rows yet could
 * take that one.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'drop index role_assignments_user',
	'create index role_assignments_user on role_assignments (environment_id, user_id, role_id)',
	'drop index role_assignments_instance',
	`create index role_assignments_instance on role_assignments
		(environment_id, resource_instance_id, cast(user_id as text))`,
	'drop index relationship_tuples_subject',
	`create index relationship_tuples_subject on relationship_tuples
		(environment_id, subject_id, cast(relation_id as text))`,
] as const;

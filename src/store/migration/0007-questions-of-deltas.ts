import type { Knex } from 'knex';

/**
 * Indexes for the queries of deltas: which roles a user holds anywhere, which on one instance, and in which relations
 * an instance is the subject. They also replace the indexes that are dropped here. An id is indexed as text where the
 * query could use another index on it, one with very many rows under an id: without statistics the database might
 * choose that one.
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

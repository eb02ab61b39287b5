import type { Knex } from 'knex';

/**
 * Indexes for delta queries: a user's roles anywhere, a user's roles on an instance, and relations with an instance as
 * subject. They also replace the indexes dropped here. An id is indexed as text if the query could use a different
 * index on it, with very many rows per id: without statistics the database might choose the wrong index.
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

import type { Knex } from 'knex';

/**
 * Indexes for what deltas ask: which roles a user holds anywhere, and where an instance is the subject of some
 * relations, whatever else a user holds and an instance is the subject of. They do what those they replace did.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'drop index role_assignments_user',
	'create index role_assignments_user on role_assignments (environment_id, user_id, role_id)',
	'drop index relationship_tuples_subject',
	'create index relationship_tuples_subject on relationship_tuples (environment_id, subject_id, relation_id)',
] as const;

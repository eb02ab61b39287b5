import type { Knex } from 'knex';

/**
 * Adds relationship conditions. Relations name condition sets of type `grant` by key, and a tuple names such a set with
 * a value for each parameter.
 */
export async function addRelationshipConditions(knex: Knex): Promise<void> {
	await knex.raw(`alter table relations add column grant_conditions jsonb not null default '[]'`);
	await knex.raw('alter table relationship_tuples add column condition_set text, add column condition_values jsonb');
	await knex.raw('alter table relationship_tuples drop constraint relationship_tuples_key');
	await knex.raw(`alter table relationship_tuples add constraint relationship_tuples_key unique nulls not distinct
		(environment_id, object_id, relation_id, subject_id, condition_set)`);
	await knex.raw(`create index relationship_tuples_conditional on relationship_tuples
		(environment_id, object_id, relation_id) where condition_set is not null`);
}

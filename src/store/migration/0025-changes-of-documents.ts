import type { Knex } from 'knex';

/** Index for changes in the schema half of environment documents, scanned by drafts. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(statement);
}

const statement = `create index changes_of_documents on changes (environment_id, revision) where kind in
	('resource', 'resource_action', 'resource_attribute', 'relation', 'action_group', 'role', 'condition_set',
	'condition_set_rule', 'elements_config')`;

import type { Knex } from 'knex';

/**
 * Creates the check test table, and adds check test changes to the index of document changes. `check` is `json`,
 * which keeps the order of the fields.
 */
export async function createCheckTests(knex: Knex): Promise<void> {
	await knex.raw(`create table check_tests (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		key text not null,
		description text,
		"check" json not null,
		expected text not null check (expected in ('allow', 'deny')),
		created_at timestamptz not null,
		updated_at timestamptz not null,
		primary key (environment_id, id),
		constraint check_tests_key unique (environment_id, key)
	)`);
	await knex.raw('drop index changes_of_documents');
	await knex.raw(`create index changes_of_documents on changes (environment_id, revision) where kind in
		('resource', 'resource_action', 'resource_attribute', 'relation', 'action_group', 'role', 'condition_set',
		'condition_set_rule', 'elements_config', 'check_test')`);
}

import type { Knex } from 'knex';

/**
 * Invites that users make in elements: the element, the key that the user is to have, and their attributes. The key of
 * an invite is unique in its environment, while several tenants may invite one user, so the two may differ.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`alter table user_invites
		add column config_id uuid,
		add column user_key text,
		add column attributes jsonb,
		add foreign key (environment_id, config_id) references elements_configs on delete set null (config_id)`,
	'create index user_invites_config on user_invites (environment_id, config_id)',
	'create index user_invites_user_key on user_invites (environment_id, user_key)',
] as const;

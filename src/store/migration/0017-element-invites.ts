import type { Knex } from 'knex';

/**
 * Invites from users in elements: the element, the future user's key, and the user's attributes. An invite's key is
 * unique in its environment, while several tenants may invite the same user, so the keys may differ.
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

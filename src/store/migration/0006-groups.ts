import type { Knex } from 'knex';

/**
 * Groups: marked resource instances, and the objects created only for them. A group has its instance's id and is
 * deleted with it.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table groups (
		environment_id uuid not null,
		id uuid not null,
		made_instance boolean not null,
		created_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, id) references resource_instances on delete cascade
	)`,
	'alter table resources add column made_for_groups boolean not null default false',
	'alter table roles add column made_for_groups boolean not null default false',
	'alter table relations add column made_for_groups boolean not null default false',
] as const;

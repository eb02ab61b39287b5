import type { Knex } from 'knex';

/**
 * Environment copies that continue after the response was sent. `environment_id` is the source. The process running a
 * copy renews its lease. A copy whose lease ran out has lost its process and did not happen, because it commits
 * together with the row's success.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(`create table copy_tasks (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		status text not null check (status in ('processing', 'success', 'failure')),
		result jsonb,
		error text,
		lease_until timestamptz not null,
		created_at timestamptz not null,
		primary key (environment_id, id),
		check ((result is not null) = (status = 'success')),
		check ((error is not null) = (status = 'failure'))
	)`);
}

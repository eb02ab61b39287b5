import type { Knex } from 'knex';

/**
 * Space used by decisions, by environment and day, counted when they are stored: measuring takes too long to do for
 * each batch. A deleted environment is counted until its decisions are gone from the disk.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create table audit_logs_usage (
			environment_id uuid not null,
			received_on date not null,
			events bigint not null,
			bytes bigint not null,
			primary key (environment_id, received_on)
		)`,
	);
	await knex.raw(
		`insert into audit_logs_usage
		select environment_id, received_on, count(*), sum(octet_length(raw::text) + 600) from audit_logs
		group by environment_id, received_on`,
	);
}

import type { Knex } from 'knex';

/**
 * Index for decisions with a code, newest first: a rare code would require scanning all decisions in the environment.
 * The column exists since the beginning, so older decisions are found too. Events from other programs may have longer
 * texts there, and some would not fit into an index.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create index audit_logs_code on audit_logs (environment_id, code, logged_at desc, id desc)
		where octet_length(code) <= 128`,
	);
}

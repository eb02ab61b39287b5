import type { Knex } from 'knex';

/**
 * An index for decisions with one code, the newest first: a rare one would be looked for among all decisions of the
 * environment. The column was there from the beginning, so older decisions are found too. Events of other programs may
 * have longer texts there, of which some would not fit into an index.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(
		`create index audit_logs_code on audit_logs (environment_id, code, logged_at desc, id desc)
		where octet_length(code) <= 128`,
	);
}

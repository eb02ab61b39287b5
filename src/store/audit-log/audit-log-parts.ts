import type { Knex } from 'knex';

/** Parts of the decision log. Each part is a table with the decisions received on one day (UTC). */

const prefix = 'audit_logs_';

/** PostgreSQL's error code for a row without a matching partition. */
const noPart = '23514';

/** Returns true if an insertion failed because the day has no part. */
export function isMissingPart(error: unknown): boolean {
	return (error as { readonly code?: unknown }).code === noPart;
}

/** Returns the days that have a part, in the form `2026-01-31`, oldest first. */
export async function readParts(database: Knex): Promise<readonly string[]> {
	const { rows } = await database.raw<{ readonly rows: readonly { readonly name: string }[] }>(
		`select child.relname as name from pg_inherits join pg_class as child on child.oid = inhrelid
		where inhparent = 'audit_logs'::regclass order by child.relname`,
	);
	return rows.map(({ name }) => name.slice(prefix.length).replaceAll('_', '-'));
}

/** Creates the part for a day, unless it exists. Concurrent calls wait until the transaction ends. */
export async function makePart(transaction: Knex.Transaction, day: Date): Promise<void> {
	await transaction.raw(`select pg_advisory_xact_lock(hashtextextended('audit_logs', 0))`);
	const [from, to] = [utcDay(day), utcDay(daysAfter(day, 1))];
	// Partition bounds cannot be parameters. These bounds contain only digits and dashes.
	const bounds = `from ('${from}') to ('${to}')`;
	await transaction.raw(`create table if not exists ?? partition of audit_logs for values ${bounds}`, [partName(from)]);
}

/** Drops the part for a day, with its usage. */
export async function dropPart(database: Knex, day: string): Promise<void> {
	await database.transaction(async (transaction) => {
		await transaction.raw('drop table if exists ??', [partName(day)]);
		await transaction('audit_logs_usage').where({ received_on: day }).delete();
	});
}

/** Returns the name of the table for a day such as `2026-01-31`. */
export function partName(day: string): string {
	return prefix + day.replaceAll('-', '_');
}

/** Adds days to a date and keeps the time of day. */
export function daysAfter(date: Date, days: number): Date {
	return new Date(date.getTime() + days * 86_400_000);
}

/** Returns the day in UTC, as `2026-01-31`. */
export function utcDay(date: Date): string {
	return date.toISOString().slice(0, 10);
}

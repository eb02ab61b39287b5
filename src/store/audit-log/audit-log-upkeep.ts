import type { Knex } from 'knex';
import { daysAfter, dropPart, makePart, partName, readParts, utcDay } from './audit-log-parts.js';
import { type AuditLogUsage, fairShare, readUsage, usageByEnvironment } from './audit-log-usage.js';

export interface AuditLogLimits {
	readonly days: number;
	/** Space for the decisions of all environments, in bytes. */
	readonly bytes: number;
}

/** Result returned by `keepAuditLogs`. */
export interface AuditLogUpkeep {
	/** Dropped days, in the form `2026-01-31`. If `environment_id` is null, the day was dropped for all environments. */
	readonly dropped: readonly { readonly day: string; readonly environment_id: string | null }[];
	/**
	 * Ids of environments whose decisions from today alone use up their share. No more decisions are stored for them.
	 */
	readonly full: readonly string[];
}

/** Maximum share of the log space in use after an upkeep round. The rest is headroom until the next round. */
const usedAfterRound = 7 / 8;

/** Maximum number of rows per statement. On the embedded database, all other statements wait while it runs. */
const rowsPerStep = 500;

/**
 * Creates the parts for today and tomorrow, and drops old parts. When space is low, drops the oldest days of
 * environments above their share; other environments lose nothing. Removes the decisions of deleted environments. Must
 * not run concurrently.
 */
export async function keepAuditLogs(database: Knex, now: Date, limits: AuditLogLimits): Promise<AuditLogUpkeep> {
	for (const day of [0, 1]) await database.transaction((transaction) => makePart(transaction, daysAfter(now, day)));
	const oldest = utcDay(daysAfter(now, 1 - limits.days));
	const expired = (await readParts(database)).filter((day) => day < oldest);
	for (const day of expired) await dropPart(database, day);
	await removeDeleted(database);
	const shed = await shedUsage(database, utcDay(now), limits.bytes * usedAfterRound);
	const used = usageByEnvironment(await readUsage(database));
	const share = fairShare(used.values(), limits.bytes);
	return {
		dropped: [...expired.map((day) => ({ day, environment_id: null })), ...shed],
		full: [...used].flatMap(([id, bytes]) => (bytes >= share ? [id] : [])),
	};
}

/** Removes deleted environments' decisions. Their usage is still counted until the disk space has been freed. */
async function removeDeleted(database: Knex): Promise<void> {
	const { rows } = await database.raw<{ readonly rows: readonly { readonly id: string }[] }>(
		`select distinct environment_id as id from audit_logs_usage
		where not exists (select from environments where environments.id = environment_id)`,
	);
	for (const { id } of rows) {
		let removed: number;
		do removed = await countRows(database, removing, { id, most: rowsPerStep });
		while (removed === rowsPerStep);
	}
}

const removing = `with gone as (
		delete from audit_logs where environment_id = :id
			and id = any(array(select id from audit_logs where environment_id = :id limit :most)) returning 1
	)
	select count(*)::int as count from gone`;

async function countRows(database: Knex, statement: string, bindings: Knex.ValueDict): Promise<number> {
	const { rows } = await database.raw<{ readonly rows: readonly { readonly count: number }[] }>(statement, bindings);
	return rows[0]?.count ?? 0;
}

/**
 * Drops past days from the environments with the largest usage, until no environment exceeds its fair share of `bytes`
 * or only today is left.
 */
async function shedUsage(database: Knex, today: string, bytes: number): Promise<AuditLogUpkeep['dropped']> {
	const shed: { readonly day: string; readonly environment_id: string }[] = [];
	for (;;) {
		const usage = await readUsage(database);
		const used = usageByEnvironment(usage);
		const share = fairShare(used.values(), bytes);
		const excess = ({ environment_id }: AuditLogUsage) => (used.get(environment_id) ?? 0) - share;
		const [next] = usage
			.filter((one) => one.day < today && excess(one) > 0)
			.sort((one, other) => excess(other) - excess(one) || one.day.localeCompare(other.day));
		if (next === undefined) return shed;
		await dropDay(database, next);
		shed.push({ day: next.day, environment_id: next.environment_id });
	}
}

/**
 * Drops an environment's decisions for a day and frees their disk space: copies all other decisions to a new part in
 * small steps, then replaces the old part. Throws if other environments' decisions arrive in the meantime.
 */
async function dropDay(database: Knex, { environment_id: id, day }: AuditLogUsage): Promise<void> {
	const [part, kept] = [partName(day), 'audit_logs_kept'];
	const others = await countOthers(database, id, day);
	if (others === 0) return dropPart(database, day);
	await database.raw('drop table if exists ??', [kept]);
	await database.raw('create table ?? (like audit_logs including all)', [kept]);
	const bounds = [day, utcDay(daysAfter(new Date(day), 1))] as const;
	// With this constraint, attaching the part needs no scan. A scan would lock the whole log.
	await database.raw(
		`alter table ?? add constraint bounds check (received_on is not null and received_on >= '${bounds[0]}' and received_on < '${bounds[1]}')`,
		[kept],
	);
	await copyOthers(database, id, part, kept);
	await database.transaction(async (transaction) => {
		await transaction.raw('lock table only audit_logs in access exclusive mode');
		if ((await countOthers(transaction, id, day)) !== others) throw new Error(`decisions of ${day} still arrive`);
		await transaction.raw('drop table ??', [part]);
		await transaction.raw('alter table ?? rename to ??', [kept, part]);
		await transaction.raw(
			`alter table audit_logs attach partition ?? for values from ('${bounds[0]}') to ('${bounds[1]}')`,
			[part],
		);
		await transaction.raw('alter table ?? drop constraint bounds', [part]);
		await transaction('audit_logs_usage').where({ environment_id: id, received_on: day }).delete();
	});
}

/** Counts a day's decisions in all other environments. */
function countOthers(database: Knex, id: string, day: string): Promise<number> {
	const counting = `select coalesce(sum(events), 0)::int as count from audit_logs_usage
		where received_on = :day and environment_id <> :id`;
	return countRows(database, counting, { id, day });
}

async function copyOthers(database: Knex, id: string, part: string, kept: string): Promise<void> {
	let last: CopiedRow | undefined = { environment_id: zeroId, id: zeroId };
	while (last !== undefined) {
		const bindings = { part, kept, dropped: id, after_environment: last.environment_id, after: last.id };
		const copied: CopiedRows = await database.raw(copying, { ...bindings, most: rowsPerStep });
		[last] = copied.rows;
	}
}

interface CopiedRow {
	readonly environment_id: string;
	readonly id: string;
}

interface CopiedRows {
	readonly rows: readonly CopiedRow[];
}

const zeroId = '00000000-0000-0000-0000-000000000000';

const copying = `with copied as (
		insert into :kept: select * from :part:
		where environment_id <> :dropped and (environment_id, id) > (:after_environment::uuid, :after::uuid)
		order by environment_id, id limit :most
		returning environment_id, id
	)
	select environment_id, id from copied order by environment_id desc, id desc limit 1`;

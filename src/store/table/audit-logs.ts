import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { asId } from '../../wire/common.js';

/** A decision as a decision point logged it. */
export interface AuditLogRow {
	readonly id: string;
	readonly logged_at: Date;
	/** The id of the API key of the decision point. */
	readonly api_key_id: string;
	readonly user_key: string | null;
	readonly action: string | null;
	readonly resource_type: string | null;
	readonly tenant: string | null;
	readonly decision: boolean | null;
	readonly code: string | null;
	/** The event as it came. */
	readonly raw: Readonly<Record<string, unknown>>;
}

/** A decision with what is known of its user now. */
export interface ListedAuditLog extends AuditLogRow {
	readonly user_email: string | null;
	readonly user_name: string | null;
}

/** Which decisions are listed; what is undefined does not narrow. */
export interface AuditLogFilter {
	readonly pdp_id?: string | undefined;
	readonly users?: readonly string[] | undefined;
	readonly resources?: readonly string[] | undefined;
	readonly tenant?: string | undefined;
	readonly action?: string | undefined;
	readonly decision?: boolean | undefined;
	/** At most 128 bytes: longer ones are not found. */
	readonly code?: string | undefined;
	/** From here on. */
	readonly from?: Date | undefined;
	/** Up to here, exclusively. */
	readonly to?: Date | undefined;
	/** A part of the user, the action or the resource type, ignoring case: a pattern for SQL's `ilike`. */
	readonly pattern?: string | undefined;
}

/** The id of the row of a decision: that of the decision where it is a UUID, else one that follows from it. */
export function auditLogId(decisionId: string): string {
	const own = asId(decisionId);
	if (own !== null) return own;
	const digits = createHash('sha256').update(decisionId).digest('hex');
	// A UUID of version 8, whose other bits are free.
	return [
		digits.slice(0, 8),
		digits.slice(8, 12),
		`8${digits.slice(13, 16)}`,
		`8${digits.slice(17, 20)}`,
		digits.slice(20, 32),
	].join('-');
}

/** How many decisions can be paged through. */
export const maxListedAuditLogs = 10_000;

/** A page of decisions. */
export interface AuditLogList {
	readonly data: readonly ListedAuditLog[];
	/** At most `maxListedAuditLogs`. */
	readonly total_count: number;
}

/** The decisions of an environment. They are in no revision and no history, and take no lock. */
export class AuditLogs {
	readonly #environment: string;

	constructor(
		{ environment_id }: { readonly environment_id: string },
		private readonly database: Knex,
		/** Whether there is no room for more. */
		readonly full = false,
	) {
		this.#environment = environment_id;
	}

	/** Adds decisions that came at `received`. Those that are there already, because they were sent twice, stay. */
	async add(rows: readonly AuditLogRow[], received: Date): Promise<void> {
		if (rows.length === 0) return;
		const bindings = {
			environment_id: this.#environment,
			received_on: utcDay(received),
			...insertedColumns(rows),
		};
		try {
			await this.database.raw(adding, bindings);
		} catch (error) {
			if ((error as { readonly code?: unknown }).code !== noPart) throw error;
			await this.database.transaction((transaction) => makePart(transaction, received));
			await this.database.raw(adding, bindings);
		}
	}

	/** One page of those that pass a filter, the newest first. */
	async page(
		filter: AuditLogFilter,
		page: { readonly page: number; readonly per_page: number },
	): Promise<AuditLogList> {
		const chosen = this.#chosen(filter)
			.orderBy([
				{ column: 'logged_at', order: 'desc' },
				{ column: 'id', order: 'desc' },
			])
			.offset((page.page - 1) * page.per_page)
			.limit(page.per_page);
		const counted = this.#chosen(filter).select(this.database.raw('1')).limit(maxListedAuditLogs);
		const [data, count] = [
			await this.#named(chosen),
			await this.database
				.count({ total: '*' })
				.from(counted.as('counted'))
				.first<{ readonly total: string | number }>(),
		];
		return { data, total_count: Number(count.total) };
	}

	/** The decision of this id; `undefined` when there is none. */
	async find(id: string): Promise<ListedAuditLog | undefined> {
		const [row] = await this.#named(this.#chosen({}).where({ id }).limit(1));
		return row;
	}

	#chosen(filter: AuditLogFilter): Knex.QueryBuilder {
		const query = this.database('audit_logs').where({ environment_id: this.#environment });
		const { pdp_id, users, resources, tenant, action, decision, code, from, to, pattern } = filter;
		if (pdp_id !== undefined) query.where({ api_key_id: pdp_id });
		if (users !== undefined) query.whereRaw('user_key = any(?::text[])', [[...users]]);
		if (resources !== undefined) query.whereRaw('resource_type = any(?::text[])', [[...resources]]);
		if (tenant !== undefined) query.where({ tenant });
		if (action !== undefined) query.where({ action });
		if (decision !== undefined) query.where({ decision });
		// The index has no others.
		if (code !== undefined) query.where({ code }).whereRaw('octet_length(code) <= 128');
		if (from !== undefined) query.where('logged_at', '>=', from);
		if (to !== undefined) query.where('logged_at', '<', to);
		if (pattern !== undefined) {
			query.where((any) => {
				for (const column of ['user_key', 'action', 'resource_type']) any.orWhereRaw('?? ilike ?', [column, pattern]);
			});
		}
		return query;
	}

	/** With the names of the users that are there. */
	async #named(rows: Knex.QueryBuilder): Promise<readonly ListedAuditLog[]> {
		return this.database
			.select(
				'logged.*',
				'users.email as user_email',
				this.database.raw(`nullif(concat_ws(' ', users.first_name, users.last_name), '') as user_name`),
			)
			.from(rows.select('audit_logs.*').as('logged'))
			.leftJoin('users', (join) =>
				join.on('users.environment_id', 'logged.environment_id').andOn('users.key', 'logged.user_key'),
			)
			.orderBy([
				{ column: 'logged.logged_at', order: 'desc' },
				{ column: 'logged.id', order: 'desc' },
			]);
	}
}

/** PostgreSQL's code for a row that fits into no part of its table. */
const noPart = '23514';

const adding = `insert into audit_logs
	(environment_id, received_on, id, logged_at, api_key_id, user_key, action, resource_type, tenant, decision, code, raw)
	select :environment_id, :received_on::date, id, logged_at, api_key_id, user_key, action, resource_type, tenant,
		decision, code, raw::json
	from unnest(
		:ids::uuid[], :times::timestamptz[], :keys::uuid[], :users::text[], :actions::text[], :types::text[], :tenants::text[],
		:decisions::boolean[], :codes::text[], :events::text[]
	) as logged (
		id, logged_at, api_key_id, user_key, action, resource_type, tenant, decision, code, raw
	)
	on conflict do nothing`;

/** The columns of rows. A list of records as JSON would not do: PostgreSQL takes none with a NUL in it apart. */
function insertedColumns(rows: readonly AuditLogRow[]) {
	return {
		ids: rows.map(({ id }) => id),
		times: rows.map(({ logged_at }) => logged_at.toISOString()),
		keys: rows.map(({ api_key_id }) => api_key_id),
		users: rows.map(({ user_key }) => user_key),
		actions: rows.map(({ action }) => action),
		types: rows.map(({ resource_type }) => resource_type),
		tenants: rows.map(({ tenant }) => tenant),
		decisions: rows.map(({ decision }) => decision),
		codes: rows.map(({ code }) => code),
		events: rows.map(({ raw }) => JSON.stringify(raw)),
	};
}

/** How much is kept. */
export interface AuditLogLimits {
	readonly days: number;
	/** How much room on the disk the decisions of all environments may take, in bytes. */
	readonly bytes: number;
}

/** What a round of `keepAuditLogs` did. */
export interface AuditLogUpkeep {
	/** The days whose decisions were dropped, as `2026-01-31`. */
	readonly dropped: readonly string[];
	/** Whether the decisions of today alone take more room than there may be. */
	readonly full: boolean;
}

/**
 * Makes the parts for today and tomorrow, drops those that are too old, and the oldest while all together take too much
 * room; also what is left of deleted environments. Several processes may do so at once.
 */
export async function keepAuditLogs(database: Knex, now: Date, limits: AuditLogLimits): Promise<AuditLogUpkeep> {
	return database.transaction(async (transaction) => {
		for (const day of [0, 1]) await makePart(transaction, daysAfter(now, day));
		const { rows } = await transaction.raw<{
			readonly rows: readonly { readonly name: string; readonly bytes: string }[];
		}>(parts);
		const oldest = partName(daysAfter(now, 1 - limits.days));
		const today = partName(now);
		let bytes = rows.reduce((sum, part) => sum + Number(part.bytes), 0);
		const dropped: string[] = [];
		for (const part of rows) {
			if (part.name >= today || (part.name >= oldest && bytes <= limits.bytes)) break;
			await transaction.raw('drop table ??', [part.name]);
			bytes -= Number(part.bytes);
			dropped.push(part.name.slice(prefix.length).replaceAll('_', '-'));
		}
		await transaction.raw(
			'delete from audit_logs where not exists (select from environments where id = environment_id)',
		);
		return { dropped, full: bytes > limits.bytes };
	});
}

const prefix = 'audit_logs_';

const parts = `select child.relname as name, pg_total_relation_size(child.oid) as bytes
	from pg_inherits join pg_class as child on child.oid = inhrelid
	where inhparent = 'audit_logs'::regclass order by child.relname`;

/** Makes the part of a day, unless it is there. Others wait until the transaction ends. */
async function makePart(database: Knex, day: Date): Promise<void> {
	await database.raw(`select pg_advisory_xact_lock(hashtextextended('audit_logs', 0))`);
	// The bounds of a part are no parameters. These have only digits and dashes.
	const bounds = `from ('${utcDay(day)}') to ('${utcDay(daysAfter(day, 1))}')`;
	await database.raw(`create table if not exists ?? partition of audit_logs for values ${bounds}`, [partName(day)]);
}

function partName(day: Date): string {
	return prefix + utcDay(day).replaceAll('-', '_');
}

function daysAfter(date: Date, days: number): Date {
	return new Date(date.getTime() + days * 86_400_000);
}

/** The day in UTC. */
function utcDay(date: Date): string {
	return date.toISOString().slice(0, 10);
}

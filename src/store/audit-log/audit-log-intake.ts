import type { Knex } from 'knex';
import { Failure } from '../../failure.js';
import { isMissingPart, makePart, utcDay } from './audit-log-parts.js';
import { type AuditLogUsage, fairShare, readUsage, usageByEnvironment } from './audit-log-usage.js';
import type { AuditLogRow } from './audit-logs.js';

/** A decision to store. */
export interface NewAuditLog extends Omit<AuditLogRow, 'raw'> {
	/** Event as JSON in a single line. */
	readonly raw: string;
}

/** Space for the decisions of all environments. */
export interface AuditLogRoom {
	readonly bytes: number;
	/** Called when decisions are rejected because the environment has used up its share. */
	readonly full: () => void;
}

/**
 * Stores an environment's decisions. Decisions have no revision or history. Storing them locks only the environment's
 * usage row for the day.
 */
export class AuditLogIntake {
	readonly #environment: string;

	constructor(
		{ environment_id }: { readonly environment_id: string },
		private readonly database: Knex,
		private readonly room: AuditLogRoom,
	) {
		this.#environment = environment_id;
	}

	/**
	 * Stores decisions received at `received`. Ignores decisions that are already stored: the same decision may be sent
	 * twice. Throws `log_full` if the log is full and the environment has used up its share.
	 */
	async add(rows: readonly NewAuditLog[], received: Date): Promise<void> {
		if (rows.length === 0) return;
		const usage = await readUsage(this.database);
		this.#requireRoom(usage);
		const today = utcDay(received);
		const first = firstDay(rows);
		const isSearched = ({ environment_id, day }: AuditLogUsage) =>
			environment_id === this.#environment && day >= first && day !== today;
		const statement = insertion(usage.some(isSearched));
		const bindings = { environment_id: this.#environment, received_on: today, overhead, ...insertedColumns(rows) };
		try {
			await this.database.raw(statement, bindings);
		} catch (error) {
			if (!isMissingPart(error)) throw error;
			await this.database.transaction((transaction) => makePart(transaction, received));
			await this.database.raw(statement, bindings);
		}
	}

	#requireRoom(usage: readonly AuditLogUsage[]): void {
		const used = usageByEnvironment(usage);
		if ((used.get(this.#environment) ?? 0) < fairShare(used.values(), this.room.bytes)) return;
		this.room.full();
		throw new Failure('log_full', 'the environment has used up its decision log quota (AUDIT_LOG_MAX_SIZE)');
	}
}

/** Maximum time in milliseconds by which an event's timestamp may be later than its first receipt. */
const maxLead = 10 * 60_000;

/** Returns the earliest day on which these events may already have been received. */
function firstDay(rows: readonly NewAuditLog[]): string {
	const times = rows.map(({ logged_at }) => logged_at.getTime());
	return utcDay(new Date(Math.min(...times) - maxLead));
}

/** Size of a stored decision without its event, in bytes: its columns and its entries in four indexes. */
const overhead = 600;

/**
 * Condition for events that are not stored on a different day. A subquery with a limit always searches by index: for a
 * join, PostgreSQL reads a new day's whole table until the table is analyzed.
 */
const isNew = `where (
			select true from audit_logs as earlier
			where earlier.environment_id = :environment_id and earlier.id = logged.id
				and earlier.received_on >= ((logged.logged_at - interval '10 minutes') at time zone 'utc')::date
				and earlier.received_on <> :received_on
			limit 1
		) is null`;

/**
 * Returns the statement that stores events. With `searching`, it ignores events that are stored on a different day. The
 * search takes a fifth of the statement's time.
 */
function insertion(searching: boolean): string {
	return `with added as (
		insert into audit_logs
			(environment_id, received_on, id, logged_at, api_key_id, user_key, action, resource_type, tenant, decision, code, raw)
		select :environment_id, :received_on::date, id, logged_at, api_key_id, user_key, action, resource_type, tenant,
			decision, code, raw::json
		from rows from (
			unnest(
				:ids::uuid[], :times::timestamptz[], :keys::uuid[], :users::text[], :actions::text[], :types::text[],
				:tenants::text[], :decisions::boolean[], :codes::text[]
			),
			string_to_table(:events, e'\\n')
		) as logged (
			id, logged_at, api_key_id, user_key, action, resource_type, tenant, decision, code, raw
		)
		${searching ? isNew : ''}
		on conflict do nothing
		returning octet_length(raw::text) as length
	)
	insert into audit_logs_usage as usage (environment_id, received_on, events, bytes)
	select :environment_id::uuid, :received_on::date, count(*), sum(length + :overhead::int) from added having count(*) > 0
	on conflict (environment_id, received_on)
	do update set events = usage.events + excluded.events, bytes = usage.bytes + excluded.bytes`;
}

/**
 * Returns rows as column lists, and the events as lines: in an array, each quotation mark of an event would need an
 * escape. JSON records would not work, because PostgreSQL cannot unpack JSON that contains a NUL character.
 */
function insertedColumns(rows: readonly NewAuditLog[]) {
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
		events: rows.map(({ raw }) => raw).join('\n'),
	};
}

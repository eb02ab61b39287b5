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

/** Reads the decisions of an environment. */
export class AuditLogs {
	readonly #environment: string;

	constructor(
		{ environment_id }: { readonly environment_id: string },
		private readonly database: Knex,
	) {
		this.#environment = environment_id;
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

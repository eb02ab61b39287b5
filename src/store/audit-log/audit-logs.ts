import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { asId } from '../../wire/common.js';

/** A decision logged by a decision point. */
export interface AuditLogRow {
	readonly id: string;
	readonly logged_at: Date;
	/** Id of the decision point's API key. */
	readonly api_key_id: string;
	readonly user_key: string | null;
	readonly action: string | null;
	readonly resource_type: string | null;
	readonly tenant: string | null;
	readonly decision: boolean | null;
	readonly code: string | null;
	/** Original event. */
	readonly raw: Readonly<Record<string, unknown>>;
}

/** A decision with its user's current name and email address. */
export interface ListedAuditLog extends AuditLogRow {
	readonly user_email: string | null;
	readonly user_name: string | null;
}

/** Filter for decisions. Undefined fields do not filter. */
export interface AuditLogFilter {
	readonly pdp_id?: string | undefined;
	readonly users?: readonly string[] | undefined;
	readonly resources?: readonly string[] | undefined;
	readonly tenant?: string | undefined;
	readonly action?: string | undefined;
	readonly decision?: boolean | undefined;
	/** At most 128 bytes. Longer codes match nothing. */
	readonly code?: string | undefined;
	/** Inclusive start. */
	readonly from?: Date | undefined;
	/** Exclusive end. */
	readonly to?: Date | undefined;
	/** SQL `ilike` pattern, matched against the user, the action and the resource type. */
	readonly pattern?: string | undefined;
}

/** Returns the row id for a decision: the decision id if it is a UUID, or else a UUID derived from it. */
export function auditLogId(decisionId: string): string {
	const own = asId(decisionId);
	if (own !== null) return own;
	const digits = createHash('sha256').update(decisionId).digest('hex');
	// A version 8 UUID, whose remaining bits can be chosen freely.
	return [
		digits.slice(0, 8),
		digits.slice(8, 12),
		`8${digits.slice(13, 16)}`,
		`8${digits.slice(17, 20)}`,
		digits.slice(20, 32),
	].join('-');
}

/** Maximum number of decisions that can be read page by page. */
export const maxListedAuditLogs = 10_000;

export interface AuditLogList {
	readonly data: readonly ListedAuditLog[];
	/** Number of matching decisions, at most `maxListedAuditLogs`. */
	readonly total_count: number;
}

/** Reads an environment's decisions. */
export class AuditLogs {
	readonly #environment: string;

	constructor(
		{ environment_id }: { readonly environment_id: string },
		private readonly database: Knex,
	) {
		this.#environment = environment_id;
	}

	/** Returns a page of the decisions matching a filter, newest first. */
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

	/** Returns the decision with this id, or `undefined` if there is none. */
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
		// The index does not contain longer codes.
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

	/** Adds the users' names and email addresses. */
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

/** Decision log: converts events to rows, and rows to API objects. */

import { Failure } from '../failure.js';
import type { NewAuditLog } from '../store/audit-log/audit-log-intake.js';
import {
	type AuditLogFilter,
	type AuditLogs,
	auditLogId,
	type ListedAuditLog,
	maxListedAuditLogs,
} from '../store/audit-log/audit-logs.js';
import { searchPattern } from '../store/query/filter.js';
import type { Scope } from '../store/unit/reading-unit.js';
import { maxKeyLength } from '../wire/common.js';
import type { AuditLogModel, AuditLogQuery, DecisionEvent } from '../wire/general/audit-log.js';

/** Maximum event size, in JSON characters. A larger event is stored without its input. */
const maxEventLength = 64 * 1024;

/**
 * Creates the row for an event sent by a decision point with this API key. `line` is the event's original text, if the
 * event was sent as a line.
 */
export function newAuditLog(event: DecisionEvent, api_key_id: string, line?: string): NewAuditLog {
	const { decision_id, timestamp, input, result } = event;
	const asked = isObject(input) ? input : {};
	const { user, action, resource } = asked;
	const on = isObject(resource) ? resource : { type: typeof resource === 'string' ? resource.split(':')[0] : null };
	const decided = isObject(result) ? result : { allow: result };
	return {
		id: auditLogId(decision_id),
		logged_at: new Date(timestamp),
		api_key_id,
		// Truncate the key to the maximum length for its index. The event contains the full key.
		user_key: text(isObject(user) ? user['key'] : user, maxKeyLength),
		action: text(action),
		resource_type: text(on['type']),
		tenant: text(on['tenant']),
		decision: typeof decided['allow'] === 'boolean' ? decided['allow'] : null,
		code: text(decided['code']),
		raw: line ?? bounded(event),
	};
}

/** Returns an event as JSON, without its input if it is too long. */
function bounded(event: DecisionEvent): string {
	const whole = JSON.stringify(event);
	if (whole.length <= maxEventLength) return whole;
	const { decision_id, timestamp, result } = event;
	const short = { decision_id, timestamp, truncated: true };
	const withResult = JSON.stringify({ ...short, result });
	return withResult.length <= maxEventLength ? withResult : JSON.stringify(short);
}

/** Returns the start of a string, in a form that the store accepts; `null` for any other value. */
function text(value: unknown, length = 1_024): string | null {
	// PostgreSQL strings cannot contain NUL.
	return typeof value === 'string' ? value.replaceAll('\0', '\ufffd').slice(0, length) : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Decision log page. */
interface ListedDecisions {
	readonly data: AuditLogModel[];
	readonly total_count: number;
	readonly page_count: number;
	readonly pagination_count: number;
}

/**
 * Returns a page of matching decisions, newest first. With `tenant`, only decisions in this tenant match. Throws
 * `limit_reached` for a page beyond the paging limit.
 */
export async function listDecisions(
	logs: AuditLogs,
	scope: Scope,
	query: Partial<AuditLogQuery> & Pick<AuditLogQuery, 'page' | 'per_page'>,
): Promise<ListedDecisions> {
	const { page, per_page, timestamp_from, timestamp_to, search, ...narrowing } = query;
	if (page * per_page > maxListedAuditLogs) {
		const message = `paging covers only the newest ${maxListedAuditLogs} decisions: narrow the list by time`;
		throw new Failure('limit_reached', message);
	}
	const pattern = search === undefined ? undefined : searchPattern(search);
	const filter: AuditLogFilter = { ...narrowing, from: timestamp_from, to: timestamp_to, pattern };
	const { data, total_count } = await logs.page(filter, { page, per_page });
	return {
		data: data.map((row) => readDecision(row, scope)),
		total_count,
		page_count: Math.ceil(total_count / per_page),
		pagination_count: total_count,
	};
}

/** Converts a decision row to its API object. */
export function readDecision(
	row: ListedAuditLog,
	{ organization_id, project_id, environment_id }: Scope,
): AuditLogModel {
	const { input, result, path } = row.raw;
	const asked = isObject(input) ? input : {};
	const user = isObject(asked['user']) ? asked['user'] : {};
	const sent = isObject(user['attributes']) ? user['attributes'] : {};
	const name = [sent['first_name'], sent['last_name']].filter((part) => typeof part === 'string').join(' ');
	return {
		id: row.id,
		timestamp: row.logged_at,
		created_at: row.logged_at,
		org_id: organization_id,
		project_id,
		env_id: environment_id,
		pdp_config_id: row.api_key_id,
		query: text(path),
		user_key: row.user_key,
		user_email: row.user_email ?? text(sent['email']),
		user_name: row.user_name ?? (name === '' ? null : name),
		resource_type: row.resource_type,
		tenant: row.tenant,
		action: row.action,
		decision: row.decision,
		reason: row.code,
		input: input ?? null,
		result: result ?? null,
		context: asked['context'] ?? null,
		raw_data: row.raw,
	};
}

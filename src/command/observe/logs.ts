import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ConfigError } from '../../config.js';
import { AuditLogModel } from '../../wire/general/audit-log.js';
import { print } from '../console.js';
import type { Told } from '../declaration.js';
import { askForAll, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { jsonLine, visible } from '../terminal.js';

export interface LogsOptions extends SharedOptions {
	readonly user?: string;
	readonly action?: string;
	/** Resource type. */
	readonly resource?: string;
	readonly allowed?: true;
	readonly denied?: true;
	readonly code?: string;
	/** Time in ISO 8601, or an age such as `15m`. */
	readonly since?: string;
	readonly until?: string;
	readonly search?: string;
	readonly limit: string;
	readonly follow?: true;
}

/** Maximum number of decisions that the API returns through paging. */
const most = 10_000;

const Logged = AuditLogModel.pick({
	id: true,
	timestamp: true,
	decision: true,
	reason: true,
	user_key: true,
	action: true,
	resource_type: true,
	tenant: true,
	input: true,
});
const AskedInstance = z.object({ resource: z.object({ key: z.string().min(1) }) });

/** A decision in the printed format. */
interface LoggedDecision {
	readonly id: string;
	readonly timestamp: string;
	readonly allow: boolean | null;
	readonly code: string | null;
	readonly user: string | null;
	readonly action: string | null;
	/** Type, or instance `type:key`. */
	readonly resource: string | null;
	readonly tenant: string | null;
}

/** Lists logged decisions, oldest first. With `follow`, also prints new decisions until the command is interrupted. */
export async function logs(session: Session, options: LogsOptions): Promise<Told> {
	const limit = wholeNumber('--limit', options.limit);
	const read = await reader(session, options);
	const found = (await read(undefined, limit)).toReversed();
	if (options.follow) return follow(read, found, options);
	return { text: found.map(decisionLine).join(''), json: { decisions: found } };
}

/** Reads decisions since a time, newest first. */
type ReadDecisions = (from: Date | undefined, limit: number) => Promise<readonly LoggedDecision[]>;

async function reader(session: Session, options: LogsOptions): Promise<ReadDecisions> {
	const { user, action, resource, tenant, allowed, denied, code, search } = options;
	if (allowed && denied) throw new ConfigError('--allowed and --denied: use only one of them');
	if (options.follow && options.until !== undefined) throw new ConfigError('--until: cannot be combined with --follow');
	const { project, environment } = await session.place();
	const at = path`/v2/pdps/${project}/${environment}/audit_logs`;
	const since = readTime('--since', options.since);
	const decision = allowed ? 'true' : denied ? 'false' : undefined;
	const filters = { users: user, action, resources: resource, tenant, decision, code, search };
	const timestamp_to = seconds(readTime('--until', options.until));
	return async (from, limit) => {
		const narrowed = { ...filters, timestamp_from: seconds(from ?? since), timestamp_to };
		const rows = await askForAll(session.api, at, Logged, narrowed, limit);
		// New decisions shift rows to the next page during paging, so the same row can appear twice.
		return [...new Map(rows.map((row) => [row.id, readDecision(row)])).values()];
	};
}

/** Polling interval, in milliseconds. */
const pause = 2_000;
/** Maximum time in milliseconds by which a new decision may be older than the newest decision and still be printed. */
const lateness = 30_000;

async function follow(read: ReadDecisions, found: readonly LoggedDecision[], { json }: LogsOptions): Promise<never> {
	const show = (decisions: readonly LoggedDecision[]) => {
		for (const decision of decisions) print(json ? jsonLine(decision) : decisionLine(decision));
	};
	const window = (decisions: readonly LoggedDecision[]) => {
		const times = decisions.map(({ timestamp }) => Date.parse(timestamp));
		return times.length === 0 ? undefined : new Date(Math.max(...times) - lateness);
	};
	show(found);
	let from = window(found);
	let known = new Set([...found, ...(await read(from, most))].map(({ id }) => id));
	for (;;) {
		await sleep(pause);
		const recent = await read(from, most);
		show(recent.filter(({ id }) => !known.has(id)).toReversed());
		known = new Set([...(recent.length === 0 ? known : []), ...recent.map(({ id }) => id)]);
		from = window(recent) ?? from;
	}
}

function readDecision(row: z.output<typeof Logged>): LoggedDecision {
	const { id, timestamp, decision, reason, user_key, action, resource_type, tenant, input } = row;
	const instance = AskedInstance.safeParse(input);
	const resource = instance.success ? `${resource_type}:${instance.data.resource.key}` : resource_type;
	return { id, timestamp, allow: decision, code: reason, user: user_key, action, resource, tenant };
}

function decisionLine({ timestamp, allow, code, user, action, resource, tenant }: LoggedDecision): string {
	const verdict = allow === null ? 'unknown' : allow ? 'allowed' : 'denied ';
	const asked = [user, action, resource].map((word) => visible(word ?? '-')).join(' ');
	const place = tenant === null ? '' : `  tenant ${visible(tenant)}`;
	return `${timestamp}  ${verdict}  ${asked}${place}${allow ? '' : `  ${visible(code ?? '')}`}\n`;
}

function seconds(time: Date | undefined): string | undefined {
	return time === undefined ? undefined : String(Math.max(0, Math.floor(time.getTime() / 1_000)));
}

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** ISO 8601 with a zone, with or without seconds. */
const Moment = z.union([z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })]);

/** Parses a time with a zone, or an age. Throws `ConfigError` if the option's value is neither a time nor an age. */
export function readTime(option: string, text: string | undefined): Date | undefined {
	if (text === undefined) return undefined;
	if (Moment.safeParse(text).success) return new Date(text);
	const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
	const milliseconds = unitMilliseconds[unit];
	if (milliseconds !== undefined) return new Date(Date.now() - Number(count) * milliseconds);
	throw new ConfigError(
		`${option}: \`${visible(text)}\` must be a time such as 2026-01-31T08:00:00Z, or an age such as 90s, 15m, 2h or 1d`,
	);
}

function wholeNumber(option: string, text: string): number {
	const value = Number(text);
	if (/^\d{1,5}$/.test(text) && value >= 1 && value <= most) return value;
	throw new ConfigError(`${option}: must be a whole number from 1 to ${most}`);
}

import { notFound } from '../failure.js';
import type { WritingAccountUnit } from '../store/account/writing-account.js';
import type { KeyWithSecret } from '../store/account/writing-api-keys.js';
import type { ApiKey, Environment } from '../store/table/account.js';
import type { ChangedRecord } from '../store/unit/change.js';
import { hasValues } from '../store/unit/change-record.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import { asId } from '../wire/common.js';

/**
 * PDP configs. Each is an environment's API key for decision points. PDP configs are environment objects, so the
 * environment's history contains every change to them, regardless of the endpoint. Other API keys belong to the
 * organization, which has no history.
 */

/** True if an API key is an environment's PDP config. */
function isPdpConfig({ owner_type, environment_id }: Pick<ApiKey, 'owner_type' | 'environment_id'>): boolean {
	return owner_type === 'pdp_config' && environment_id !== null;
}

/**
 * A key after a write, its secret, and the environment's revision after the write. The revision is `null` for keys
 * other than PDP configs.
 */
export interface WrittenKey extends KeyWithSecret {
	readonly revision: number | null;
}

/**
 * Turns detailed decision logs on or off for a config's decision points. Throws `not_found` if the config was deleted.
 */
export async function setDebugAuditLogs(account: WritingAccountUnit, config: ApiKey, on: boolean): Promise<WrittenKey> {
	await lockKeyEnvironment(account, config);
	const row = await account.keys.setDebugAuditLogs(config, on);
	return { row, secret: account.keys.secret(row), revision: await recordInEnvironment(account, config, row) };
}

/** A refresh requested from decision points. */
export interface AskedRefresh {
	readonly update_id: string;
	/** Ids of the decision points' PDP configs. */
	readonly pdp_ids: readonly string[];
	/** The environment's revision after the request. */
	readonly revision: number;
}

/**
 * Requests a fresh snapshot for a PDP config's decision points, or for all decision points in the environment. Throws
 * `not_found` for a missing config, and for an environment without PDP configs.
 */
export async function refreshDecisionPoints(
	account: WritingAccountUnit,
	environment: Environment,
	reason: string | undefined,
	reference?: string,
): Promise<AskedRefresh> {
	const locked = await account.locked(environment.id);
	const before = await account.keys.pdpConfigs(environment.id).all();
	const asked = reference === undefined ? before : before.filter(({ id }) => id === asId(reference));
	if (asked.length === 0) throw notFound('PDPConfig', reference ?? environment.key);
	const update_id = account.clock.newId();
	const refresh = { refresh_id: update_id, refresh_revision: locked.revision + 1, refresh_reason: reason ?? null };
	const only = reference === undefined ? undefined : asked[0]?.id;
	const keys = new Map((await account.keys.refresh(environment.id, refresh, only)).map((key) => [key.id, key]));
	const revision = await account.within(locked, async (unit) => {
		for (const config of asked) recordPdpConfig(unit, config, keys.get(config.id) ?? null);
	});
	return { update_id, pdp_ids: asked.map(({ id }) => id), revision };
}

/** Records a created, changed or deleted PDP config. Never records its secret. */
export function recordPdpConfig(unit: WritingUnit, before: ApiKey | null, after: ApiKey | null): void {
	const operation = before === null ? 'create' : after === null ? 'delete' : 'update';
	const [old, now] = [before && configRecord(before), after && configRecord(after)];
	if (old !== null && now !== null && hasValues(old, now)) return;
	const { id = '', name = null } = after ?? before ?? {};
	unit.record('pdp_config', operation, name ?? id, old, now);
}

/**
 * Locks a PDP config's environment. Call it before locking the config itself, because deleting an environment locks in
 * the same order.
 */
export async function lockKeyEnvironment(
	account: WritingAccountUnit,
	key: Pick<ApiKey, 'owner_type' | 'environment_id'>,
): Promise<void> {
	if (isPdpConfig(key)) await account.locked(key.environment_id ?? '');
}

/** Records a PDP config change in a unit on its environment. Returns the revision; `null` for other keys. */
export async function recordInEnvironment(
	account: WritingAccountUnit,
	before: ApiKey | null,
	after: ApiKey | null,
): Promise<number | null> {
	const key = after ?? before;
	if (key === null || !isPdpConfig(key)) return null;
	const environment = await account.locked(key.environment_id ?? '');
	return account.within(environment, async (unit) => recordPdpConfig(unit, before, after));
}

function configRecord(key: ApiKey): ChangedRecord {
	const { id, name, access_level, debug_audit_logs, refresh_id, refresh_reason, created_at, rotated_at } = key;
	return { id, name, access_level, debug_audit_logs, refresh_id, refresh_reason, created_at, rotated_at };
}

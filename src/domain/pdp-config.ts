import type { ChangedRecord } from '../store/change.js';
import type { ApiKey } from '../store/table/account.js';
import { holds, type WritingUnit } from '../store/unit.js';
import type { WritingAccountUnit } from '../store/writing-account.js';
import type { KeyWithSecret, NewApiKey } from '../store/writing-api-keys.js';

/**
 * PDP configs: an environment's keys for decision points, each of which is a config (contract: PDP configs). They are
 * objects of their environment, so what becomes of them is in its history, whichever endpoint did it. Other keys belong
 * to the organization, which has none.
 */

/** Whether an API key is the PDP config of an environment. */
export function isPdpConfig({ owner_type, environment_id }: Pick<ApiKey, 'owner_type' | 'environment_id'>): boolean {
	return owner_type === 'pdp_config' && environment_id !== null;
}

/** A key as it is now, its secret, and the revision that its environment came to; `null` for keys that are no config. */
export interface WrittenKey extends KeyWithSecret {
	readonly revision: number | null;
}

/** Adds an API key. Throws `not_found` when what it opens was deleted meanwhile. */
export async function createKey(account: WritingAccountUnit, key: NewApiKey): Promise<WrittenKey> {
	await lock(account, key);
	const created = await account.keys.create(key);
	return { ...created, revision: await logged(account, null, created.row) };
}

/** Gives an API key a new secret; the old one is refused from the commit on. Throws `not_found` when it is gone. */
export async function rotateKey(account: WritingAccountUnit, key: ApiKey): Promise<WrittenKey> {
	await lock(account, key);
	const rotated = await account.keys.rotate(key);
	return { ...rotated, revision: await logged(account, key, rotated.row) };
}

/** Deletes an API key. Throws as `WritingApiKeys.remove`. */
export async function removeKey(account: WritingAccountUnit, key: ApiKey): Promise<void> {
	await lock(account, key);
	await account.keys.remove(key);
	await logged(account, key, null);
}

/** Asks the decision points of a config for detailed decision logs, or no longer. Throws `not_found` when it is gone. */
export async function setDebugAuditLogs(account: WritingAccountUnit, config: ApiKey, on: boolean): Promise<WrittenKey> {
	await lock(account, config);
	const row = await account.keys.setDebugAuditLogs(config, on);
	return { row, secret: account.keys.secretOf(row), revision: await logged(account, config, row) };
}

/** Records that a PDP config came, changed or went; never its secret. */
export function recordPdpConfig(unit: WritingUnit, before: ApiKey | null, after: ApiKey | null): void {
	const operation = before === null ? 'create' : after === null ? 'delete' : 'update';
	const [old, now] = [before && recordOf(before), after && recordOf(after)];
	if (old !== null && now !== null && holds(old, now)) return;
	const { id = '', name = null } = after ?? before ?? {};
	unit.record('pdp_config', operation, name ?? id, old, now);
}

/** Locks the environment of a PDP config, before anything of it: in the order in which deleting an environment does. */
async function lock(account: WritingAccountUnit, key: Pick<ApiKey, 'owner_type' | 'environment_id'>): Promise<void> {
	if (isPdpConfig(key)) await account.locked(key.environment_id ?? '');
}

/** Records what became of a PDP config as a unit of its environment. Returns the revision, `null` for other keys. */
async function logged(
	account: WritingAccountUnit,
	before: ApiKey | null,
	after: ApiKey | null,
): Promise<number | null> {
	const key = after ?? before;
	if (key === null || !isPdpConfig(key)) return null;
	const environment = await account.locked(key.environment_id ?? '');
	return account.within(environment, async (unit) => recordPdpConfig(unit, before, after));
}

function recordOf(key: ApiKey): ChangedRecord {
	const { id, name, access_level, debug_audit_logs, created_at, rotated_at } = key;
	return { id, name, access_level, debug_audit_logs, created_at, rotated_at };
}

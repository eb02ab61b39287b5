import type { WritingAccountUnit } from '../store/account/writing-account.js';
import type { NewApiKey } from '../store/account/writing-api-keys.js';
import type { ApiKey } from '../store/table/account.js';
import { lockKeyEnvironment, recordInEnvironment, type WrittenKey } from './pdp-config.js';

/** Adds an API key. Throws `not_found` if its scope has been deleted. */
export async function createKey(account: WritingAccountUnit, key: NewApiKey): Promise<WrittenKey> {
	await lockKeyEnvironment(account, key);
	const created = await account.keys.create(key);
	return { ...created, revision: await recordInEnvironment(account, null, created.row) };
}

/**
 * Rotates an API key's secret. The old secret is rejected after the commit. Throws `not_found` if the key was deleted.
 */
export async function rotateKey(account: WritingAccountUnit, key: ApiKey): Promise<WrittenKey> {
	await lockKeyEnvironment(account, key);
	const rotated = await account.keys.rotate(key);
	return { ...rotated, revision: await recordInEnvironment(account, key, rotated.row) };
}

/** Deletes an API key. Throws like `WritingApiKeys.remove`. */
export async function removeKey(account: WritingAccountUnit, key: ApiKey): Promise<void> {
	await lockKeyEnvironment(account, key);
	await account.keys.remove(key);
	await recordInEnvironment(account, key, null);
}

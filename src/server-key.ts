import { randomBytes, scryptSync } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config.js';
import { restrictToOwner } from './restrict-to-owner.js';
import { syncFolder } from './sync-folder.js';

const keyBytes = 32;

/**
 * The key that secrets are encrypted under at rest: derived from `SECRET_KEY`, or a random one kept in
 * `server.key` of the data directory, readable by its owner only. Throws `ConfigError` when the file is not a key.
 */
export function serverKey(secretKey: string | null, dataDirectory: string): Buffer {
	// The salt only separates this use of the passphrase from others; the passphrase itself must be strong.
	if (secretKey !== null) return scryptSync(secretKey, 'regolith server key', keyBytes);
	const path = join(dataDirectory, 'server.key');
	if (!existsSync(path)) createKeyFile(path, dataDirectory);
	restrictToOwner(path);
	const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
	if (key.length !== keyBytes) {
		throw new ConfigError(
			`DATA_DIR: ${path} does not hold a server key of ${keyBytes} bytes: restore it from a back-up of this folder`,
		);
	}
	return key;
}

/**
 * Creates the file, whole or not at all: a process that is killed leaves no empty one. The data directory is held by this
 * process alone.
 */
function createKeyFile(path: string, folder: string): void {
	const temporary = `${path}.new`;
	writeFileSync(temporary, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600, flush: true });
	renameSync(temporary, path);
	syncFolder(folder);
}

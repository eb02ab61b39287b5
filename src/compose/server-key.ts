import { randomBytes, scryptSync } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config.js';
import { restrictToOwner } from '../file/restrict-to-owner.js';
import { syncFolder } from '../file/sync-folder.js';

const keyBytes = 32;

/** Server keys. `previous` is the key before a rotation, until the rotation is complete. */
export interface ServerKeys {
	readonly current: Buffer;
	readonly previous: Buffer | null;
}

/**
 * Returns the keys that encrypt secrets at rest. The current key is derived from `SECRET_KEY`, or is random and stored
 * in the data directory in `server.key`, which only its owner can read. The key before a rotation comes from
 * `SECRET_KEY_PREVIOUS`, or from the file `server.key.previous` if it exists. Throws `ConfigError` if a file is not a
 * key.
 */
export function readServerKeys(passphrases: Passphrases, dataDirectory: string): ServerKeys {
	const { secret_key, secret_key_previous } = passphrases;
	const file = join(dataDirectory, 'server.key');
	const previousFile = `${file}.previous`;
	const isFilePrevious = secret_key_previous === null && existsSync(previousFile);
	const given = secret_key_previous === null ? null : deriveKey(secret_key_previous);
	const previous = isFilePrevious ? readKeyFile(previousFile) : given;
	if (secret_key !== null) return { current: deriveKey(secret_key), previous };
	if (!existsSync(file)) createKeyFile(file, dataDirectory);
	return { current: readKeyFile(file), previous };
}

type Passphrases = Pick<Config, 'secret_key' | 'secret_key_previous'>;

function deriveKey(passphrase: string): Buffer {
	// The salt only separates this use from other uses, so the passphrase itself must be strong.
	return scryptSync(passphrase, 'regolith server key', keyBytes);
}

function readKeyFile(path: string): Buffer {
	restrictToOwner(path);
	const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
	if (key.length === keyBytes) return key;
	throw new ConfigError(
		`DATA_DIR: ${path} is not a server key of ${keyBytes} bytes. Restore it from a backup of this folder`,
	);
}

/** Creates the file atomically, so a killed process leaves no empty file. No other process uses the data directory. */
function createKeyFile(path: string, folder: string): void {
	const temporary = `${path}.new`;
	writeFileSync(temporary, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600, flush: true });
	renameSync(temporary, path);
	syncFolder(folder);
}

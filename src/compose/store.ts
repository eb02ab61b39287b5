import { systemClock } from '../clock.js';
import { type Config, ConfigError } from '../config.js';
import { createLogger, type Logger } from '../log.js';
import { createCipher } from '../store/account/secret.js';
import { isFull, isUnreachable, openDatabase } from '../store/database/database.js';
import type { FreeSpace } from '../store/database/embedded/space.js';
import { UnsupportedDatabase } from '../store/migration/unsupported-database.js';
import { Store } from '../store/store.js';
import { dataDirectoryError } from './data-directory.js';
import { readServerKeys, type ServerKeys } from './server-key.js';

/** Reports each step that may take seconds. */
type Say = (step: string) => void;

/** Store options in addition to the settings. */
export interface StoreOptions {
	/** Receives startup progress. */
	readonly say?: Say | undefined;
	/** Logs when disk space runs low, and when it is sufficient again. */
	readonly log?: Logger;
	/** Replaces the free space reader, for tests. */
	readonly freeSpace?: FreeSpace | undefined;
	/** Aborts opening between two steps. `openStore` then rejects with the signal's reason. */
	readonly interrupted?: AbortSignal | undefined;
}

/** Opens the configured store. Rejects with `ConfigError` if its database cannot be used. */
export async function openStore(config: Config, options: StoreOptions = {}): Promise<Store> {
	const { say, log = createLogger('silent'), freeSpace, interrupted } = options;
	const { current, previous } = requireServerKeys(config);
	const cipher = createCipher(current, previous);
	try {
		const space = { reserve: config.min_free_bytes, log, read: freeSpace };
		const place = { url: config.database_url, directory: config.data_directory, fsync: config.embedded_fsync };
		return new Store(
			await openDatabase({ ...place, space, ...(say && { say }), ...(interrupted && { interrupted }) }),
			systemClock,
			cipher,
			{ days: config.audit_log_days, bytes: config.audit_log_bytes },
		);
	} catch (error) {
		if (error instanceof UnsupportedDatabase) {
			const setting = config.database_url === null ? 'DATA_DIR' : 'DATABASE_URL';
			throw new ConfigError(`${setting}: ${error.message}`, { cause: error });
		}
		if (isFull(error) && config.database_url === null) {
			throw new ConfigError(`DATA_DIR: ${(error as Error).message} (MIN_FREE_DISK)`, { cause: error });
		}
		const reason = config.database_url === null ? null : refusalReason(error);
		if (reason === null) throw error;
		throw new ConfigError(
			`DATABASE_URL: cannot use the database at ${databaseAddress(config.database_url)}: ${reason}. Start it, or change DATABASE_URL`,
			{ cause: error },
		);
	}
}

/** Returns host and database from a connection URL, without credentials. */
function databaseAddress(url: string | null): string {
	if (url === null || !URL.canParse(url)) return 'this address';
	const { host, pathname } = new URL(url);
	return `${host}${pathname}`;
}

function requireServerKeys(config: Config): ServerKeys {
	try {
		return readServerKeys(config, config.data_directory);
	} catch (error) {
		throw dataDirectoryError(config.data_directory, error);
	}
}

/**
 * Error codes that an operator must resolve: PostgreSQL classes 28 (authorization) and 3D (no such database), 42501
 * (missing privileges), system errors, and TLS errors.
 */
const refusals = /^(28...|3D...|42501|E[A-Z]+|ERR_(TLS|SSL)_\w+|\w*CERT\w*)$/;

/** Returns the reason why a database server rejects the connection or cannot be reached; `null` for any other error. */
function refusalReason(error: unknown): string | null {
	if (!(error instanceof Error)) return null;
	const { code, message, name } = error as NodeJS.ErrnoException;
	// pg reports this message if a server accepts the connection but does not respond. knex reports this error if the
	// pool has no free connection.
	if (name === 'KnexTimeoutError' || message === 'timeout expired') return 'it does not respond';
	const refuses = isUnreachable(error) || refusals.test(code ?? '') || /does not support SSL/.test(message);
	// knex puts the statement, which may have many lines, before the message.
	return refuses ? message.replace(/^[\s\S]* - (?=[^\n]*$)/, '') || String(code) : null;
}

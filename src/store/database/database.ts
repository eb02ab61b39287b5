import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import PgliteClient from 'knex-pglite';
import pg from 'pg';
import { ConfigError } from '../../config.js';
import { errorMessage } from '../../failure.js';
import { syncFolder } from '../../file/sync-folder.js';
import { createLogger, type Logger } from '../../log.js';
import { adoptUnreleased } from '../migration/adopt-unreleased.js';
import { migrationSource } from '../migration/index.js';
import { UnsupportedDatabase } from '../migration/unsupported-database.js';
import { EmbeddedPostgres } from './embedded/postgres.js';
import { type FreeSpace, Space } from './embedded/space.js';
import { hasCode, nestedErrors } from './error-code.js';
import { Maintenance } from './maintenance.js';
import { type Origin, readOrigin } from './origin.js';
import { isOutdatedPlan, ServerClient } from './server-client.js';

/** Reads 64-bit integers as numbers: the stored values are revisions and counts, far below 2^53. */
const int8 = 20;
pg.types.setTypeParser(int8, Number);

/** Timeout for connecting to a server, in milliseconds. */
const connectionTimeoutMillis = 10_000;

/** Error messages are logged, so they show queries without values. */
const compileSqlOnError = false;

export interface DatabaseOptions {
	/** PostgreSQL connection URL; `null` runs PostgreSQL inside this process, in `directory`. */
	readonly url: string | null;
	readonly directory: string;
	/** Syncs each commit of an embedded database to disk before its response. */
	readonly fsync?: boolean;
	/** Called with a short description of a step that may take seconds. */
	readonly say?: (step: string) => void;
	/**
	 * Aborts the start of the database, between two steps or while the embedded database is created. `openDatabase`
	 * then rejects with the signal's reason.
	 */
	readonly interrupted?: AbortSignal;
	/** Settings for watching the disk space of an embedded database. If absent, the space is not watched. */
	readonly space?: {
		/** Space that writes must leave free, in bytes; 0 disables the watch. */
		readonly reserve: number;
		readonly log: Logger;
		/** Replaces the free space reading, for tests. */
		readonly read?: FreeSpace | undefined;
	};
}

/** An open database. Both engines have the same SQL dialect. */
export interface Database {
	readonly knex: Knex;
	/** `null` if the database runs in this process, so no other process can write to it. */
	readonly url: string | null;
	/** Returns true if the server process with this id serves a connection from this process. */
	isOwn(processId: number): boolean;
	/** Numbers of used connections, free connections, and statements or transactions waiting for a connection. */
	readonly connections: { readonly used: number; readonly free: number; readonly waiting: number };
	/** Runs a statement. Rejects if the database does not respond. */
	ping(): Promise<void>;
	/** Called after each committed transaction, with the number of changed objects. */
	committed(changes: number): void;
	/** SQL that identifies the current database. */
	readonly origin: Origin;
	close(): Promise<void>;
}

/** Opens the database and updates its tables. Rejects if the database is unreachable or a migration fails. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
	const { url, interrupted, say, space } = options;
	const database = url === null ? await openEmbedded(options) : openServer(url, space?.log);
	try {
		interrupted?.throwIfAborted();
		if (url !== null) await sayIfSlow('connecting to the database', database.knex.raw('select 1'), say);
		await migrate(database.knex, url !== null, say);
		return Object.assign(database, { origin: await readOrigin(database.knex) });
	} catch (error) {
		await database.close();
		throw error;
	}
}

/** A database whose tables may still be missing. */
type Connected = Omit<Database, 'origin'>;

/**
 * Migrates under an advisory lock, so processes wait for each other. With knex's own lock, the waiting processes would
 * fail.
 */
async function migrate(knex: Knex, shared: boolean, say: DatabaseOptions['say']): Promise<void> {
	const run = async (): Promise<void> => {
		const [done, pending]: readonly [readonly { readonly name: string }[], readonly unknown[]] =
			// knex's validation reports an unknown migration as a corrupt folder.
			await knex.migrate.list({ migrationSource, disableMigrationsListValidation: true });
		const names = done.map(({ name }) => name);
		if (await adoptUnreleased(knex, names)) return run();
		const known = new Set((await migrationSource.getMigrations([])).map(({ name }) => name as string));
		const unknown = names.find((name) => !known.has(name));
		if (unknown !== undefined) {
			throw new UnsupportedDatabase(
				`a newer version of Regolith has migrated the database (${unknown}): use the newer version`,
			);
		}
		if (pending.length === 0) return;
		say?.('creating or updating the tables');
		await knex.migrate.latest({ migrationSource });
	};
	if (!shared) return run();
	await knex.transaction(async (transaction) => {
		await transaction.raw(`select pg_advisory_xact_lock(hashtextextended('regolith migrations', 0))`);
		await run();
	});
}

/**
 * Opens the embedded database, or creates it. A mark file shows that creation is in progress: if the process was killed
 * before the end, the incomplete database is deleted and created again.
 */
async function openEmbedded({
	directory,
	fsync = false,
	say,
	space,
	interrupted,
}: DatabaseOptions): Promise<Connected> {
	const path = join(directory, 'postgres');
	const unfinished = join(directory, 'postgres.unfinished');
	if (existsSync(unfinished)) rmSync(path, { recursive: true, force: true });
	const isNew = !existsSync(path);
	if (isNew) {
		say?.('preparing the embedded database');
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		writeFileSync(unfinished, '', { mode: 0o600 });
	}
	mkdirSync(path, { recursive: true, mode: 0o700 });
	const { reserve = 0, log = createLogger('silent'), read } = space ?? {};
	const watched = new Space(path, reserve, log, read);
	const opening = EmbeddedPostgres.open({
		...{ path, fsync, space: watched, log },
		interrupted: isNew ? interrupted : undefined,
	});
	const postgres = await sayIfSlow('opening the embedded database', opening, isNew ? undefined : say).catch(
		(error: unknown) => {
			throw isFull(error) || interrupted?.aborted ? error : openingError(path, error);
		},
	);
	if (isNew) {
		// INVARIANT: the mark file is gone from the disk before anything is stored. At the next start, it would cause the
		// deletion of the database.
		rmSync(unfinished);
		syncFolder(directory);
	}
	// knex-pglite takes its instance as a function; knex's own types only know the settings of real servers.
	const connection = (() => ({ pglite: postgres })) as unknown as Knex.StaticConnectionConfig;
	const knex = knexFactory({ client: PgliteClient, dialect: 'postgres', connection, compileSqlOnError });
	const upkeep = new Maintenance(knex);
	upkeep.vacuumSoon((bytes) => watched.hasRoom(bytes));
	return {
		knex,
		url: null,
		isOwn: () => true,
		get connections() {
			return poolConnections(knex);
		},
		ping: () => ping(knex),
		committed: (changes) => upkeep.note(changes),
		async close() {
			// Rejects pending statements, so closing ends all running work.
			await postgres.close();
			await upkeep.settled();
			await knex.destroy();
		},
	};
}

/** Duration in milliseconds after which a step is announced. */
const quietTime = 1_000;

/** Waits for a startup step, and announces the step if it takes longer than `quietTime`. */
async function sayIfSlow<T>(step: string, running: Promise<T>, say: DatabaseOptions['say']): Promise<T> {
	const slow = setTimeout(() => say?.(step), quietTime);
	try {
		return await running;
	} finally {
		clearTimeout(slow);
	}
}

function openingError(path: string, error: unknown): ConfigError {
	return new ConfigError(
		`DATA_DIR: the embedded database in ${path} cannot be opened: ${errorMessage(error)}; restore the folder from a ` +
			'backup, or set DATA_DIR to a different folder',
		{ cause: error },
	);
}

function openServer(url: string, log: Logger = createLogger('silent')): Connected {
	// Statements are pipelined: sent without waiting for earlier results. knex's types lack this option.
	const connection = { connectionString: url, application_name: 'regolith', pipeline: true, connectionTimeoutMillis };
	const knex = knexFactory({
		client: ServerClient,
		compileSqlOnError,
		connection,
		pool: { min: 0, max: 10 },
		// The caller that waits for a connection gets the error, so knex's own message is only useful for debugging.
		log: { warn: (message: unknown) => log.debug({ detail: String(message) }, 'warning from knex') },
	});
	// No `Maintenance` here: a server maintains itself.
	const isOwn = (processId: number) => knex.client instanceof ServerClient && knex.client.isOwn(processId);
	return {
		knex,
		url,
		isOwn,
		get connections() {
			return poolConnections(knex);
		},
		ping: () => ping(knex),
		committed: () => {},
		close: () => knex.destroy(),
	};
}

/** Counters of knex's connection pool, which knex's types do not declare. */
interface Pool {
	numUsed(): number;
	numFree(): number;
	numPendingAcquires(): number;
}

function poolConnections(knex: Knex): Database['connections'] {
	const { pool } = knex.client as { readonly pool?: Pool };
	return {
		used: pool?.numUsed() ?? 0,
		free: pool?.numFree() ?? 0,
		waiting: pool?.numPendingAcquires() ?? 0,
	};
}

async function ping(knex: Knex): Promise<void> {
	await knex.raw('select 1');
}

/** PostgreSQL and system error codes for a full disk or quota. */
const full = /^(53100|ENOSPC|EDQUOT)$/;

/** Returns true if an error means that the disk is full. */
export function isFull(error: unknown): boolean {
	return hasCode(error, full);
}

/** Returns true if the database ended a statement because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
	return hasCode(error, /^40P01$/);
}

/**
 * Three groups of error codes: system errors of failed connections; the PostgreSQL classes 08 (connection), 53
 * (resources) and 57P (shutdown); and 25006, from a server that rejects writes, such as a standby or a hosted server
 * with a full disk.
 */
const unreachable = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|08...|53...|57P0.|25006)$/;

/** The driver's messages for a broken connection. knex may prepend the statement. */
const lost =
	/(^| - )(Connection terminated|timeout expired$)|Client (has encountered a connection error|was closed) and is not queryable$/;

/**
 * Returns true if an error means that the database is currently unusable, through no fault of the request or the code.
 */
export function isUnreachable(error: unknown): boolean {
	if (hasCode(error, unreachable)) return true;
	return nestedErrors(error).some(
		(nested) => nested.name === 'KnexTimeoutError' || lost.test(nested.message) || isOutdatedPlan(nested),
	);
}

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import PgliteClient from 'knex-pglite';
import pg from 'pg';
import { createLogger, type Logger } from '../log.js';
import { EmbeddedPostgres } from './embedded/postgres.js';
import { type FreeSpace, Space } from './embedded/space.js';
import { migrationSource } from './migration/index.js';
import { isOutdatedPlan, ServerClient } from './server-client.js';
import { Upkeep } from './upkeep.js';

/** 64-bit integers hold revisions and counts here, far below 2^53, so they are read as numbers. */
const int8 = 20;
pg.types.setTypeParser(int8, Number);

/** The messages of errors show queries without the values in them: they go to the log. */
const compileSqlOnError = false;

/** Where the rows live. */
export interface DatabaseOptions {
	/** A PostgreSQL connection URL; `null` runs PostgreSQL inside this process, in `directory`. */
	readonly url: string | null;
	readonly directory: string;
	/** Is told what is being done, in a few words, when it may take seconds. */
	readonly say?: (step: string) => void;
	/** How the space for an embedded database is watched; not at all when missing. */
	readonly space?: {
		/** What no write may touch, in bytes; 0 watches nothing. */
		readonly reserve: number;
		readonly log: Logger;
		/** Another way to read what is free: for tests. */
		readonly read?: FreeSpace | undefined;
	};
}

/** An open database: one SQL dialect, whichever of the two engines runs it. */
export interface Database {
	readonly knex: Knex;
	/** `null` when the database is in this process, and so can have no other writers to hear of. */
	readonly url: string | null;
	/** Is told of each committed transaction, and how many objects it changed. */
	committed(changes: number): void;
	close(): Promise<void>;
}

/** Opens the database and brings its tables up to date. Rejects when it cannot be reached or a migration fails. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
	const database = options.url === null ? await openEmbedded(options) : openServer(options.url);
	try {
		await migrate(database.knex, options.url !== null, options.say);
	} catch (error) {
		await database.close();
		throw error;
	}
	return database;
}

/**
 * Migrates while no other process on the server does: knex's own lock fails those who meet it instead of letting
 * them wait.
 */
async function migrate(knex: Knex, shared: boolean, say: DatabaseOptions['say']): Promise<void> {
	const run = async () => {
		const [, pending] = await knex.migrate.list({ migrationSource });
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

async function openEmbedded({ directory, say, space }: DatabaseOptions): Promise<Database> {
	const path = join(directory, 'postgres');
	if (!existsSync(path)) say?.('preparing the embedded database');
	mkdirSync(path, { recursive: true, mode: 0o700 });
	const { reserve = 0, log = createLogger('silent'), read } = space ?? {};
	const watched = new Space(path, reserve, log, read);
	const postgres = await EmbeddedPostgres.open({ path, space: watched, log });
	await vacuum(postgres, watched);
	// The function form is how knex-pglite takes an instance; knex's own types know only real servers' settings.
	const connection = (() => ({ pglite: postgres })) as unknown as Knex.StaticConnectionConfig;
	const knex = knexFactory({ client: PgliteClient, dialect: 'postgres', connection, compileSqlOnError });
	const upkeep = new Upkeep(knex);
	return {
		knex,
		url: null,
		committed: (changes) => upkeep.note(changes),
		async close() {
			// Whoever still waits for an answer of it is told that there will be none: so this ends, whatever runs.
			await postgres.close();
			await upkeep.settled();
			await knex.destroy();
		},
	};
}

/**
 * A server does this by itself now and then; see `Upkeep` for what is done while it runs. It may write as much log as
 * there are rows.
 */
async function vacuum(postgres: EmbeddedPostgres, space: Space): Promise<void> {
	const size = 'select pg_database_size(current_database())::float8 as bytes';
	const [{ bytes } = { bytes: 0 }] = (await postgres.query<{ readonly bytes: number }>(size)).rows;
	if (space.hasRoom(bytes)) await postgres.exec('vacuum (analyze)');
}

function openServer(url: string): Database {
	// Statements are sent without waiting for the answers to those before; knex's types do not know of it yet.
	const connection = { connectionString: url, application_name: 'regolith', pipeline: true };
	const knex = knexFactory({ client: ServerClient, compileSqlOnError, connection, pool: { min: 0, max: 10 } });
	// A server looks after itself.
	return { knex, url, committed: () => {}, close: () => knex.destroy() };
}

/** The disk of the database, or what is left of it for us, is full: of PostgreSQL, and of the system. */
const full = /^(53100|ENOSPC|EDQUOT)$/;

/** Whether an error says that there is no room for what was to be written. */
export function isFull(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code, nativeError } = error as Error & { readonly code?: unknown; readonly nativeError?: unknown };
	return full.test(String(code)) || isFull(nativeError);
}

/**
 * Connection errors of the system, PostgreSQL's classes 08 (connection), 53 (resources), 57P (shut down), and that it
 * takes no writes: a standby, or a hosted server whose disk is full.
 */
const unreachable = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|08...|53...|57P0.|25006)$/;

/** What the driver says of a connection that broke, knex in front of it what it wanted to send. */
const lost = /^Connection terminated|Client (has encountered a connection error|was closed) and is not queryable$/;

/** Whether an error says that the database cannot be used now: no fault of the request, nor of the code. */
export function isUnreachable(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code, name, nativeError } = error as Error & { readonly code?: unknown; readonly nativeError?: unknown };
	if (name === 'KnexTimeoutError' || lost.test(error.message)) return true;
	return unreachable.test(String(code)) || isOutdatedPlan(error) || isUnreachable(nativeError);
}

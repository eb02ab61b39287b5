import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PGlite, type QueryOptions, type Results } from '@electric-sql/pglite';
import knexFactory, { type Knex } from 'knex';
import PgliteClient from 'knex-pglite';
import pg from 'pg';
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
	const knex = options.url === null ? await embedded(options.directory, options.say) : server(options.url);
	try {
		await migrate(knex, options.url !== null, options.say);
	} catch (error) {
		await knex.destroy();
		throw error;
	}
	// A server looks after itself.
	if (options.url !== null) return { knex, url: options.url, committed: () => {}, close: () => knex.destroy() };
	const upkeep = new Upkeep(knex);
	return {
		knex,
		url: null,
		committed: (changes) => upkeep.note(changes),
		async close() {
			await upkeep.settled();
			await knex.destroy();
		},
	};
}

/**
 * Migrates while no other process on the server does: knex's own lock fails those who meet it instead of letting
 * them wait.
 */
async function migrate(knex: Knex, shared: boolean, say: DatabaseOptions['say']): Promise<void> {
	const run = async () => {
		const [, pending] = await knex.migrate.list({ migrationSource });
		if (pending.length > 0) say?.('creating or updating the tables');
		await knex.migrate.latest({ migrationSource });
	};
	if (!shared) return run();
	await knex.transaction(async (transaction) => {
		await transaction.raw(`select pg_advisory_xact_lock(hashtextextended('regolith migrations', 0))`);
		await run();
	});
}

async function embedded(directory: string, say: DatabaseOptions['say']): Promise<Knex> {
	const path = join(directory, 'postgres');
	if (!existsSync(path)) say?.('preparing the embedded database');
	mkdirSync(path, { recursive: true, mode: 0o700 });
	const pglite = new YieldingPGlite(path, { parsers: { [int8]: Number } });
	await pglite.waitReady;
	// Few rows tell enough of many: counting must not take long. See `Upkeep` for what is done while it runs.
	await pglite.exec('set default_statistics_target = 20');
	await pglite.exec('vacuum (analyze)');
	// The function form is how knex-pglite takes an instance; knex's own types know only real servers' settings.
	const connection = (() => ({ pglite })) as unknown as Knex.StaticConnectionConfig;
	return knexFactory({ client: PgliteClient, dialect: 'postgres', connection, compileSqlOnError });
}

/**
 * PostgreSQL in this process. Its statements are answered without the event loop ever turning, so a long transaction
 * would keep every other request of the process waiting: after each statement the others get their turn.
 */
class YieldingPGlite extends PGlite {
	override async query<R>(sql: string, bindings?: unknown[], options?: QueryOptions): Promise<Results<R>> {
		try {
			return await super.query<R>(sql, bindings, options);
		} finally {
			await setImmediate();
		}
	}
}

function server(url: string): Knex {
	// Statements are sent without waiting for the answers to those before; knex's types do not know of it yet.
	const connection = { connectionString: url, application_name: 'regolith', pipeline: true };
	return knexFactory({
		client: ServerClient,
		compileSqlOnError,
		connection,
		pool: { min: 0, max: 10 },
	});
}

/** Connection errors of the system, and PostgreSQL's classes 08 (connection), 53 (resources), 57P (shut down). */
const unreachable = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|08...|53...|57P0.)$/;

/** What the driver says of a connection that broke, knex in front of it what it wanted to send. */
const lost = /^Connection terminated|Client (has encountered a connection error|was closed) and is not queryable$/;

/** Whether an error says that the database cannot be used now: no fault of the request, nor of the code. */
export function isUnreachable(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code, name, nativeError } = error as Error & { readonly code?: unknown; readonly nativeError?: unknown };
	if (name === 'KnexTimeoutError' || lost.test(error.message)) return true;
	return unreachable.test(String(code)) || isOutdatedPlan(error) || isUnreachable(nativeError);
}

import type { Results } from '@electric-sql/pglite';
import type { Logger } from '../../../log.js';
import type { DatabaseFolder } from './message.js';
import { NoSpaceError, type Space } from './space.js';
import { type Boundary, boundary, bytesIn, writes } from './statement.js';
import { Thread } from './thread.js';

/** Milliseconds without a response, while space is low, after which the database is considered hung. */
const maxSilence = 10_000;
/** Interval for checking whether the database responds or can be reopened, in milliseconds. */
const pollInterval = 1_000;
/** Pause after a failed attempt to open the database, in milliseconds. */
const reopenInterval = 10_000;
/** Timeout for closing, in milliseconds. A database that was not closed in time recovers at the next start. */
const closingTime = 4_000;

const nothing = { rows: [], fields: [], affectedRows: 0 };

/** The embedded database is currently unusable. */
class ClosedError extends Error {
	override readonly name = 'ClosedError';
	/** PostgreSQL's `cannot_connect_now`. */
	readonly code = '57P03';
}

/** Options for opening an embedded database. */
export interface EmbeddedOptions extends DatabaseFolder {
	readonly space: Space;
	readonly log: Logger;
	/** Terminates the database while it is being opened, like `kill -9`. */
	readonly interrupted?: AbortSignal | undefined;
	/** Replaces the thread's program, for tests. */
	readonly worker?: URL | undefined;
}

/** Properties of a PostgreSQL error. */
interface Failure {
	readonly code?: unknown;
	readonly severity?: unknown;
	readonly message: string;
}

/**
 * PostgreSQL embedded in this process, as knex's only connection. Rejects writes with `NoSpaceError` while the disk is
 * nearly full. If the disk fills up nevertheless, PostgreSQL needs a restart: it is terminated as with `kill -9`, and
 * started again when there is enough space. A failed disk sync (`PANIC`) also causes a restart.
 */
export class EmbeddedPostgres {
	/** Awaited by knex-pglite. */
	readonly waitReady = Promise.resolve();
	#thread: Thread | null;
	/** State of the current transaction. `lost`: the database was terminated during the transaction. */
	#transaction: 'none' | 'open' | 'lost' = 'none';
	#closed = false;
	/** Earliest time for the next attempt to open the database, on the clock of `performance.now`. */
	#closedUntil = 0;
	readonly #looking: NodeJS.Timeout;

	private constructor(
		private readonly options: EmbeddedOptions,
		thread: Thread,
	) {
		this.#thread = thread;
		this.#looking = setInterval(() => void this.#look(), pollInterval).unref();
	}

	/**
	 * Opens the database. Rejects with `NoSpaceError` if the disk is full, and with the signal's reason if opening is
	 * interrupted.
	 */
	static async open(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
		if (!options.space.hasRoomToOpen()) throw new NoSpaceError(options.space.shortage());
		return new EmbeddedPostgres(options, await openThread(options, options.interrupted));
	}

	/**
	 * Runs a statement. Rejects with PostgreSQL's errors, with `NoSpaceError`, and with `ClosedError` while the database
	 * is closed.
	 */
	async query<R>(sql: string, bindings: unknown[] = []): Promise<Results<R>> {
		const bound = boundary(sql);
		if (this.#transaction === 'lost') return this.#afterLoss(bound);
		const { space } = this.options;
		if (writes(sql) && !space.hasRoomFor(bytesIn(bindings))) throw new NoSpaceError(space.shortage());
		const thread = this.#open();
		if (bound !== null) this.#transaction = bound === 'begin' ? 'open' : 'none';
		try {
			// The thread responds to a query with PGlite's own result.
			return (await thread.ask({ kind: 'query', sql, bindings })) as Results<R>;
		} catch (error) {
			const { code, severity, message } = error as Failure;
			if (code === '53100') await this.#giveUpWithoutSpace();
			if (code === '53100' || severity !== 'PANIC') throw error;
			const reason = new ClosedError(message, { cause: error });
			await this.#giveUp(reason, `the embedded database failed and is restarting: ${message}`);
			throw reason;
		}
	}

	/** Runs statements that return no rows. */
	async exec(sql: string): Promise<void> {
		await this.#open().ask({ kind: 'exec', sql });
	}

	/** Closes the database within `closingTime`, regardless of its state. */
	async close(): Promise<void> {
		this.#closed = true;
		clearInterval(this.#looking);
		const thread = this.#thread;
		this.#thread = null;
		await thread?.close(closingTime);
	}

	#open(): Thread {
		if (this.#thread === null) throw new ClosedError('the embedded database is not open');
		return this.#thread;
	}

	/** INVARIANT: no statement from a lost transaction runs by mistake in the reopened database. */
	#afterLoss<R>(bound: Boundary | null): Results<R> {
		if (bound === 'commit' || bound === 'rollback') this.#transaction = 'none';
		if (bound === 'rollback') return nothing;
		throw new ClosedError('the transaction was lost in a database failure');
	}

	async #look(): Promise<void> {
		const thread = this.#thread;
		const { space } = this.options;
		if (thread === null) await this.#openAgain();
		else if (thread.waited > maxSilence && !space.hasRoomFor(0)) await this.#giveUpWithoutSpace();
	}

	async #giveUpWithoutSpace(): Promise<void> {
		await this.#giveUp(
			new NoSpaceError(this.options.space.shortage()),
			'the embedded database ran out of disk space: it restarts when there is enough',
		);
	}

	/**
	 * Terminates a failed database, because it may respond wrongly or never. Rejects pending requests with the reason.
	 */
	async #giveUp(reason: Error, message: string): Promise<void> {
		const thread = this.#thread;
		if (thread === null) return;
		this.#thread = null;
		if (this.#transaction === 'open') this.#transaction = 'lost';
		this.options.log.error(message);
		await thread.end(reason);
	}

	async #openAgain(): Promise<void> {
		if (this.#closed || performance.now() < this.#closedUntil || !this.options.space.hasRoomToOpen()) return;
		this.#closedUntil = Number.POSITIVE_INFINITY;
		try {
			const thread = await openThread(this.options);
			if (this.#closed) return await thread.close(closingTime);
			this.#thread = thread;
			this.options.log.warn('the embedded database is open again');
		} catch (error) {
			this.options.log.error({ error }, 'the embedded database cannot be opened: retrying');
		} finally {
			this.#closedUntil = this.#thread === null ? performance.now() + reopenInterval : 0;
		}
	}
}

function openThread({ path, fsync, worker }: EmbeddedOptions, interrupted?: AbortSignal): Promise<Thread> {
	return Thread.open({ path, fsync }, worker, interrupted);
}

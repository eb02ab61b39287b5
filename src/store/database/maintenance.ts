import type { Knex } from 'knex';

/** Statistics are refreshed after this many changes, plus a tenth of all rows. */
const minChangesToAnalyze = 2_000;
/** Number of transactions between log length checks. */
const transactionsPerCheck = 50;
/** Maximum log size in bytes. Replaying a log of this size after a crash takes a second or two. */
const maxLog = 64 * 1024 * 1024;

/** Delay between startup and vacuuming, in milliseconds, because the database has more urgent work during startup. */
const vacuumDelay = 5_000;
/** PostgreSQL's own tables written by a statistics refresh. */
const statisticsTables = ['pg_statistic', 'pg_class'];

/**
 * Maintains the embedded database at run time; a database server maintains itself. Vacuums once, soon after the start.
 * Refreshes statistics, because plans without them are many times slower. Makes checkpoints, because otherwise the
 * write-ahead log would grow forever. Its statements queue with all other statements.
 */
export class Maintenance {
	#changes = 0;
	#transactions = 0;
	/** Total number of rows at the last statistics refresh. */
	#rows = 0;
	/** Log position at the last checkpoint. */
	#logged: string | null = null;
	#running: Promise<void> = Promise.resolve();
	#vacuuming: NodeJS.Timeout | undefined;

	constructor(
		private readonly knex: Knex,
		/** Maximum log size, in bytes. */
		private readonly most = maxLog,
	) {}

	/**
	 * Vacuums all tables after a delay, if `hasRoom` returns true for the required bytes. Vacuuming may write as many
	 * bytes to the log as the tables contain.
	 */
	vacuumSoon(hasRoom: (bytes: number) => boolean, delay = vacuumDelay): void {
		this.#vacuuming = setTimeout(() => this.#run(() => this.#vacuum(hasRoom)), delay).unref();
	}

	/** Counts a transaction with this many changed objects. */
	note(changes: number): void {
		this.#changes += changes;
		this.#transactions += 1;
		if (this.#changes > minChangesToAnalyze + this.#rows / 10) {
			this.#changes = 0;
			this.#run(() => this.#count());
		}
		if (this.#transactions >= transactionsPerCheck) {
			this.#transactions = 0;
			this.#run(() => this.#clearLog());
		}
	}

	/** Starts no further maintenance. Resolves when no maintenance is running. */
	async settled(): Promise<void> {
		clearTimeout(this.#vacuuming);
		await this.#running;
	}

	/**
	 * Runs `work` after the running maintenance. Ignores failures, because only speed depends on maintenance and later
	 * transactions try again.
	 */
	#run(work: () => Promise<void>): void {
		this.#running = this.#running.then(work).catch(() => undefined);
	}

	async #vacuum(hasRoom: (bytes: number) => boolean): Promise<void> {
		const { rows } = await this.knex.raw<{ rows: { readonly bytes: number }[] }>(
			'select pg_database_size(current_database())::float8 as bytes',
		);
		if (!hasRoom(rows[0]?.bytes ?? 0)) return;
		// One table at a time, so statements can run between the tables.
		for (const name of await this.#tables()) await this.knex.raw('vacuum (analyze) ??', [name]);
		for (const name of statisticsTables) await this.knex.raw('vacuum ??', [`pg_catalog.${name}`]);
	}

	async #tables(): Promise<readonly string[]> {
		return this.knex('pg_class')
			.where({ relkind: 'r' })
			.whereRaw('relnamespace = current_schema()::regnamespace')
			.pluck<string[]>('relname');
	}

	async #count(): Promise<void> {
		// One table at a time, as above.
		for (const name of await this.#tables()) await this.knex.raw('analyze ??', [name]);
		const [row] = await this.knex('pg_class')
			.where({ relkind: 'r' })
			.whereRaw('relnamespace = current_schema()::regnamespace')
			.select<{ readonly rows: number }[]>(this.knex.raw('sum(reltuples)::float8 as rows'));
		this.#rows = row?.rows ?? 0;
	}

	async #clearLog(): Promise<void> {
		const { rows } = await this.knex.raw<{ rows: { readonly at: string; readonly since: number | null }[] }>(
			'select pg_current_wal_lsn()::text as at, pg_wal_lsn_diff(pg_current_wal_lsn(), ?::pg_lsn)::float8 as since',
			[this.#logged],
		);
		const [{ at, since } = { at: null, since: null }] = rows;
		if (since !== null && since < this.most) return;
		await this.knex.raw('checkpoint');
		this.#logged = at;
	}
}

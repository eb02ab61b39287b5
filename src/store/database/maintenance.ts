import type { Knex } from 'knex';

/** Refreshing the statistics pays after this many changed objects and a tenth of all rows. */
const minChangesToAnalyze = 2_000;
/** How often the length of the log is checked, in transactions. */
const transactionsPerCheck = 50;
/** How much log may build up, in bytes: reading it again at a start after a crash takes a second or two. */
const maxLog = 64 * 1024 * 1024;

/** How long after its start the database is vacuumed, in milliseconds. Before that it has more urgent work. */
const vacuumDelay = 5_000;
/** The tables of PostgreSQL itself that refreshing statistics writes to. */
const statisticsTables = ['pg_statistic', 'pg_class'];

/**
 * Maintains the embedded database while it runs, as a server does by itself. It vacuums once, soon after the start. It
 * refreshes statistics, because plans without them take many times as long. It makes checkpoints, because otherwise the
 * write-ahead log would grow for ever. Each of its statements queues with all others.
 */
export class Maintenance {
	#changes = 0;
	#transactions = 0;
	/** The number of rows when the statistics were last refreshed. */
	#rows = 0;
	/** The position of the log at the last checkpoint. */
	#logged: string | null = null;
	#running: Promise<void> = Promise.resolve();
	#vacuuming: NodeJS.Timeout | undefined;

	constructor(
		private readonly knex: Knex,
		/** How much log may build up, in bytes. */
		private readonly most = maxLog,
	) {}

	/**
	 * Vacuums all tables soon, if `hasRoom` says that so many bytes fit on the disk. Vacuuming may write as many bytes of
	 * log as the tables have.
	 */
	vacuumSoon(hasRoom: (bytes: number) => boolean, delay = vacuumDelay): void {
		this.#vacuuming = setTimeout(() => this.#run(() => this.#vacuum(hasRoom)), delay).unref();
	}

	/** Counts a transaction that changed so many objects. */
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

	/** Stops starting maintenance. Resolves when none is running. */
	async settled(): Promise<void> {
		clearTimeout(this.#vacuuming);
		await this.#running;
	}

	/** A failure is ignored and tried again with later transactions: nothing but speed depends on it. */
	#run(work: () => Promise<void>): void {
		this.#running = this.#running.then(work).catch(() => undefined);
	}

	async #vacuum(hasRoom: (bytes: number) => boolean): Promise<void> {
		const { rows } = await this.knex.raw<{ rows: { readonly bytes: number }[] }>(
			'select pg_database_size(current_database())::float8 as bytes',
		);
		if (!hasRoom(rows[0]?.bytes ?? 0)) return;
		// One table at a time, so that other statements get their turn in between.
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

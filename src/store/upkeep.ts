import type { Knex } from 'knex';

/** So many changed objects, and a tenth of all rows, are worth counting the rows anew. */
const leastChanges = 2_000;
/** After so many transactions it is looked how much log there is. */
const transactionsAtOnce = 50;
/** So much log may be there, in bytes: what a start after a crash reads again takes a second or two. */
const mostLog = 64 * 1024 * 1024;

/**
 * Does for the embedded database, while it runs, what a server does by itself: counts rows, because plans that are made
 * without statistics take many times as long, and ends the part of the write-ahead log that is no longer needed, which
 * would grow for ever. Both take their turn among other statements.
 */
export class Upkeep {
	#changes = 0;
	#transactions = 0;
	/** How many rows there were when they were counted last. */
	#rows = 0;
	/** Where the log was when its beginning was cleared away last. */
	#logged: string | null = null;
	#running: Promise<void> = Promise.resolve();

	constructor(
		private readonly knex: Knex,
		/** How much log there may be, in bytes. */
		private readonly most = mostLog,
	) {}

	/** Notes a transaction that changed so many objects. */
	note(changes: number): void {
		this.#changes += changes;
		this.#transactions += 1;
		if (this.#changes > leastChanges + this.#rows / 10) {
			this.#changes = 0;
			this.#run(() => this.#count());
		}
		if (this.#transactions >= transactionsAtOnce) {
			this.#transactions = 0;
			this.#run(() => this.#clearLog());
		}
	}

	/** Resolves when nothing of it runs any more. */
	async settled(): Promise<void> {
		await this.#running;
	}

	/** What fails is tried again with later transactions: nothing but time depends on it. */
	#run(work: () => Promise<void>): void {
		this.#running = this.#running.then(work).catch(() => undefined);
	}

	async #count(): Promise<void> {
		const tables: readonly { readonly name: string }[] = await this.knex('pg_class')
			.where({ relkind: 'r' })
			.whereRaw('relnamespace = current_schema()::regnamespace')
			.select('relname as name');
		// One after another, so that others get their turn in between.
		for (const { name } of tables) await this.knex.raw('analyze ??', [name]);
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

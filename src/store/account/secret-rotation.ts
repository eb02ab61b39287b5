import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from '../../log.js';
import type { Cipher } from './secret.js';

/** Columns with encrypted secrets. Their tables have a column `id`. */
const columns = [
	{ table: 'api_keys', column: 'secret_cipher' },
	{ table: 'proxy_configs', column: 'secret_cipher' },
	{ table: 'elements_configs', column: 'secret_webhook_token' },
] as const;

type Column = (typeof columns)[number];

interface Row {
	readonly id: string;
	readonly sealed: Uint8Array;
}

/** Rows per transaction. */
const batchSize = 200;

/**
 * Pause after a pass without outdated secrets, in milliseconds. Passes continue, because processes with the old
 * settings may still add secrets.
 */
const pauseBetweenPasses = 60_000;

/** Pause after a pass with outdated secrets or a failure, in milliseconds. */
const pauseBeforeCompletion = 1_000;

/** Result of a pass: the number of secrets under the previous key, and of secrets that neither key can decrypt. */
interface Pass {
	readonly outdated: number;
	readonly unreadable: number;
}

/**
 * Re-encrypts a store's secrets while the server has a previous key. After an interrupted pass, some secrets are still
 * encrypted under the previous key, and the next pass continues. Several processes may run passes concurrently.
 */
export class SecretRotation {
	readonly #ending = new AbortController();
	#running: Promise<void> = Promise.resolve();

	constructor(
		private readonly database: Knex,
		private readonly cipher: Cipher,
		private readonly log: Logger,
	) {}

	/** Does nothing without a previous key. */
	start(): void {
		if (this.cipher.hasPrevious) this.#running = this.#repeat();
	}

	/** Resolves after the current batch is written. */
	async stop(): Promise<void> {
		this.#ending.abort();
		await this.#running;
	}

	get #stopped(): boolean {
		return this.#ending.signal.aborted;
	}

	async #repeat(): Promise<void> {
		let isComplete = false;
		while (!this.#stopped) {
			const pass = await this.#attempt();
			if (pass !== null) {
				if (pass.outdated > 0 || !isComplete) this.#tell(pass);
				isComplete = pass.outdated === 0;
			}
			const pause = isComplete ? pauseBetweenPasses : pauseBeforeCompletion;
			await sleep(pause, undefined, { signal: this.#ending.signal, ref: false }).catch(() => undefined);
		}
	}

	#tell({ outdated, unreadable }: Pass): void {
		if (unreadable > 0) this.log.error({ unreadable }, 'secrets are encrypted with neither server key');
		if (outdated > 0) this.log.info({ secrets: outdated }, 'secrets were encrypted with the new server key');
		else {
			this.log.info(
				'all secrets are encrypted with the new server key: remove the previous key when every API process has ' +
					'these settings',
			);
		}
	}

	/**
	 * Runs a pass. Returns `null` if it fails, for example because the database is unavailable or full: the next pass
	 * tries again.
	 */
	async #attempt(): Promise<Pass | null> {
		try {
			let [outdated, unreadable] = [0, 0];
			for (const column of columns) {
				const pass = await this.#renewColumn(column);
				outdated += pass.outdated;
				unreadable += pass.unreadable;
			}
			// Renewed last: until then, a server that has only the new key does not start.
			if (outdated === 0 && !this.#stopped) await this.#renewCheck();
			return this.#stopped ? null : { outdated, unreadable };
		} catch (error) {
			if (!this.#stopped) this.log.warn({ error }, 'secrets could not be encrypted with the new server key');
			return null;
		}
	}

	async #renewColumn(place: Column): Promise<Pass> {
		const { table, column } = place;
		let [outdated, unreadable] = [0, 0];
		for (let last: string | null = null; !this.#stopped; ) {
			const query = this.database(table).select('id', { sealed: column }).whereNotNull(column);
			if (last !== null) query.where('id', '>', last);
			const rows: readonly Row[] = await query.orderBy('id').limit(batchSize);
			const found = rows.map((row) => this.#state(row));
			unreadable += found.filter((state) => state === 'unreadable').length;
			const old = rows.filter((_, index) => found[index] === 'outdated');
			outdated += old.length;
			if (old.length > 0) await this.#renewRows(place, old);
			last = rows.at(-1)?.id ?? null;
			if (rows.length < batchSize) break;
		}
		return { outdated, unreadable };
	}

	#state({ sealed }: Row): 'current' | 'outdated' | 'unreadable' {
		try {
			return this.cipher.renew(sealed) === null ? 'current' : 'outdated';
		} catch {
			return 'unreadable';
		}
	}

	/** Skips rows locked by other transactions, to avoid deadlocks. */
	async #renewRows({ table, column }: Column, rows: readonly Row[]): Promise<void> {
		await this.database.transaction(async (transaction) => {
			const ids = rows.map(({ id }) => id);
			const held: readonly Row[] = await transaction(table)
				.select('id', { sealed: column })
				.whereIn('id', ids)
				.whereNotNull(column)
				.forUpdate()
				.skipLocked();
			for (const row of held.filter((each) => this.#state(each) === 'outdated')) {
				const where = { id: row.id, [column]: row.sealed };
				await transaction(table)
					.where(where)
					.update({ [column]: this.cipher.renew(row.sealed) });
			}
		});
	}

	async #renewCheck(): Promise<void> {
		const check = () => this.database<{ sealed: Uint8Array }>('server_key_check');
		const row = await check().first('sealed');
		const renewed = row === undefined ? null : this.cipher.renew(row.sealed);
		if (renewed !== null) await check().update({ sealed: renewed });
	}
}

import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { ApiKey } from '../table/account.js';

/** Precision of recorded times, in milliseconds. */
const precision = 60_000;

/**
 * Records when API keys were last used, at most once a minute per key, with a single statement outside any transaction.
 * Requests neither wait for this statement nor fail with it. After a failure, the next use is recorded instead.
 */
export class KeyUses {
	readonly #noted = new Map<string, number>();
	readonly #running = new Set<Promise<void>>();

	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/** Records that a key is used, unless any process recorded a use less than a minute ago. */
	note({ id, organization_id, last_used_at }: Pick<ApiKey, 'id' | 'organization_id' | 'last_used_at'>): void {
		const now = this.clock.now();
		const noted = [this.#noted.get(id), last_used_at?.getTime()];
		if (noted.some((at) => at !== undefined && Math.abs(now.getTime() - at) < precision)) return;
		this.#forgetOld(now.getTime());
		this.#noted.set(id, now.getTime());
		const writing = ApiKey.query(this.database)
			.where({ id, organization_id })
			.patch({ last_used_at: now })
			.then(
				() => undefined,
				() => undefined,
			)
			.finally(() => this.#running.delete(writing));
		this.#running.add(writing);
	}

	/** Resolves when all running writes have ended. */
	async settled(): Promise<void> {
		await Promise.all(this.#running);
	}

	/**
	 * Drops entries older than a minute, because the rows already contain these uses. Only keys used within the last
	 * minute keep an entry.
	 */
	#forgetOld(now: number): void {
		for (const [id, noted] of this.#noted) {
			// Entries are ordered by time, so the first recent entry ends the loop.
			if (Math.abs(now - noted) < precision) return;
			this.#noted.delete(id);
		}
	}
}

import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { ApiKey } from '../table/account.js';

/** How exact the recorded times are, in milliseconds. */
const precision = 60_000;

/**
 * Records when API keys were last used, at most once a minute for each. Requests neither wait for it nor fail with it:
 * it is one statement on the key's own row, outside of any transaction, and the next use makes up for one that fails.
 */
export class KeyUses {
	readonly #noted = new Map<string, number>();
	readonly #running = new Set<Promise<void>>();

	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/** Records that a key is used now, unless that was recorded less than a minute ago, here or in another process. */
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
	 * Drops entries older than a minute, which the rows cover: so there are as many entries as keys used in a minute.
	 */
	#forgetOld(now: number): void {
		for (const [id, noted] of this.#noted) {
			// Entries are in the order of their times, so the first recent one ends the loop.
			if (Math.abs(now - noted) < precision) return;
			this.#noted.delete(id);
		}
	}
}

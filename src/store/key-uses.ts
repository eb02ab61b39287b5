import type { Knex } from 'knex';
import type { Clock } from '../clock.js';
import { ApiKey } from './table/account.js';

/** How exact the noted uses are, in milliseconds. */
const precision = 60_000;

/**
 * Notes when API keys were last used, at most once a minute each. No request waits for it or fails by it: the note is
 * one statement on the key's own row, in no transaction, and one that fails is made up for by a later use.
 */
export class KeyUses {
	readonly #noted = new Map<string, number>();
	readonly #running = new Set<Promise<void>>();

	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/** Notes that a key is used now, unless that was noted less than a minute ago, here or in another process. */
	note({ id, organization_id, last_used_at }: Pick<ApiKey, 'id' | 'organization_id' | 'last_used_at'>): void {
		const now = this.clock.now();
		const noted = Math.max(this.#noted.get(id) ?? 0, last_used_at?.getTime() ?? 0);
		if (now.getTime() - noted < precision) return;
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

	/** Resolves when nothing is being written any more. */
	async settled(): Promise<void> {
		await Promise.all(this.#running);
	}

	/** What is noted in the rows by now needs no place here: there are as many entries as keys used in a minute. */
	#forgetOld(now: number): void {
		for (const [id, noted] of this.#noted) {
			// In the order of their notes, so the first that is young ends it.
			if (now - noted < precision) return;
			this.#noted.delete(id);
		}
	}
}

import type { Knex } from 'knex';
import { asId } from '../../wire/common.js';
import type { ChangedRecord } from '../unit/change.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';

/** A copy of an environment that continues after the request was answered. */
export interface CopyTask {
	readonly id: string;
	readonly status: 'processing' | 'success' | 'failure';
	/** The target as the API returns it, when the copy succeeded. */
	readonly result: ChangedRecord | null;
	/** Why it failed. */
	readonly error: string | null;
	/** Whether its process has not been heard of for so long that it must be gone. */
	readonly expired: boolean;
}

/** How long a task counts as running after its process was last heard of. */
const lease = "interval '60 seconds'";

/** How long tasks are kept. */
const kept = "interval '7 days'";

/** The copies made from one environment. They are not in the change log, because they change nothing themselves. */
export class CopyTasks {
	constructor(
		private readonly knex: Knex,
		readonly environmentId: string,
	) {}

	/**
	 * Adds a task that is running from now on, and drops old ones. Throws `not_found` when the environment was deleted
	 * meanwhile.
	 */
	async add(id: string): Promise<CopyTask> {
		await this.#rows().whereRaw(`created_at < now() - ${kept}`).delete();
		const times = { lease_until: this.knex.raw(`now() + ${lease}`), created_at: this.knex.raw('now()') };
		const row = { environment_id: this.environmentId, id, status: 'processing', ...times };
		await insertOrNotFound('Environment', this.environmentId, () => this.knex('copy_tasks').insert(row));
		return { id, status: 'processing', result: null, error: null, expired: false };
	}

	/** The task with this id, or `null`. */
	async find(reference: string): Promise<CopyTask | null> {
		const id = asId(reference);
		if (id === null) return null;
		const row: CopyTask | undefined = await this.#rows()
			.where({ id })
			.first('id', 'status', 'result', 'error', this.knex.raw('lease_until < now() as expired'));
		return row ?? null;
	}

	/** Renews the lease of a task that is still running. */
	async renew(id: string): Promise<void> {
		await this.#rows()
			.where({ id, status: 'processing' })
			.update({ lease_until: this.knex.raw(`now() + ${lease}`) });
	}

	/** Records how a task ended. `false` when it had ended already, or is gone: then its work must be rolled back. */
	async end(id: string, outcome: { readonly result: ChangedRecord } | { readonly error: string }): Promise<boolean> {
		const columns =
			'result' in outcome
				? { status: 'success', result: JSON.stringify(outcome.result) }
				: { status: 'failure', error: outcome.error };
		const ended = await this.#rows().where({ id, status: 'processing' }).update(columns).returning('id');
		return ended.length > 0;
	}

	#rows(): Knex.QueryBuilder {
		return this.knex('copy_tasks').where({ environment_id: this.environmentId });
	}
}

import type { Knex } from 'knex';
import { asId } from '../../wire/common.js';
import type { ChangedRecord } from '../unit/change.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';

/** An environment copy that continues after the response was sent. */
export interface CopyTask {
	readonly id: string;
	readonly status: 'processing' | 'success' | 'failure';
	/** Target environment in API format; `null` until the copy succeeds. */
	readonly result: ChangedRecord | null;
	/** Reason for the failure; `null` if the copy has not failed. */
	readonly error: string | null;
	/** True if the lease has expired. If the task is still `processing`, its process is gone. */
	readonly expired: boolean;
}

/** Lease duration of a running task, whose process renews the lease. */
const lease = "interval '60 seconds'";

/** Retention period for tasks. */
const kept = "interval '7 days'";

/**
 * Copy tasks from a source environment. The change log does not contain them, because a task itself changes no
 * environment.
 */
export class CopyTasks {
	constructor(
		private readonly knex: Knex,
		readonly environmentId: string,
	) {}

	/**
	 * Adds a running task, and deletes old tasks. Throws `not_found` if the environment was deleted in the meantime.
	 */
	async add(id: string): Promise<CopyTask> {
		await this.#rows().whereRaw(`created_at < now() - ${kept}`).delete();
		const times = { lease_until: this.knex.raw(`now() + ${lease}`), created_at: this.knex.raw('now()') };
		const row = { environment_id: this.environmentId, id, status: 'processing', ...times };
		await insertOrNotFound('Environment', this.environmentId, () => this.knex('copy_tasks').insert(row));
		return { id, status: 'processing', result: null, error: null, expired: false };
	}

	/** Returns the task with this id, or `null`. */
	async find(reference: string): Promise<CopyTask | null> {
		const id = asId(reference);
		if (id === null) return null;
		const row: CopyTask | undefined = await this.#rows()
			.where({ id })
			.first('id', 'status', 'result', 'error', this.knex.raw('lease_until < now() as expired'));
		return row ?? null;
	}

	/** Renews a running task's lease. */
	async renew(id: string): Promise<void> {
		await this.#rows()
			.where({ id, status: 'processing' })
			.update({ lease_until: this.knex.raw(`now() + ${lease}`) });
	}

	/**
	 * Records a task's outcome. Returns false if the task had already ended or no longer exists. The caller must then
	 * roll back the copy.
	 */
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

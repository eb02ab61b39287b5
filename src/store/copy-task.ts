import type { Knex } from 'knex';
import { asId } from '../wire/common.js';
import type { ChangedRecord } from './change.js';
import { referring } from './referring.js';

/** A copy of an environment that goes on after it was answered. */
export interface CopyTask {
	readonly id: string;
	readonly status: 'processing' | 'success' | 'failure';
	/** The target as it is read, when it succeeded. */
	readonly result: ChangedRecord | null;
	/** Why it failed. */
	readonly error: string | null;
	/** Whether the process that ran it has not been heard of for so long that it must be gone. */
	readonly expired: boolean;
}

/** How long a task is believed in after its process was heard of last. */
const lease = "interval '60 seconds'";

/** How long tasks can be asked for. */
const kept = "interval '7 days'";

/** The copies out of one environment. Nothing of these is in the change log: they change nothing themselves. */
export class CopyTasks {
	constructor(
		private readonly knex: Knex,
		readonly environmentId: string,
	) {}

	/**
	 * Adds a task that is being done from now on. Those of long ago go. Throws `not_found` when the environment was
	 * deleted meanwhile.
	 */
	async add(id: string): Promise<CopyTask> {
		await this.#rows().whereRaw(`created_at < now() - ${kept}`).delete();
		const times = { lease_until: this.knex.raw(`now() + ${lease}`), created_at: this.knex.raw('now()') };
		const row = { environment_id: this.environmentId, id, status: 'processing', ...times };
		await referring('Environment', this.environmentId, () => this.knex('copy_tasks').insert(row));
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

	/** Says that the process that does the task is there. */
	async renew(id: string): Promise<void> {
		await this.#rows()
			.where({ id, status: 'processing' })
			.update({ lease_until: this.knex.raw(`now() + ${lease}`) });
	}

	/** Notes how a task ended. `false` when it had ended already, or is gone: then what it did must not stay. */
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

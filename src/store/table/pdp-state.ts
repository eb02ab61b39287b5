import type { Knex } from 'knex';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import type { Scope } from '../unit/reading-unit.js';

/** Maximum number of decision points kept per environment; the longest silent are dropped. */
const maxInstances = 100;

/** Last report of a decision point. */
export interface PdpInstance {
	readonly environment_id: string;
	readonly pdp_instance_id: string;
	readonly api_key_id: string;
	readonly state: Readonly<Record<string, unknown>>;
	readonly first_seen_at: Date;
	readonly last_seen_at: Date;
}

/** Report of a decision point about its state. */
export type PdpReport = Pick<PdpInstance, 'pdp_instance_id' | 'api_key_id' | 'state'>;

/**
 * Decision points of an environment, with their reported state. They are not objects of the environment: reports have
 * no revision, history or lock, and the oldest report is dropped for a new one.
 */
export class PdpInstances {
	constructor(
		private readonly scope: Pick<Scope, 'environment_id'>,
		private readonly database: Knex,
	) {}

	/** Returns all decision points, last seen first. */
	async list(): Promise<readonly PdpInstance[]> {
		return this.#all().orderBy([{ column: 'last_seen_at', order: 'desc' }, 'pdp_instance_id']);
	}

	/**
	 * Replaces the last report of a decision point. Throws `not_found` if the environment was deleted in the meantime.
	 */
	async keep({ state, ...report }: PdpReport, now: Date): Promise<void> {
		const { environment_id } = this.scope;
		const row = { ...report, state: JSON.stringify(state), last_seen_at: now };
		await insertOrNotFound('Environment', environment_id, () =>
			this.database('pdp_states')
				.insert({ ...row, environment_id, first_seen_at: now })
				.onConflict(['environment_id', 'pdp_instance_id'])
				.merge(Object.keys(row)),
		);
		const kept = this.#all().orderBy('last_seen_at', 'desc').limit(maxInstances).select('pdp_instance_id');
		await this.#all().whereNotIn('pdp_instance_id', kept).delete();
	}

	#all() {
		return this.database<PdpInstance>('pdp_states').where({ environment_id: this.scope.environment_id });
	}
}

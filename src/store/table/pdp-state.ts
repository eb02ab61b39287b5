import type { Knex } from 'knex';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import type { Scope } from '../unit/reading-unit.js';

/**
 * Maximum number of decision points stored per environment. Above this number, the decision points with the oldest
 * reports are deleted.
 */
const maxInstances = 100;

/** A decision point's last report. */
export interface PdpInstance {
	readonly environment_id: string;
	readonly pdp_instance_id: string;
	readonly api_key_id: string;
	readonly state: Readonly<Record<string, unknown>>;
	readonly first_seen_at: Date;
	readonly last_seen_at: Date;
}

/** A decision point's report about its state. */
export type PdpReport = Pick<PdpInstance, 'pdp_instance_id' | 'api_key_id' | 'state'>;

/**
 * An environment's decision points, with their reported state. Decision points are not environment objects: their
 * reports have no revision, history or lock, and each report replaces the decision point's previous report.
 */
export class PdpInstances {
	constructor(
		private readonly scope: Pick<Scope, 'environment_id'>,
		private readonly database: Knex,
	) {}

	/** Returns all decision points, most recently seen first. */
	async list(): Promise<readonly PdpInstance[]> {
		return this.#all().orderBy([{ column: 'last_seen_at', order: 'desc' }, 'pdp_instance_id']);
	}

	/** Replaces a decision point's last report. Throws `not_found` if the environment was deleted in the meantime. */
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

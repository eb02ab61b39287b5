import type { Knex } from 'knex';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import type { Scope } from '../unit/reading-unit.js';

/** How many decision points of one environment are kept: those heard of last. */
const maxInstances = 100;

/** The last report of a decision point. */
export interface PdpInstance {
	readonly environment_id: string;
	readonly pdp_instance_id: string;
	readonly api_key_id: string;
	readonly state: Readonly<Record<string, unknown>>;
	readonly first_seen_at: Date;
	readonly last_seen_at: Date;
}

/** The report of a decision point about itself. */
export type PdpReport = Pick<PdpInstance, 'pdp_instance_id' | 'api_key_id' | 'state'>;

/**
 * The decision points of an environment, as they have reported themselves. They are not objects of the environment:
 * their reports are in no revision and no history and take no lock, and the oldest is dropped for the newest.
 */
export class PdpInstances {
	constructor(
		private readonly scope: Pick<Scope, 'environment_id'>,
		private readonly database: Knex,
	) {}

	/** All decision points, the one heard of last first. */
	async list(): Promise<readonly PdpInstance[]> {
		return this.#all().orderBy([{ column: 'last_seen_at', order: 'desc' }, 'pdp_instance_id']);
	}

	/** Replaces the last report of a decision point. Throws `not_found` when the environment was deleted meanwhile. */
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

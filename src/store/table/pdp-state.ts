import type { Knex } from 'knex';
import { referring } from '../referring.js';
import type { Scope } from '../unit.js';

/** How many decision points of one environment are remembered: those heard of last. */
export const mostInstances = 100;

/** What a decision point said of itself, last. */
export interface PdpInstance {
	readonly environment_id: string;
	readonly pdp_instance_id: string;
	readonly api_key_id: string;
	readonly state: Readonly<Record<string, unknown>>;
	readonly first_seen_at: Date;
	readonly last_seen_at: Date;
}

/** What a decision point says of itself. */
export type PdpReport = Pick<PdpInstance, 'pdp_instance_id' | 'api_key_id' | 'state'>;

/**
 * The decision points of an environment, as they have told. They are no objects of the environment: what they say is in
 * no revision and no history, takes no lock, and the oldest is forgotten for the newest.
 */
export class PdpInstances {
	constructor(
		private readonly scope: Pick<Scope, 'environment_id'>,
		private readonly database: Knex,
	) {}

	/** Those heard of, the one heard of last first. */
	async list(): Promise<readonly PdpInstance[]> {
		return this.#all().orderBy([{ column: 'last_seen_at', order: 'desc' }, 'pdp_instance_id']);
	}

	/**
	 * Keeps what one of them says in place of what it said before. Throws `not_found` when the environment was deleted
	 * meanwhile.
	 */
	async keep({ state, ...report }: PdpReport, now: Date): Promise<void> {
		const { environment_id } = this.scope;
		const row = { ...report, state: JSON.stringify(state), last_seen_at: now };
		await referring('Environment', environment_id, () =>
			this.database('pdp_states')
				.insert({ ...row, environment_id, first_seen_at: now })
				.onConflict(['environment_id', 'pdp_instance_id'])
				.merge(Object.keys(row)),
		);
		const kept = this.#all().orderBy('last_seen_at', 'desc').limit(mostInstances).select('pdp_instance_id');
		await this.#all().whereNotIn('pdp_instance_id', kept).delete();
	}

	#all() {
		return this.database<PdpInstance>('pdp_states').where({ environment_id: this.scope.environment_id });
	}
}

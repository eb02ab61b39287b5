import type { Degradation } from '../../bundle/bundle.js';
import type { EventLog } from '../../log.js';
import { type Timer, unreferenced } from './timer.js';

/** Time that a policy may lag behind before an error is logged, in milliseconds. */
const tolerated = 60_000;

/** Revision in use and its policy revision. */
interface RevisionInUse {
	readonly revision: number;
	readonly policyRevision: number;
	readonly degraded: Degradation | null;
}

/** Logs an error when the policy has lagged behind for a minute, and an info line when it has caught up afterwards. */
export class DegradationAlarm {
	#inUse: RevisionInUse | undefined;
	#timer: Timer | undefined;
	#raised = false;

	constructor(
		private readonly log: EventLog,
		private readonly wait = tolerated,
	) {}

	/** Updates the revision in use; `undefined` if there is none. */
	note(inUse: RevisionInUse | undefined): void {
		this.#inUse = inUse;
		if (inUse === undefined || inUse.degraded === null) {
			this.#settle();
			return;
		}
		if (this.#timer !== undefined || this.#raised) return;
		const left = this.wait - (Date.now() - Date.parse(inUse.degraded.since));
		this.#timer = unreferenced(setTimeout(() => this.#raise(), Math.min(Math.max(left, 0), this.wait)));
	}

	#raise(): void {
		this.#timer = undefined;
		const { degraded, revision, policyRevision } = this.#inUse ?? {};
		if (!degraded) return;
		this.#raised = true;
		const facts = { revision, policy_revision: policyRevision, ...degraded };
		this.log.error(
			facts,
			'the active policy is not the policy of the newest schema: removed permissions are suspended',
		);
	}

	#settle(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#raised) this.log.info('the active policy is the policy of the newest schema again');
		this.#raised = false;
	}
}

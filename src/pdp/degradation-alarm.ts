import type { Degradation } from '../bundle.js';
import type { Logger } from '../log.js';

/** How long a policy may be behind before it is an error in the log, in milliseconds. */
const tolerated = 60_000;

/** What is answered from, as far as it concerns how its policy stands to it. */
interface Answering {
	readonly revision: number;
	readonly policyRevision: number;
	readonly degraded: Degradation | null;
}

/** Logs an error once a policy has been behind for a minute, and when it has caught up after that. */
export class DegradationAlarm {
	#answering: Answering | undefined;
	#timer: NodeJS.Timeout | undefined;
	#raised = false;

	constructor(
		private readonly log: Logger,
		private readonly wait = tolerated,
	) {}

	/** Takes in what is answered from now; `undefined` when nothing is. */
	note(answering: Answering | undefined): void {
		this.#answering = answering;
		if (answering === undefined || answering.degraded === null) {
			this.#settle();
			return;
		}
		if (this.#timer !== undefined || this.#raised) return;
		const left = this.wait - (Date.now() - Date.parse(answering.degraded.since));
		this.#timer = setTimeout(() => this.#raise(), Math.min(Math.max(left, 0), this.wait));
		this.#timer.unref();
	}

	#raise(): void {
		this.#timer = undefined;
		const { degraded, revision, policyRevision } = this.#answering ?? {};
		if (!degraded) return;
		this.#raised = true;
		const facts = { revision, policy_revision: policyRevision, ...degraded };
		this.log.error(facts, 'the policy in force is not that of the newest schema: what was taken away is suspended');
	}

	#settle(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#raised) this.log.info('the policy in force is that of the newest schema again');
		this.#raised = false;
	}
}

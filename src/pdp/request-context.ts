/** The context in which a request's checks are decided. */

import type { EventLog } from '../log.js';
import { type CountDecision, type DecisionContext, dataOutdated, type RecordDecision } from './decide/decide.js';
import { environmentDeleted } from './follow/deleted-environment.js';
import type { LoadedRevision, Replica } from './follow/replica.js';
import type { DecisionLog } from './log/decision-log.js';
import type { LoggedRequest } from './log/decision-ring.js';

/** Parts of a decision point that decisions need. */
export interface ContextOptions {
	readonly replica: Pick<Replica, 'dataAge' | 'state'>;
	readonly log: EventLog;
	readonly now: () => number;
	readonly decisions: Pick<DecisionLog, 'add'> | undefined;
	readonly count: CountDecision | undefined;
	readonly countDifference: DecisionContext['countDifference'];
	/** Maximum data age for decisions, in milliseconds. */
	readonly maxDataAge: number;
}

/** Parts of a request that decisions need. */
interface Asking {
	readonly id: string;
	readonly ownId: string;
	readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Maximum client SDK name length. */
const maxSdkLength = 256;

/**
 * Context for requests at a single revision. Requests that are each decided in one step may share a context: `begin`
 * prepares it for the next request.
 */
export class RequestContext implements DecisionContext, LoggedRequest {
	readonly held: LoadedRevision;
	readonly engine: DecisionContext['engine'];
	readonly facts: DecisionContext['facts'];
	readonly lineage: string;
	readonly revision: number;
	readonly policyRevision: number;
	readonly log: EventLog;
	readonly count: CountDecision | undefined;
	readonly countDifference: DecisionContext['countDifference'];
	readonly record?: RecordDecision;
	time = 0;
	dataAge = 0;
	denial: DecisionContext['denial'];
	requestId = '';
	decisionId?: string;
	readonly #options: ContextOptions;
	#headers: Asking['headers'] = {};

	constructor(options: ContextOptions, held: LoadedRevision) {
		this.held = held;
		this.engine = held.engine;
		this.facts = held.facts;
		this.lineage = held.lineage;
		this.revision = held.revision;
		this.policyRevision = held.policyRevision;
		this.log = options.log;
		this.count = options.count;
		this.countDifference = options.countDifference;
		this.#options = options;
		const { decisions } = options;
		if (decisions === undefined) return;
		this.record = (input, code, duration, index, kind) => decisions.add(input, code, duration, index, this, kind);
	}

	/** Client SDK, as sent by the client. */
	get sdk(): string | undefined {
		const sent = this.#headers['x-permit-sdk-version'] ?? this.#headers['x-permit-sdk-language'];
		return typeof sent === 'string' ? sent.slice(0, maxSdkLength) : undefined;
	}

	/** Prepares the context for a request that begins now. */
	begin({ id, ownId, headers }: Asking): this {
		const { replica, now, maxDataAge } = this.#options;
		const age = replica.dataAge;
		this.time = now();
		this.dataAge = Math.floor(age / 1_000);
		this.denial = replica.state.kind === 'deleted' ? environmentDeleted : age > maxDataAge ? dataOutdated : undefined;
		this.requestId = id;
		// Not the request id, because AuthZEN clients can choose it.
		if (this.record !== undefined) this.decisionId = ownId;
		this.#headers = headers;
		return this;
	}
}

/** What the process that leads the workers of a decision point and these workers tell each other. */

import type { FeedRequest } from '../pdp/follow/feed-client.js';
import type { ReplicaState } from '../pdp/follow/replica.js';
import type { MetricFamilies } from '../telemetry/metric-family.js';
import type { Health } from '../wire/decision/check.js';

/** What a worker needs to begin. */
export interface Beginning {
	readonly controlPlane: string;
	readonly apiKey: string;
	/** The revision that a worker needs before it asks to be counted: that of the other workers, or -1 without them. */
	readonly revision: number;
	/** As in `Progress`, of the other workers. */
	readonly lineage: string;
	/** The lineages that the other workers know to have ended. */
	readonly ended: readonly string[];
}

/** The progress of all workers. */
export interface WorkersProgress {
	/** As in `Progress`. */
	readonly lineage: string;
	/** As in `Progress`. */
	readonly revision: number;
	/** As in `Progress`. */
	readonly policyRevision: number;
	/** Whether all know that the environment was deleted. After that, no further revision is reached. */
	readonly deleted: boolean;
}

/** How a worker is. */
export interface WorkerStatus {
	readonly lineage: string;
	/** The lineages that it knows to have ended. */
	readonly ended: readonly string[];
	readonly revision: number;
	readonly policyRevision: number;
	readonly state: ReplicaState;
	readonly health: Health;
	/** Decisions that it has made. */
	readonly decided: number;
	/** Decisions that no sampling rule chose. */
	readonly sampledOut: number;
	/** Decisions that did not reach the leading process. */
	readonly lost: number;
}

/** What a worker asks of the leading process, which answers each with a value or a failure. */
export type Question =
	| { readonly kind: 'environment' }
	| { readonly kind: 'poll'; readonly request: FeedRequest }
	/** The progress that the worker must have made before it listens. From now on, the progress of all includes it. */
	| { readonly kind: 'count'; readonly status: WorkerStatus }
	| { readonly kind: 'events'; readonly lines: readonly string[] }
	/** The metrics of all workers, as text. */
	| { readonly kind: 'metrics' };

/** What a worker sends. */
export type WorkerMessage =
	/** The worker hears what it is sent from now on. */
	| { readonly type: 'hears' }
	| { readonly type: 'ask'; readonly id: number; readonly question: Question }
	/** The answer to a question is no longer needed. */
	| { readonly type: 'cancel'; readonly id: number }
	| { readonly type: 'listening'; readonly url: string }
	/** The worker cannot begin; `setting` says that a setting has to be changed. */
	| { readonly type: 'failed'; readonly message: string; readonly setting: boolean }
	| { readonly type: 'status'; readonly status: WorkerStatus }
	/** The metrics of this worker, which the leading process has asked for. */
	| { readonly type: 'metrics'; readonly families: MetricFamilies }
	/** A client wants everything fetched anew. */
	| { readonly type: 'refetch' };

/** What the leading process sends. */
export type LeaderMessage =
	| { readonly type: 'begin'; readonly beginning: Beginning }
	| { readonly type: 'answer'; readonly id: number; readonly value: unknown }
	/** `refused` says that the control plane refuses the key, `gone` that it has deleted the environment. */
	| {
			readonly type: 'failure';
			readonly id: number;
			readonly message: string;
			readonly refused: boolean;
			readonly gone: boolean;
	  }
	| { readonly type: 'progress'; readonly progress: WorkersProgress }
	| { readonly type: 'refetch' }
	/** Asks for the metrics of the worker. */
	| { readonly type: 'measure' }
	| { readonly type: 'stop' };

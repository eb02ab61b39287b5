/** Messages between the decision point leader and its workers. */

import type { FeedRequest } from '../pdp/follow/feed-client.js';
import type { ReplicaState } from '../pdp/follow/replica.js';
import type { EventChunk } from '../pdp/log/event-queue.js';
import type { MetricFamilies } from '../telemetry/metric-family.js';
import type { Health } from '../wire/decision/check.js';

/** Initial data for a worker. */
export interface Beginning {
	readonly controlPlane: string;
	readonly apiKey: string;
	/**
	 * Revision that a worker must reach before it joins the shared progress: the other workers' revision; -1 if there are
	 * no other workers.
	 */
	readonly revision: number;
	/** Lineage of the other workers, as in `Progress`. */
	readonly lineage: string;
	/** Lineages that the other workers know to have ended. */
	readonly ended: readonly string[];
}

export interface WorkersProgress {
	/** As in `Progress`. */
	readonly lineage: string;
	/** As in `Progress`. */
	readonly revision: number;
	/** As in `Progress`. */
	readonly policyRevision: number;
	/** True if all workers know that the environment was deleted. No further revision follows. */
	readonly deleted: boolean;
}

export interface WorkerStatus {
	readonly lineage: string;
	/** Lineages known to have ended. */
	readonly ended: readonly string[];
	readonly revision: number;
	readonly policyRevision: number;
	readonly state: ReplicaState;
	readonly health: Health;
	/** Number of decisions. */
	readonly decided: number;
	/** Number of decisions dropped by sampling. */
	readonly sampledOut: number;
	/** Number of decisions that did not reach the leader. */
	readonly lost: number;
}

/** Request to the leader, which replies with a value or a failure. */
export type Question =
	| { readonly kind: 'environment' }
	| { readonly kind: 'poll'; readonly request: FeedRequest }
	/**
	 * Asks the leader to include this worker in the shared progress. The reply is the progress that the worker must reach
	 * before it listens.
	 */
	| { readonly kind: 'count'; readonly status: WorkerStatus }
	| { readonly kind: 'events'; readonly chunk: EventChunk }
	/** All workers' metrics as text. */
	| { readonly kind: 'metrics' };

export type WorkerMessage =
	/** The worker is ready to receive messages. */
	| { readonly type: 'hears' }
	| { readonly type: 'ask'; readonly id: number; readonly question: Question }
	/** The reply to a request is no longer needed. */
	| { readonly type: 'cancel'; readonly id: number }
	| { readonly type: 'listening'; readonly url: string }
	/** The worker cannot start. `setting` is true if the operator must change a setting. */
	| { readonly type: 'failed'; readonly message: string; readonly setting: boolean }
	| { readonly type: 'status'; readonly status: WorkerStatus }
	/** This worker's metrics, requested by the leader. */
	| { readonly type: 'metrics'; readonly families: MetricFamilies }
	/** A client's request to fetch all data again. */
	| { readonly type: 'refetch' };

export type LeaderMessage =
	| { readonly type: 'begin'; readonly beginning: Beginning }
	| { readonly type: 'answer'; readonly id: number; readonly value: unknown }
	/** `refused`: the control plane rejects the key. `gone`: the environment was deleted. */
	| {
			readonly type: 'failure';
			readonly id: number;
			readonly message: string;
			readonly refused: boolean;
			readonly gone: boolean;
	  }
	| { readonly type: 'progress'; readonly progress: WorkersProgress }
	| { readonly type: 'refetch' }
	/** Asks for the worker's metrics. */
	| { readonly type: 'measure' }
	| { readonly type: 'stop' };

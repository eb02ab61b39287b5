/** Decision point monitoring: metrics from all modules. */

import type { Logger } from '../log.js';
import type { MetricsSource } from '../pdp/endpoint/metrics-endpoint.js';
import { currentHealth } from '../pdp/follow/current-health.js';
import type { ApplyBundle, Replica } from '../pdp/follow/replica.js';
import type { DecisionCounts, DecisionLog } from '../pdp/log/decision-log.js';
import { buildInfo } from '../telemetry/build-info.js';
import type { DecisionTally } from '../telemetry/decision-tally.js';
import { Durations, histogram } from '../telemetry/durations.js';
import { counter, gauge, type MetricFamilies, type MetricSample, sample } from '../telemetry/metric-family.js';
import { processFamilies } from '../telemetry/process-families.js';
import { metricsType, renderFamilies } from '../telemetry/render-families.js';
import type { RequestTally } from '../telemetry/request-tally.js';
import type { Tracing } from '../telemetry/tracing.js';
import { WordCounts } from '../telemetry/word-counts.js';
import { version } from '../version.js';
import type { LeaderClient } from '../workers/leader-client.js';

/** Measures and traces bundle application. */
export class BundleMeter {
	readonly #results = new WordCounts(['snapshot', 'delta', 'policy', 'refused']);
	readonly #durations = new Durations();
	#policyLoaded: number | undefined;

	constructor(private readonly tracing: Tracing | null) {}

	/** Wraps the application of each bundle. */
	readonly apply: ApplyBundle = async (bundle, apply) => {
		const started = performance.now();
		try {
			const applied = await (this.tracing === null ? apply() : this.tracing.apply(bundle, apply));
			this.#results.add(applied.kind);
			this.#durations.add((performance.now() - started) / 1_000);
			if (applied.kind !== 'delta') this.#policyLoaded = performance.now();
			return applied;
		} catch (error) {
			this.#results.add('refused');
			throw error;
		}
	};

	/** Returns the measurements as metrics. */
	families(): MetricFamilies {
		const loaded = this.#policyLoaded;
		return [
			counter('regolith_pdp_bundles_total', 'Bundles by kind, applied or rejected', this.#results.samples('result')),
			histogram('regolith_pdp_bundle_duration_seconds', 'Seconds to apply a bundle', [[{}, this.#durations]]),
			gauge(
				'regolith_pdp_policy_age_seconds',
				'Seconds since the active policy was loaded',
				loaded === undefined ? [] : [sample((performance.now() - loaded) / 1_000)],
				'max',
			),
		];
	}
}

export interface DecisionPointSources {
	readonly replica: Replica;
	readonly requests: readonly RequestTally[];
	readonly decided: DecisionTally;
	readonly bundles: BundleMeter;
	/** Decision log; `null` if decisions are not logged, or if a different process reports the log's metrics. */
	readonly log: DecisionLog | null;
}

const states = ['starting', 'ready', 'stale', 'refused', 'deleted'] as const;
const reasons = ['compiling', 'failed', 'left_out'] as const;

/** Returns the metrics for a decision point process. */
export function decisionPointFamilies(sources: DecisionPointSources): MetricFamilies {
	const { replica, requests, decided, bundles, log } = sources;
	const { status, online, state, revision, policy_revision, degraded } = currentHealth(replica);
	const { behind } = replica;
	const since = degraded === null ? 0 : Math.max(0, (Date.now() - Date.parse(degraded.since)) / 1_000);
	const { heapBytes, memoryBytes } = replica.memory;
	return [
		buildInfo('pdp', version),
		...joinFamilies(requests.map((tally) => tally.families())),
		...decided.families(),
		gauge(
			'regolith_pdp_ready',
			'1 if the decision point serves checks, otherwise 0',
			[sample(status === 'unavailable' ? 0 : 1)],
			'min',
		),
		gauge('regolith_pdp_online', '1 if the API is reachable, otherwise 0', [sample(online ? 1 : 0)], 'min'),
		gauge(
			'regolith_pdp_state',
			'1 for the current state; with workers, the number of workers in the state',
			states.map((name) => sample(name === state ? 1 : 0, { state: name })),
		),
		gauge('regolith_pdp_revision', 'Revision used for checks', [sample(revision ?? 0)], 'min'),
		counter(
			'regolith_pdp_lineage_changes_total',
			'Number of lineage switches, after the database lost or may have lost revisions',
			[sample(replica.lineageChanges)],
		),
		gauge(
			'regolith_pdp_policy_revision',
			'Newest revision whose policy is active',
			[sample(policy_revision ?? 0)],
			'min',
		),
		gauge(
			'regolith_pdp_revisions_behind',
			'Number of announced revisions that checks do not use yet',
			[sample(behind.revisions)],
			'max',
		),
		gauge(
			'regolith_pdp_seconds_behind',
			'Seconds since the announcement of the oldest revision that checks do not use yet',
			[sample(behind.milliseconds / 1_000)],
			'max',
		),
		gauge(
			'regolith_pdp_data_age_seconds',
			'Seconds since the data was last confirmed current',
			[sample(replica.dataAge / 1_000)],
			'max',
		),
		gauge(
			'regolith_pdp_policy_degraded',
			'1 if the active policy is not the complete policy of the newest schema, by reason',
			reasons.map((reason) => sample(degraded?.reason === reason ? 1 : 0, { reason })),
			'max',
		),
		gauge('regolith_pdp_policy_degraded_seconds', 'Seconds since the policy became degraded', [sample(since)], 'max'),
		...bundles.families(),
		gauge('regolith_pdp_data_bytes', "Size of the engine's data in bytes", [sample(heapBytes)]),
		gauge('regolith_pdp_engine_memory_bytes', "Size of the engine's WASM memory in bytes", [sample(memoryBytes)]),
		gauge('regolith_pdp_work_waiting', 'Listings, bulk checks and bundles being processed in slices', [
			sample(replica.scheduler.running),
		]),
		...(log === null ? [] : decisionLogFamilies(log.counts)),
	];
}

/** Maximum time in milliseconds to collect all workers' metrics. */
const measuringTime = 10_000;

/** Returns the source for `/metrics`: this process, or all workers. */
export function metricsSource(
	families: () => MetricFamilies,
	{ open, leader, log }: { readonly open: boolean; readonly leader: Leader | undefined; readonly log: Logger },
): MetricsSource {
	const own = async () => [...families(), ...(await processFamilies())];
	leader?.measures.add(() => {
		own().then(
			(told) => leader.tell({ type: 'metrics', families: told }),
			(error: unknown) => log.error({ error }, 'the metrics of a worker are unavailable'),
		);
	});
	const render = async () =>
		leader === undefined ? renderFamilies([await own()]) : leader.metrics(AbortSignal.timeout(measuringTime));
	return { render, type: metricsType, open };
}

/** Leader interface for metrics. */
type Leader = Pick<LeaderClient, 'measures' | 'metrics' | 'tell'>;

/** Returns the decision log metrics. `lostByWorkers` counts events that did not reach the leader process. */
export function decisionLogFamilies({ sampled_out, receivers }: DecisionCounts, lostByWorkers = 0): MetricFamilies {
	const events: MetricSample[] = Object.entries(receivers).flatMap(([receiver, { sent, lost }]) => [
		sample(sent, { receiver, result: 'sent' }),
		sample(lost + lostByWorkers, { receiver, result: 'lost' }),
	]);
	return [
		counter('regolith_pdp_decision_log_events_total', 'Decisions delivered to a receiver, or lost', events),
		counter('regolith_pdp_decision_log_sampled_out_total', 'Decisions skipped by sampling', [sample(sampled_out)]),
	];
}

/** Joins lists that contain the same families in the same order. */
function joinFamilies(lists: readonly MetricFamilies[]): MetricFamilies {
	const [first = [], ...others] = lists;
	return first.map((family, index) => ({
		...family,
		values: [...family.values, ...others.flatMap((list) => list[index]?.values ?? [])],
	}));
}

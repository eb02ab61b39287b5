/** API process monitoring: metrics from all modules, and health. */

import type { Monitoring } from '../api/monitoring.js';
import type { Config } from '../config.js';
import { valueInTime } from '../limit/value-in-time.js';
import type { Assembler } from '../publish/assemble.js';
import type { FeedServer } from '../publish/feed-server.js';
import type { Publisher } from '../publish/publisher.js';
import type { InstallationCounts } from '../store/account/statistics.js';
import type { Store } from '../store/store.js';
import { buildInfo } from '../telemetry/build-info.js';
import { diskFamilies } from '../telemetry/disk-families.js';
import { Durations, histogram } from '../telemetry/durations.js';
import { counter, gauge, type MetricFamilies, sample } from '../telemetry/metric-family.js';
import { Probe } from '../telemetry/probe.js';
import { processFamilies } from '../telemetry/process-families.js';
import { metricsType, renderFamilies } from '../telemetry/render-families.js';
import type { RequestTally } from '../telemetry/request-tally.js';
import type { Tracing } from '../telemetry/tracing.js';
import { WordCounts } from '../telemetry/word-counts.js';
import type { WebhookDispatcher } from '../upkeep/webhook/dispatcher.js';
import { version } from '../version.js';

/**
 * Maximum time in milliseconds for counting objects in the database. After this time, the metrics omit these counts.
 */
const countingTime = 2_000;

/** Measures and traces an assembler. */
export function meterAssembler(assembler: Assembler, tracing: Tracing | null) {
	const results = new WordCounts(['built', 'stored', 'failed']);
	const durations = new Durations();
	const assemble: Assembler['assemble'] = async (schema) => {
		const started = performance.now();
		const assembled = await assembler.assemble(schema);
		durations.add((performance.now() - started) / 1_000);
		results.add(assembled.digest === null ? 'failed' : assembled.built ? 'built' : 'stored');
		return assembled;
	};
	return {
		assembler: {
			...assembler,
			assemble: tracing === null ? assemble : (schema) => tracing.compile(() => assemble(schema)),
		} satisfies Assembler,
		families: (): MetricFamilies => [
			counter(
				'regolith_api_compilations_total',
				'Compiled schemas by result: a new policy, an already stored policy, or a failure',
				results.samples('result'),
			),
			histogram('regolith_api_compilation_duration_seconds', 'Seconds to compile a schema', [[{}, durations]]),
		],
	};
}

/** Metrics sources in an API process. */
export interface ApiSources {
	readonly config: Pick<Config, 'data_directory' | 'database_url' | 'min_free_bytes' | 'open_metrics'>;
	readonly store: Pick<Store, 'units' | 'database' | 'fullAuditLogs' | 'installationCounts'>;
	readonly publisher: Pick<Publisher, 'compiling'>;
	readonly feed: Pick<FeedServer, 'waiting'>;
	readonly dispatcher: Pick<WebhookDispatcher, 'counts'>;
	readonly requests: RequestTally;
	readonly metered: ReturnType<typeof meterAssembler>;
}

/** Returns the results for probes and monitoring. */
export function apiMonitoring(sources: ApiSources): Monitoring {
	const { config, store, metered } = sources;
	const database = new Probe(() => store.database.ping());
	const compiler = new Probe(() => metered.assembler.isWorking());
	return {
		version,
		type: metricsType,
		open: config.open_metrics.api,
		probe: async () => {
			const [answers, works] = await Promise.all([database.works(), compiler.works()]);
			return { database: answers, compiler: works };
		},
		render: async () => renderFamilies([[...(await apiFamilies(sources)), ...(await processFamilies())]]),
	};
}

/** Collects the metrics. Omits the counts from the database while the database does not respond. */
async function apiFamilies(sources: ApiSources): Promise<MetricFamilies> {
	const { config, store, publisher, feed, dispatcher, requests, metered } = sources;
	const { connections } = store.database;
	const { units } = store;
	const { delivered, failed, given_up } = dispatcher.counts;
	const reserve = config.database_url === null ? config.min_free_bytes : 0;
	const [counts, disk] = await Promise.all([countInstallation(store), diskFamilies(config.data_directory, reserve)]);
	return [
		buildInfo('api', version),
		...requests.families(),
		gauge('regolith_api_database_up', '1 if the database responds, otherwise 0', [sample(counts === null ? 0 : 1)]),
		gauge('regolith_api_database_connections', 'Connections to the database', [
			sample(connections.used, { state: 'used' }),
			sample(connections.free, { state: 'free' }),
		]),
		gauge('regolith_api_database_waiting', 'Requests waiting for a database connection', [sample(connections.waiting)]),
		gauge('regolith_api_units_waiting', 'Units of work waiting for their turn', [sample(units.waiting)]),
		counter('regolith_api_units_total', 'Units of work, committed or rolled back', [
			sample(units.committed, { result: 'committed' }),
			sample(units.failed, { result: 'rolled_back' }),
		]),
		...metered.families(),
		gauge('regolith_api_compilations_waiting', 'Environments with a schema being compiled or queued for compilation', [
			sample(publisher.compiling),
		]),
		gauge('regolith_api_feed_waiting', 'Open long polls from decision points', [sample(feed.waiting)]),
		counter('regolith_api_webhook_attempts_total', 'Webhook delivery attempts', [
			sample(delivered, { result: 'delivered' }),
			sample(failed, { result: 'failed' }),
			sample(given_up, { result: 'given_up' }),
		]),
		gauge(
			'regolith_api_decision_log_full',
			"Environments whose new decisions are dropped, because today's decisions have used up their quota",
			[sample(store.fullAuditLogs)],
		),
		...disk,
		...(counts === null ? [] : installationFamilies(counts)),
	];
}

function installationFamilies(counts: InstallationCounts): MetricFamilies {
	return [
		gauge('regolith_api_environments', 'Environments', [sample(counts.environments)], 'max'),
		gauge(
			'regolith_api_policies_failed',
			'Environments whose newest schema failed to compile',
			[sample(counts.failed_policies)],
			'max',
		),
		gauge(
			'regolith_api_webhooks_waiting',
			'Events waiting for webhook delivery, counted up to 10,000',
			[sample(counts.waiting_deliveries)],
			'max',
		),
		gauge(
			'regolith_api_decision_points',
			'Decision points that reported their state in the last two and a half minutes',
			[
				sample(counts.points_ok, { status: 'ok' }),
				sample(counts.points_degraded, { status: 'degraded' }),
				sample(counts.points_unavailable, { status: 'unavailable' }),
			],
			'max',
		),
	];
}

async function countInstallation(store: ApiSources['store']): Promise<InstallationCounts | null> {
	return valueInTime(
		store.installationCounts().catch(() => null),
		countingTime,
		null,
	);
}

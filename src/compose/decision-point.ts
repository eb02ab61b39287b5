import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { createApplication, type Listening } from '../http/server.js';
import type { Logger } from '../log.js';
import { decisionPointDocumentation } from '../pdp/documentation.js';
import { connectApprovals } from '../pdp/endpoint/approval-client.js';
import { factsWaitTime } from '../pdp/endpoint/facts-wait.js';
import { createDecisionPoint, type DecisionPoint } from '../pdp/endpoints.js';
import { ClockComparison } from '../pdp/follow/clock-comparison.js';
import { findFactsOnce } from '../pdp/follow/control-plane.js';
import { currentHealth } from '../pdp/follow/current-health.js';
import { FallbackFeed } from '../pdp/follow/fallback-feed.js';
import { connectFeed, reportState } from '../pdp/follow/feed-client.js';
import { OfflineCopier } from '../pdp/follow/offline-copier.js';
import { OfflineCopy } from '../pdp/follow/offline-copy.js';
import type { StartedPoint } from '../pdp/follow/readiness.js';
import { Replica } from '../pdp/follow/replica.js';
import { StateReport } from '../pdp/follow/state-report.js';
import { readBundleVerifier } from '../pdp/follow/verification-keys.js';
import { readGatewaySettings } from '../pdp/gateway/gateway-settings.js';
import { DecisionLog } from '../pdp/log/decision-log.js';
import type { EventReceiver } from '../pdp/log/event-queue.js';
import { fileReceiver, httpReceiver, outputReceiver } from '../pdp/log/event-receivers.js';
import { DecisionRate } from '../telemetry/decision-rate.js';
import { DecisionTally } from '../telemetry/decision-tally.js';
import { RequestTally } from '../telemetry/request-tally.js';
import { createTracing } from '../telemetry/tracing.js';
import { version } from '../version.js';
import type { LeaderClient } from '../workers/leader-client.js';
import { BundleMeter, decisionPointFamilies, metricsSource } from './pdp-metrics.js';
import { listenAt, requirePort } from './ports.js';
import { type Monitored, monitored } from './requests.js';

export { RefusedKeyError, type StartedPoint, untilAnswering } from '../pdp/follow/readiness.js';

export interface RunningDecisionPoint {
	readonly listening: Listening;
	/** Listener for OPA Data API clients; `null` if disabled. */
	readonly dataApi: Listening | null;
	readonly replica: Replica;
	/** Signals when the decision point serves checks. */
	readonly started: StartedPoint;
	/** `null` if decisions are not logged. */
	readonly decisions: DecisionLog | null;
	/** Number of decisions so far. */
	readonly decided: Pick<DecisionTally, 'total'>;
	stop(): Promise<void>;
}

/** Tries the decision point ports. Rejects with `ConfigError` if a port is not available. */
export async function requireDecisionPointPorts({ host, pdp_port, pdp_opa_port }: Config): Promise<void> {
	await requirePort(host, pdp_port, 'PDP_PORT');
	if (pdp_opa_port !== null) await requirePort(host, pdp_opa_port, 'PDP_OPA_PORT');
}

/** Dependencies of a decision point, in addition to the settings. */
export interface DecisionPointParts {
	/** Clock for grant expiry; the system clock by default. */
	readonly clock?: Pick<Clock, 'now'>;
	/** Leader process, for a worker. */
	readonly leader?: Pick<
		LeaderClient,
		'feed' | 'receiver' | 'progress' | 'tell' | 'refetches' | 'measures' | 'metrics'
	>;
	/** Lineages that are known to have ended. */
	readonly ended?: readonly string[];
	/**
	 * Resolves when the decision point may listen. Until then, its replica already follows the feed. By default, the
	 * decision point listens immediately.
	 */
	readonly beforeListening?: (replica: Replica) => Promise<void>;
}

/** Starts a decision point that follows `controlPlane` with an environment key. */
export async function startDecisionPoint(
	config: Config,
	log: Logger,
	controlPlane: string,
	apiKey: string,
	{ clock = systemClock, leader, beforeListening, ended = [] }: DecisionPointParts = {},
): Promise<RunningDecisionPoint> {
	const feed = leader?.feed ?? connectFeed(controlPlane, apiKey);
	const copy = offlineCopy(config, log, apiKey);
	const verify = await readBundleVerifier(config.pdp_bundle_verification_key_paths);
	const followed = copy === null ? feed : new FallbackFeed(feed, copy);
	const tracing = createTracing();
	const [requests, dataRequests] = [new RequestTally('pdp'), new RequestTally('opa')];
	const [decided, bundles] = [new DecisionTally(), new BundleMeter(tracing)];
	const following = { controlPlane, apiKey, log, feed: followed, verify };
	const replica = new Replica({ ...following, applying: bundles.apply, ended });
	// For workers, the leader process writes the copy and reports.
	const copier = copy === null || leader !== undefined ? null : new OfflineCopier({ copy, feed, replica, log, verify });
	leader?.refetches.add(() => replica.refetch());
	const findFacts = findFactsOnce(controlPlane, apiKey);
	// The name is the same after a restart: host name and port.
	const name = () => `${hostname()}:${new URL(listening.url).port}`;
	const receivers = leader === undefined ? decisionReceivers(config, controlPlane, apiKey) : [leader.receiver];
	const decisions = decisionLog(config, log, name, receivers);
	const families = () =>
		decisionPointFamilies({
			replica,
			requests: [requests, dataRequests],
			decided,
			bundles,
			// The leader process reports on all workers' decision logs.
			log: leader === undefined ? decisions : null,
		});
	const decisionPoint = createDecisionPoint({
		replica,
		...(leader === undefined ? {} : { progress: leader.progress, fetchAnew: () => leader.tell({ type: 'refetch' }) }),
		apiKey,
		log,
		clock,
		mode: config.pdp_mode,
		consume: connectApprovals(findFacts, apiKey),
		facts: {
			find: findFacts,
			wait: { milliseconds: factsWaitTime(config.pdp_facts_wait), policy: config.pdp_facts_timeout_policy },
		},
		budget: config.pdp_budget * 1_000,
		...(config.pdp_max_data_age === null ? {} : { maxDataAge: config.pdp_max_data_age * 1_000 }),
		...(decisions === null ? {} : { decisions }),
		count: (input, code) => decided.add(input, code),
		countDifference: () => decided.addDifference(),
		metrics: metricsSource(families, { open: config.open_metrics.pdp, leader, log }),
		authzen: { publicUrl: config.pdp_public_url, subjectTypes: config.pdp_subject_types },
		gateways: await readGatewaySettings(config.gateways),
		version,
	});
	const endpoints = [
		...decisionPoint.endpoints,
		...decisionPointDocumentation(decisionPoint.endpoints, version, controlPlane),
		...decisionPoint.forwarding,
	];
	const application = createApplication({ ...decisionPoint, endpoints, ...monitored(log, requests, tracing) });
	if (beforeListening !== undefined) {
		replica.start();
		await beforeListening(replica);
	}
	const listening = await listenAt(application, config.host, config.pdp_port, 'PDP_PORT');
	const dataApi = await listenToDataApi(decisionPoint, config, monitored(log, dataRequests, tracing)).catch(
		async (error: unknown) => {
			await listening.close(0);
			throw error;
		},
	);
	replica.start();
	copier?.start();
	decisions?.start();
	const pdp_instance_id = name();
	const rate = new DecisionRate(() => decided.total);
	const clocks = new ClockComparison(log);
	const report = new StateReport(
		{ changes: replica.revisions, health: () => currentHealth(replica) },
		(state, signal) => reportState(controlPlane, apiKey, { pdp_instance_id, state }, signal, clocks),
		() => ({
			version,
			mode: config.pdp_mode,
			checks_per_second: rate.report(),
			clock_ahead_seconds: clocks.secondsAhead === 0 ? undefined : clocks.secondsAhead,
			decision_log: decisions?.counts,
		}),
		log,
	);
	if (leader === undefined) {
		report.start();
		log.info({ version, url: listening.url, control_plane: controlPlane }, 'the decision point is listening');
	}
	return {
		listening,
		dataApi,
		replica,
		started: startedPoint(replica),
		decisions,
		decided,
		async stop() {
			report.stop();
			await Promise.all([replica.stop(), copier?.stop()]);
			await Promise.all([listening.close(), dataApi?.close()]);
			await decisions?.stop();
			if (leader === undefined) log.info('the decision point has stopped');
		},
	};
}

/** Returns the configured offline copy; `null` if disabled. */
export function offlineCopy(config: Config, log: Logger, apiKey: string): OfflineCopy | null {
	const directory = config.pdp_offline_directory;
	return directory === null ? null : new OfflineCopy(join(directory, 'environment.copy'), apiKey, log);
}

/** Returns the configured decision log receivers. */
export function decisionReceivers(config: Config, controlPlane: string, apiKey: string): readonly EventReceiver[] {
	return config.decision_log.map((place) => {
		if (place === 'stdout') return outputReceiver();
		if (place.startsWith('file:')) return fileReceiver(place.slice('file:'.length));
		if (place !== 'api') return httpReceiver({ name: 'collector', url: place, token: config.decision_log_token });
		const url = `${controlPlane.replace(/\/+$/, '')}/v1/decision_logs/ingress`;
		return httpReceiver({ name: 'api', url, token: apiKey, format: 'lines' });
	});
}

/** Returns the configured decision log; `null` if decisions are not logged. */
function decisionLog(
	config: Config,
	log: Logger,
	name: () => string,
	receivers: readonly EventReceiver[],
): DecisionLog | null {
	if (config.decision_log.length === 0) return null;
	const { decision_log_sampling: sampling, decision_log_mask: masks } = config;
	return new DecisionLog({ receivers, sampling, masks, labels: () => ({ id: name(), version }), log });
}

function startedPoint(replica: Replica): StartedPoint {
	return {
		get state() {
			return replica.state;
		},
		get answers() {
			return replica.current() !== undefined;
		},
		changes: replica.changes,
	};
}

/** Starts the listener for OPA Data API clients, if configured. */
async function listenToDataApi(
	{ dataApi }: DecisionPoint,
	{ host, pdp_opa_port }: Config,
	monitoring: Monitored,
): Promise<Listening | null> {
	if (pdp_opa_port === null) return null;
	return listenAt(createApplication({ ...dataApi, ...monitoring }), host, pdp_opa_port, 'PDP_OPA_PORT');
}

/** Multi-process decision point: leader and worker. */

import cluster from 'node:cluster';
import { hostname } from 'node:os';
import { type Config, ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';
import { SliceScheduler } from '../limit/slice-scheduler.js';
import type { Logger } from '../log.js';
import { ClockComparison } from '../pdp/follow/clock-comparison.js';
import { currentHealth } from '../pdp/follow/current-health.js';
import { connectFeed, reportState } from '../pdp/follow/feed-client.js';
import { OfflineCopier } from '../pdp/follow/offline-copier.js';
import type { StartedPoint } from '../pdp/follow/readiness.js';
import type { Replica } from '../pdp/follow/replica.js';
import { StateReport } from '../pdp/follow/state-report.js';
import { readBundleVerifier } from '../pdp/follow/verification-keys.js';
import { programPath } from '../program-path.js';
import { DecisionRate } from '../telemetry/decision-rate.js';
import { version } from '../version.js';
import { LeaderClient } from '../workers/leader-client.js';
import type { WorkerStatus } from '../workers/messages.js';
import { workerCommand } from '../workers/worker-command.js';
import { WorkerPool, WorkerSettingError } from '../workers/worker-pool.js';
import {
	decisionReceivers,
	offlineCopy,
	type RunningDecisionPoint,
	requireDecisionPointPorts,
	startDecisionPoint,
} from './decision-point.js';
import { decisionLogFamilies } from './pdp-metrics.js';

/** Time in milliseconds between a worker's status reports while no new revision arrives. */
const statusInterval = 1_000;

/** Running decision point, in a single process or in several processes. */
export interface RunningPoint {
	readonly listening: { readonly url: string };
	/** Signals when the decision point serves checks. */
	readonly started: StartedPoint;
	stop(): Promise<void>;
}

/** Starts a decision point with `config.pdp_workers` processes on the same ports. Rejects like `startDecisionPoint`. */
export async function startDecisionWorkers(
	config: Config,
	log: Logger,
	controlPlane: string,
	apiKey: string,
): Promise<RunningPoint> {
	// Workers open the ports themselves. Check here, before they start, that the ports are free.
	await requireDecisionPointPorts(config);
	const verify = await readBundleVerifier(config.pdp_bundle_verification_key_paths);
	const feed = connectFeed(controlPlane, apiKey);
	const pool: WorkerPool = new WorkerPool({
		count: config.pdp_workers,
		program: { path: programPath, args: [workerCommand] },
		beginning: { controlPlane, apiKey },
		feed,
		receivers: decisionReceivers(config, controlPlane, apiKey),
		families: () => decisionLogFamilies(pool.counts, pool.counts.lost_by_workers),
		log,
	});
	const url = await pool.start().catch(async (error: unknown) => {
		await pool.stop();
		throw error instanceof WorkerSettingError ? new ConfigError(error.message) : error;
	});
	const copy = offlineCopy(config, log, apiKey);
	const replica = {
		get state() {
			return pool.state;
		},
		hasEnded: (lineage: string) => pool.hasEnded(lineage),
		changes: pool.changes,
		scheduler: new SliceScheduler(),
	};
	const copier = copy === null ? null : new OfflineCopier({ copy, feed, replica, log, verify });
	copier?.start();
	const pdp_instance_id = `${hostname()}:${new URL(url).port}`;
	const rate = new DecisionRate(() => pool.decided);
	const clocks = new ClockComparison(log);
	const report = new StateReport(
		{ changes: pool.changes, health: () => pool.health },
		(state, signal) => reportState(controlPlane, apiKey, { pdp_instance_id, state }, signal, clocks),
		() => ({
			version,
			mode: config.pdp_mode,
			workers: config.pdp_workers,
			checks_per_second: rate.report(),
			clock_ahead_seconds: clocks.secondsAhead === 0 ? undefined : clocks.secondsAhead,
			decision_log: pool.counts,
		}),
		log,
	);
	report.start();
	log.info(
		{ version, url, workers: config.pdp_workers, control_plane: controlPlane },
		'the decision point is listening',
	);
	return {
		listening: { url },
		started: pool,
		async stop() {
			report.stop();
			await copier?.stop();
			await pool.stop();
			log.info('the decision point has stopped');
		},
	};
}

/** Runs a worker until the leader process stops it or ends. Then this process ends, too. */
export async function runDecisionWorker(config: Config, log: Logger): Promise<void> {
	if (process.send === undefined) throw new ConfigError('only a decision point may start `decision-worker`');
	// A signal from a terminal reaches all processes. Workers ignore it, because the leader stops them.
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
	// Otherwise Node.js would end this process with code 0 when the leader process has ended.
	if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
	// Keeps this process alive until it listens.
	process.channel?.ref();
	const leader = new LeaderClient(process);
	const beginning = await Promise.race([leader.beginning, leader.stopped]);
	if (beginning === undefined) return exit(0);
	const { controlPlane, apiKey } = beginning;
	const begun = startDecisionPoint(config, log, controlPlane, apiKey, {
		leader,
		ended: beginning.ended,
		async beforeListening(replica) {
			await replica.caughtUp({ policyRevision: -1, ...beginning });
			await replica.caughtUp(await leader.count(workerStatus(replica, undecided)));
		},
	});
	const running = await Promise.race([begun, leader.stopped]).catch((error: unknown) => {
		leader.tell({ type: 'failed', message: errorMessage(error), setting: error instanceof ConfigError });
	});
	if (running === undefined) return exit(1);
	const { replica, listening } = running;
	const tell = () => {
		leader.tell({ type: 'status', status: workerStatus(replica, running) });
	};
	tell();
	leader.tell({ type: 'listening', url: listening.url });
	replica.changes.add(tell);
	const timer = setInterval(tell, statusInterval);
	await leader.stopped;
	clearInterval(timer);
	await running.stop();
	tell();
	exit(0);
}

/** Decision counts and log in a worker. */
type WorkerDecisions = Pick<RunningDecisionPoint, 'decided' | 'decisions'>;

const undecided: WorkerDecisions = { decided: { total: 0 }, decisions: null };

function workerStatus(replica: Replica, { decided, decisions }: WorkerDecisions): WorkerStatus {
	const receivers = Object.values(decisions?.counts.receivers ?? {});
	return {
		lineage: replica.lineage,
		ended: replica.ended,
		revision: replica.revision,
		policyRevision: replica.policyRevision,
		state: replica.state,
		health: currentHealth(replica),
		decided: decided.total,
		sampledOut: decisions?.counts.sampled_out ?? 0,
		lost: receivers.reduce((total, { lost }) => total + lost, 0),
	};
}

/** Ends the process after its last messages were sent. */
function exit(code: number): void {
	process.exitCode = code;
	if (process.connected) process.disconnect();
	setTimeout(() => process.exit(), 1_000).unref();
}

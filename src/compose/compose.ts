import { hostname } from 'node:os';
import { join } from 'node:path';
import { guard } from '../api/access/guard.js';
import { consolePages } from '../api/console/pages.js';
import { consoleRelay } from '../api/console/relay.js';
import { findRelayTarget, type OwnDecisionPoint } from '../api/console/relay-target.js';
import { documentation } from '../api/document.js';
import { elementOrigins } from '../api/elements/cross-origin.js';
import { elementPageAlias, elementPages } from '../api/elements/pages.js';
import type { ImpactSource } from '../api/impact-source.js';
import { renderFailure } from '../api/render-failure.js';
import { endpoints } from '../api/table.js';
import { v1Failure } from '../api/v1-failure.js';
import { type Clock, systemClock } from '../clock.js';
import { type Config, ConfigError } from '../config.js';
import { documentationPages } from '../http/documentation-pages.js';
import type { Surround } from '../http/mount.js';
import { rootRedirect } from '../http/root-redirect.js';
import { createApplication, type Listening, listen, maxBodyValues, type Served, tryPort } from '../http/server.js';
import { createLogger, type Logger } from '../log.js';
import { relay } from '../outbound/relay.js';
import { createSender } from '../outbound/send.js';
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
import { createAssembler } from '../publish/assemble.js';
import { BundlePacker } from '../publish/bundle-packer.js';
import { readBundleSigner } from '../publish/bundle-signer.js';
import { companionFiles } from '../publish/companion-files.js';
import { feedEndpoints } from '../publish/endpoints.js';
import { FeedServer } from '../publish/feed-server.js';
import { findOpa } from '../publish/find-opa.js';
import { PolicyTester } from '../publish/policy-tester.js';
import { Publisher } from '../publish/publisher.js';
import { SnapshotFolder } from '../publish/snapshot-folder.js';
import { Snapshots } from '../publish/snapshots.js';
import { createCipher } from '../store/account/secret.js';
import { isFull, isUnreachable, openDatabase } from '../store/database/database.js';
import type { FreeSpace } from '../store/database/embedded/space.js';
import { listen as listenToWriters } from '../store/database/listener.js';
import { UnsupportedDatabase } from '../store/migration/unsupported-database.js';
import { PolicyStore } from '../store/policy/policy-store.js';
import { Store } from '../store/store.js';
import { DecisionRate } from '../telemetry/decision-rate.js';
import { DecisionTally } from '../telemetry/decision-tally.js';
import { RequestTally } from '../telemetry/request-tally.js';
import { createTracing } from '../telemetry/tracing.js';
import { createFetcher, KeySets } from '../token/key-sets.js';
import { UserTokens } from '../token/user-token.js';
import { EnvironmentCopier } from '../transfer/environment-copy.js';
import { AuditLogKeeper } from '../upkeep/audit-log-keeper.js';
import { ExpirySweeper, type SweptStore } from '../upkeep/expiry-sweeper.js';
import { WebhookDispatcher } from '../upkeep/webhook/dispatcher.js';
import { createPoster } from '../upkeep/webhook/post.js';
import { version } from '../version.js';
import { maxListedTests } from '../wire/general/policy.js';
import type { LeaderClient } from '../workers/leader-client.js';
import { apiMonitoring, meterAssembler } from './api-metrics.js';
import { bootstrap, type FirstKey } from './bootstrap.js';
import { dataDirectoryError } from './data-directory.js';
import { databaseFailure } from './database-failure.js';
import { ImpactFinder } from './impact.js';
import { BundleMeter, decisionPointFamilies, metricsSource } from './pdp-metrics.js';
import { type Monitored, monitored } from './requests.js';
import { readServerKeys, type ServerKeys } from './server-key.js';

/** Composition root: the only place where modules are connected. */

export type { OwnDecisionPoint } from '../api/console/relay-target.js';
export { RefusedKeyError, type StartedPoint, untilAnswering } from '../pdp/follow/readiness.js';

/** Reports each step that may take seconds. */
type Say = (step: string) => void;

/** Store options in addition to the settings. */
export interface StoreOptions {
	/** Receives startup progress. */
	readonly say?: Say | undefined;
	/** Logs when disk space runs low, and when it is sufficient again. */
	readonly log?: Logger;
	/** Replaces the free space reader, for tests. */
	readonly freeSpace?: FreeSpace | undefined;
	/** Aborts opening between two steps. `openStore` then rejects with the signal's reason. */
	readonly interrupted?: AbortSignal | undefined;
}

/** Opens the configured store. Rejects with `ConfigError` if its database cannot be used. */
export async function openStore(config: Config, options: StoreOptions = {}): Promise<Store> {
	const { say, log = createLogger('silent'), freeSpace, interrupted } = options;
	const { current, previous } = requireServerKeys(config);
	const cipher = createCipher(current, previous);
	try {
		const space = { reserve: config.min_free_bytes, log, read: freeSpace };
		const place = { url: config.database_url, directory: config.data_directory, fsync: config.embedded_fsync };
		return new Store(
			await openDatabase({ ...place, space, ...(say && { say }), ...(interrupted && { interrupted }) }),
			systemClock,
			cipher,
			{ days: config.audit_log_days, bytes: config.audit_log_bytes },
		);
	} catch (error) {
		if (error instanceof UnsupportedDatabase) {
			const setting = config.database_url === null ? 'DATA_DIR' : 'DATABASE_URL';
			throw new ConfigError(`${setting}: ${error.message}`, { cause: error });
		}
		if (isFull(error) && config.database_url === null) {
			throw new ConfigError(`DATA_DIR: ${(error as Error).message} (MIN_FREE_DISK)`, { cause: error });
		}
		const reason = config.database_url === null ? null : refusalReason(error);
		if (reason === null) throw error;
		throw new ConfigError(
			`DATABASE_URL: cannot use the database at ${databaseAddress(config.database_url)}: ${reason}. Start it, or change DATABASE_URL`,
			{ cause: error },
		);
	}
}

/** Returns host and database from a connection URL, without credentials. */
function databaseAddress(url: string | null): string {
	if (url === null || !URL.canParse(url)) return 'this address';
	const { host, pathname } = new URL(url);
	return `${host}${pathname}`;
}

function requireServerKeys(config: Config): ServerKeys {
	try {
		return readServerKeys(config, config.data_directory);
	} catch (error) {
		throw dataDirectoryError(config.data_directory, error);
	}
}

/**
 * Error codes that an operator must resolve: PostgreSQL classes 28 (authorization) and 3D (no such database), 42501
 * (missing privileges), system errors, and TLS errors.
 */
const refusals = /^(28...|3D...|42501|E[A-Z]+|ERR_(TLS|SSL)_\w+|\w*CERT\w*)$/;

/** Returns the reason why a database server rejects the connection or cannot be reached; `null` for any other error. */
function refusalReason(error: unknown): string | null {
	if (!(error instanceof Error)) return null;
	const { code, message, name } = error as NodeJS.ErrnoException;
	// pg reports this message if a server accepts the connection but does not respond. knex reports this error if the
	// pool has no free connection.
	if (name === 'KnexTimeoutError' || message === 'timeout expired') return 'it does not respond';
	const refuses = isUnreachable(error) || refusals.test(code ?? '') || /does not support SSL/.test(message);
	// knex puts the statement, which may have many lines, before the message.
	return refuses ? message.replace(/^[\s\S]* - (?=[^\n]*$)/, '') || String(code) : null;
}

/** Running management API with its publisher. */
export interface RunningApi {
	readonly listening: Listening;
	readonly store: Store;
	/** First key in a new store; `null` once the key was shown. */
	readonly firstKey: FirstKey | null;
	/** Ids of the running impact processes. */
	readonly impactProcesses: () => readonly number[];
	/** Waits for running requests, then closes the store. */
	stop(): Promise<void>;
}

/** Management API options in addition to the settings. */
export interface ApiOptions extends Pick<StoreOptions, 'say' | 'freeSpace' | 'interrupted'> {
	/** Time in milliseconds that a revision waits for its policy. Afterwards it is sent with the previous policy. */
	readonly policyWait?: number;
	/** Time in milliseconds between two deletions of expired grants. */
	readonly sweepPause?: number;
	/**
	 * Returns the decision point in this process, or `null` while it is not known. The API reference links to it, and
	 * the console queries it.
	 */
	readonly decisionPoint?: () => OwnDecisionPoint | null;
	/** Creates the schema compiler; `createAssembler` by default. */
	readonly assembler?: typeof createAssembler;
	/** Maximum time in milliseconds for policy tests. */
	readonly policyTestTime?: number;
	/** Compiles a schema only on demand instead of on commit, for tests. */
	readonly publishesWhenAsked?: boolean;
	/** Replaces the impact processes, for tests that run without a compiler. */
	readonly impact?: (store: Store) => ImpactSource;
}

/**
 * Starts the management API and the publisher. Rejects if the port, opa or the store is not available. The port is
 * tried first, so a port in use leaves no files behind.
 */
export async function startApi(config: Config, log: Logger, options: ApiOptions = {}): Promise<RunningApi> {
	const { say, policyWait, sweepPause, freeSpace, interrupted, assembler: makeAssembler = createAssembler } = options;
	await requirePort(config.host, config.api_port, 'API_PORT');
	const opa = await findOpa(config.opa_path, config.search_path, { say });
	const packer = new BundlePacker(await readBundleSigner(config.bundle_signing));
	const store = await openStore(config, { say, log, freeSpace, interrupted });
	try {
		interrupted?.throwIfAborted();
		store.committed.on('lineage', ({ id, reason }) =>
			log.warn({ lineage: id, reason }, 'a new lineage of the database begins'),
		);
		const firstKey = await bootstrap(store, config.bootstrap);
		const policies = new PolicyStore(store.database.knex, companionFiles);
		const tracing = createTracing();
		const requests = new RequestTally('api');
		const metered = meterAssembler(makeAssembler(opa, policies, store.clock), tracing);
		const { assembler } = metered;
		const publisher = new Publisher(store, policies, assembler, log, policyWait);
		const snapshots = new Snapshots(
			store,
			policies,
			publisher,
			new SnapshotFolder(join(config.data_directory, 'bundles'), log),
			packer,
		);
		const feed = new FeedServer(store, policies, publisher, snapshots, packer, tracing?.publish);
		const copier = new EnvironmentCopier(store, log);
		const sweeper = new ExpirySweeper(sweptStore(store), log, sweepPause);
		const keeper = new AuditLogKeeper(() => store.keepAuditLogs(), log);
		await keeper.start();
		const fetcher = createFetcher(createSender(config.jwks_allow_private));
		const tokens = new UserTokens(new KeySets(store.clock, fetcher), store.clock);
		const post = createPoster(createSender(config.webhook_allow_private));
		const dispatcher = new WebhookDispatcher({ outbox: store.outbox, post, clock: store.clock, log });
		const limits = { memory: config.impact.memory, time: config.impact.seconds * 1_000 };
		const drafting = makeAssembler(opa, policies, store.clock);
		const impact = new ImpactFinder({ store, policies, publisher, feed, assembler: drafting, limits, log });
		const policyTests = new PolicyTester(opa, log, { listed: maxListedTests, milliseconds: options.policyTestTime });
		const monitoring = apiMonitoring({ config, store, publisher, feed, dispatcher, requests, metered });
		const ownDecisionPoint = () => options.decisionPoint?.() ?? null;
		const guarded = guard({
			store,
			policies,
			copies: copier,
			tokens,
			monitoring,
			decisionPoints: { target: findRelayTarget(config.console_pdp_url, ownDecisionPoint), relay },
			impact: options.impact?.(store) ?? impact,
			policyTests,
			wrote: tracing?.wrote,
		});
		const listening = await listenAt(
			createApplication(
				served(store, guarded, feed, monitored(log, requests, tracing), log, () => {
					return config.pdp_public_url ?? ownDecisionPoint()?.url ?? null;
				}),
			),
			config.host,
			config.api_port,
			'API_PORT',
		);
		const listener = listenToWriters(store, log);
		store.committed.on('outbox', () => dispatcher.wake());
		store.committed.on('full', () => keeper.wake());
		if (options.publishesWhenAsked !== true) publisher.start();
		sweeper.start();
		const rotation = store.secretRotation(log);
		rotation.start();
		await snapshots.start();
		dispatcher.start();
		log.info(
			{ version, url: listening.url, database: config.database_url === null ? 'embedded' : 'server' },
			'the API is listening',
		);
		return {
			listening,
			store,
			firstKey,
			impactProcesses: () => impact.pids,
			async stop() {
				feed.stop();
				const ended = [
					copier.stop(),
					sweeper.stop(),
					dispatcher.stop(),
					keeper.stop(),
					rotation.stop(),
					impact.stop(),
					policyTests.stop(),
				];
				await listening.close();
				await Promise.all(ended);
				await listener.stop();
				await publisher.stop();
				await assembler.stop();
				await store.close();
				log.info('the API has stopped');
			},
		};
	} catch (error) {
		await store.close();
		throw error;
	}
}

function sweptStore(store: Store): SweptStore {
	return {
		expired: () => store.environmentsWithExpired(),
		forgetOld: () => store.forgetOld(),
		write: (scope, work) => store.write(scope, null, work),
	};
}

function served(
	store: Store,
	surround: Surround,
	feed: FeedServer,
	monitoring: Monitored,
	log: Logger,
	decisionPoint: () => string | null,
): Served {
	const api = { surround };
	const bundles = feedEndpoints(feed, store);
	const feedTable = new Set(bundles.endpoints);
	const table = [...endpoints, ...bundles.endpoints];
	const origins = elementOrigins(store);
	const translated = async <T>(work: () => Promise<T>): Promise<T> => {
		try {
			return await work();
		} catch (error) {
			throw databaseFailure(error, { embedded: store.database.url === null, log }) ?? error;
		}
	};
	return {
		endpoints: [
			...table,
			...documentation(table, version, decisionPoint),
			...elementPages,
			...consoleRelay,
			...consolePages,
			documentationPages('public'),
			rootRedirect('/console', 'public'),
		],
		surround: (endpoint, request, run) =>
			translated(() => (feedTable.has(endpoint) ? bundles : api).surround(endpoint, request, run)),
		crossOrigin: { ...origins, allows: (request) => translated(() => origins.allows(request)) },
		unmatched: v1Failure,
		alias: elementPageAlias,
		renderFailure,
		...monitoring,
	};
}

/** Running decision point. */
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

/**
 * Maximum number of characters per upload to the API's decision log. Three characters of JSON contain at most two values, so no
 * upload exceeds the limit on values in a request body.
 */
const maxUpload = maxBodyValues * 1.5;

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
		return httpReceiver({ name: 'api', url, token: apiKey, maxLength: maxUpload });
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

/** Listens. Rejects like `requirePort`. */
async function listenAt(
	application: ReturnType<typeof createApplication>,
	host: string,
	port: number,
	setting: string,
): Promise<Listening> {
	try {
		return await listen(application, host, port);
	} catch (error) {
		throw portError(host, port, setting, error);
	}
}

/** Tries a port. Rejects with a `ConfigError` that contains the setting if the port is not available. */
async function requirePort(host: string, port: number, setting: string): Promise<void> {
	try {
		await tryPort(host, port);
	} catch (error) {
		throw portError(host, port, setting, error);
	}
}

function portError(host: string, port: number, setting: string, error: unknown): ConfigError {
	return new ConfigError(portProblem(host, port, setting, error as NodeJS.ErrnoException), { cause: error });
}

function portProblem(host: string, port: number, setting: string, { code, message }: NodeJS.ErrnoException): string {
	if (code === 'EADDRINUSE') {
		return `${setting}: port ${port} of ${host} is in use. Stop the program that uses it, or set ${setting} to a different port`;
	}
	if (code === 'EACCES') {
		return `${setting}: this user may not listen on port ${port}. Set ${setting} to a port above 1023`;
	}
	if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
		return `HOST: ${host} is not an address of this machine. Set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0`;
	}
	return `HOST, ${setting}: cannot listen on port ${port} of ${host}: ${message}`;
}

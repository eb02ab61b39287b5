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
import type { Config } from '../config.js';
import { documentationPages } from '../http/documentation-pages.js';
import type { Surround } from '../http/mount.js';
import { rootRedirect } from '../http/root-redirect.js';
import { createApplication, type Listening, type Served } from '../http/server.js';
import type { Logger } from '../log.js';
import { relay } from '../outbound/relay.js';
import { createSender } from '../outbound/send.js';
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
import { listen as listenToWriters } from '../store/database/listener.js';
import { PolicyStore } from '../store/policy/policy-store.js';
import type { Store } from '../store/store.js';
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
import { apiMonitoring, meterAssembler } from './api-metrics.js';
import { bootstrap, type FirstKey } from './bootstrap.js';
import { databaseFailure } from './database-failure.js';
import { ImpactFinder } from './impact.js';
import { listenAt, requirePort } from './ports.js';
import { type Monitored, monitored } from './requests.js';
import { openStore, type StoreOptions } from './store.js';

export type { OwnDecisionPoint };

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

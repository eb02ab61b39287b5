import { join } from 'node:path';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { type RunningDecisionPoint, startDecisionPoint } from '../../src/compose/decision-point.js';
import { type Config, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { type Client, client } from './client.js';
import { provideDatabase, type StoreKind } from './postgres.js';
import { root } from './root.js';
import { removeFolder, temporaryFolder } from './temporary.js';

/** An API and a decision point for an environment in this process, with real HTTP and a separate real database. */
export interface Stack {
	readonly config: Config;
	readonly api: RunningApi;
	readonly decisionPoint: RunningDecisionPoint;
	/** Secrets for the organization, project and environment keys. */
	readonly keys: { readonly organization: string; readonly project: string; readonly environment: string };
	/** Management API clients, each with one key, and a decision point client. */
	readonly organization: Client;
	readonly project: Client;
	readonly environment: Client;
	readonly pdp: Client;
	/** Waits until the decision point uses this revision or a later revision. */
	reached(revision: number | undefined): Promise<void>;
	stop(): Promise<void>;
}

/** Path prefix for the schema in the environment `dev`. */
export const schema = '/v2/schema/default/dev';
/** Path prefix for the facts in the environment `dev`. */
export const facts = '/v2/facts/default/dev';

/** Returns settings for free ports, a separate folder and fixed keys. */
export function settings(folder: string, name: string): Record<string, string> {
	return {
		API_PORT: '0',
		PDP_PORT: '0',
		DATA_DIR: folder,
		WEBHOOK_ALLOW_PRIVATE: 'true',
		PDP_DECISION_LOG: 'off',
		JWKS_ALLOW_PRIVATE: 'true',
		// The timeout is long, so responses arrive even while other tests keep the processors busy.
		IMPACT_TIMEOUT: '240',
		LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
		OPA_PATH: process.env['OPA_PATH'] ?? join(root, '.tools', 'opa'),
		BOOTSTRAP_ORG_API_KEY: secretFor(`${name}-organization`),
		BOOTSTRAP_PROJECT_API_KEY: secretFor(`${name}-project`),
		BOOTSTRAP_ENV_API_KEY: secretFor(`${name}-environment`),
	};
}

/** Returns a valid secret that contains `name`. */
export function secretFor(name: string): string {
	return `permit_key_${name}_`.padEnd(100, '0');
}

/** Sweep pause in milliseconds, longer than any test. Sweep tests start the sweep themselves. */
export const neverSwept = 3_600_000;

let shared: Promise<Stack> | undefined;
let sharers = 0;

/**
 * Returns a stack that all files in this process share, for tests that have their own environments. The last call of
 * `stop` removes the stack.
 */
export async function shareStack(): Promise<Stack> {
	shared ??= startStack();
	sharers += 1;
	const stack = await shared;
	const stop = async () => {
		sharers -= 1;
		if (sharers === 0) await stack.stop();
	};
	return { ...stack, stop };
}

/** Starts a stack with additional settings. Its `stop` function removes everything. */
export async function startStack(
	kind: StoreKind = 'server',
	more: Readonly<Record<string, string>> = {},
): Promise<Stack> {
	const folder = temporaryFolder();
	const database = await provideDatabase(kind, folder);
	const given = { ...settings(folder, 'test'), DATABASE_URL: database.url, PDP_OPA_PORT: '0' };
	const config = readConfig({ ...given, ...more });
	const log = createLogger(config.log_level);
	// Waits even for a policy that compiles slowly on a busy machine, because a write must affect decisions as soon as
	// its revision is reached.
	const api = await startApi(config, log, { policyWait: 120_000, sweepPause: neverSwept });
	const keys = {
		organization: config.bootstrap.organization ?? '',
		project: config.bootstrap.project ?? '',
		environment: config.bootstrap.environment ?? '',
	};
	const decisionPoint = await startDecisionPoint(config, log, api.listening.url, keys.environment);
	await decisionPoint.replica.reached(1);
	return {
		config,
		api,
		decisionPoint,
		keys,
		organization: client(api.listening.url, keys.organization),
		project: client(api.listening.url, keys.project),
		environment: client(api.listening.url, keys.environment),
		pdp: client(decisionPoint.listening.url, keys.environment),
		reached: (revision = 0) => decisionPoint.replica.reached(revision),
		async stop() {
			await decisionPoint.stop();
			await api.stop();
			await database.drop();
			removeFolder(folder);
		},
	};
}

import { join } from 'node:path';
import { type RunningApi, type RunningDecisionPoint, startApi, startDecisionPoint } from '../../src/compose/compose.js';
import { type Config, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { type Client, client } from './client.js';
import { provideDatabase, type StoreKind } from './postgres.js';
import { root } from './root.js';
import { removeFolder, temporaryFolder } from './temporary.js';

/** An API and a decision point of one environment in this process, over real HTTP and a real database of their own. */
export interface Stack {
	readonly config: Config;
	readonly api: RunningApi;
	readonly decisionPoint: RunningDecisionPoint;
	/** The secrets of the organization's, the project's and the environment's keys. */
	readonly keys: { readonly organization: string; readonly project: string; readonly environment: string };
	/** Clients of the management API with each of those keys, and of the decision point. */
	readonly organization: Client;
	readonly project: Client;
	readonly environment: Client;
	readonly pdp: Client;
	/** Waits until the decision point answers from this revision or a later one. */
	reached(revision: number | undefined): Promise<void>;
	stop(): Promise<void>;
}

/** Where schema and facts of the environment `dev` are. */
export const schema = '/v2/schema/default/dev';
/** See `schema`. */
export const facts = '/v2/facts/default/dev';

/** The settings of a process on free ports, in a folder of its own, with fixed keys. */
export function settings(folder: string, name: string): Record<string, string> {
	return {
		API_PORT: '0',
		PDP_PORT: '0',
		DATA_DIR: folder,
		WEBHOOK_ALLOW_PRIVATE: 'true',
		PDP_DECISION_LOG: 'off',
		JWKS_ALLOW_PRIVATE: 'true',
		// Other tests keep the processors busy: what is answered late here is answered.
		IMPACT_TIMEOUT: '240',
		LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
		OPA_PATH: process.env['OPA_PATH'] ?? join(root, '.tools', 'opa'),
		BOOTSTRAP_ORG_API_KEY: secretFor(`${name}-organization`),
		BOOTSTRAP_PROJECT_API_KEY: secretFor(`${name}-project`),
		BOOTSTRAP_ENV_API_KEY: secretFor(`${name}-environment`),
	};
}

/** A secret of the right form that says what it is for. */
export function secretFor(name: string): string {
	return `permit_key_${name}_`.padEnd(100, '0');
}

/** Longer than any test: those that look at the sweep start it, and others are left alone. In milliseconds. */
export const neverSwept = 3_600_000;

/** Starts a stack, with further settings; `stop` removes all of it. */
export async function startStack(
	kind: StoreKind = 'server',
	more: Readonly<Record<string, string>> = {},
): Promise<Stack> {
	const folder = temporaryFolder();
	const database = await provideDatabase(kind, folder);
	const given = { ...settings(folder, 'test'), DATABASE_URL: database.url, PDP_OPA_PORT: '0' };
	const config = readConfig({ ...given, ...more });
	const log = createLogger(config.log_level);
	// A policy that compiles slowly on a busy machine is waited for: what is written decides once its revision is reached.
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

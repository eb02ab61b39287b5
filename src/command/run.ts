import { createKeyByCommand, type KeyRequest, readDevSecret } from '../bootstrap.js';
import { openStore, startApi, startDecisionPoint } from '../compose.js';
import { runDecisionWorker, startDecisionWorkers } from '../compose-workers.js';
import { type Config, ConfigError } from '../config.js';
import { createLogger } from '../log.js';
import { fail, print, say } from './console.js';
import { lockDataDirectory, sendCommand } from './control.js';
import { addressLines, firstKey, firstSteps } from './welcome.js';

/** The commands that run a server, or work on its store. */

interface Stoppable {
	stop(): Promise<void>;
}

/** Starts API, publisher and decision point in this process. */
export async function start(config: Config): Promise<void> {
	if (config.pdp_control_plane !== null && config.pdp_api_key === null) {
		throw new ConfigError(
			'PDP_CONTROL_PLANE: with `start` the decision point follows the API of this process; unset it, or name the ' +
				'key to use there in PDP_API_KEY',
		);
	}
	await runUntilStopped(config, async (keep, interrupted) => {
		const log = createLogger(config.log_level);
		let reached: string | null = null;
		const api = keep(await startApi(config, log, { say, interrupted, decisionPoint: () => reached }));
		interrupted.throwIfAborted();
		const apiKey = config.pdp_api_key ?? (await readDevSecret(api.store));
		const controlPlane = config.pdp_control_plane ?? api.listening.url;
		const decisionPoint = keep(await starter(config)(config, log, controlPlane, apiKey));
		reached = decisionPoint.listening.url;
		const addresses = { api: api.listening.url, decision_point: decisionPoint.listening.url };
		print(addressLines(addresses));
		if (api.firstStart !== null) {
			const { secret } = api.firstStart;
			const servesDev = apiKey === secret && controlPlane === api.listening.url;
			print(servesDev ? firstSteps(addresses.api, addresses.decision_point, secret) : firstKey(secret));
		}
		return (request) => createKeyByCommand(api.store, request);
	});
}

/** Starts API and publisher. */
export async function serve(config: Config): Promise<void> {
	await runUntilStopped(config, async (keep, interrupted) => {
		const api = keep(await startApi(config, createLogger(config.log_level), { say, interrupted }));
		print(addressLines({ api: api.listening.url, decision_point: null }));
		if (api.firstStart !== null) print(firstKey(api.firstStart.secret));
		return (request) => createKeyByCommand(api.store, request);
	});
}

/** Starts a decision point alone. It keeps nothing on disk, so several can run on one machine. */
export async function pdp(config: Config): Promise<void> {
	if (config.pdp_api_key === null)
		throw new ConfigError('PDP_API_KEY: set it to the API key of the environment to serve');
	const controlPlane = config.pdp_control_plane ?? `http://127.0.0.1:${config.api_port}`;
	const log = createLogger(config.log_level);
	const starting = starter(config)(config, log, controlPlane, config.pdp_api_key);
	onSignal(async () => (await starting).stop());
	print(addressLines({ api: null, decision_point: (await starting).listening.url }));
}

/** Runs one process of a decision point that has several. */
export async function decisionWorker(config: Config): Promise<void> {
	await runDecisionWorker(config, createLogger(config.log_level));
}

/** Starts a decision point: in this process, or in workers. */
function starter({ pdp_workers }: Config) {
	return pdp_workers === 1 ? startDecisionPoint : startDecisionWorkers;
}

/**
 * Holds the data directory while `starting` and everything it gave to `keep` run. Stops them in reverse order on a
 * signal or a failure. A signal while `starting` runs aborts `interrupted`.
 */
async function runUntilStopped(
	config: Config,
	starting: (
		keep: <S extends Stoppable>(started: S) => S,
		interrupted: AbortSignal,
	) => Promise<(request: KeyRequest) => Promise<string>>,
): Promise<void> {
	const hold = await lockDataDirectory(config.data_directory);
	const kept: Stoppable[] = [];
	const stop = async () => {
		for (const started of kept.splice(0).reverse()) await started.stop();
		await hold.release();
	};
	const interruption = new AbortController();
	const begun = starting((started) => {
		kept.push(started);
		return started;
	}, interruption.signal);
	// A signal during the start ends it at its next step, and waits for that, so that nothing is left behind.
	const signals = onSignal(async () => {
		interruption.abort();
		await begun.catch(() => undefined);
		await stop();
	});
	try {
		const keys = await begun;
		hold.answer((request) => keys(request as KeyRequest));
	} catch (error) {
		if (signals.stopping) return;
		await stop();
		throw error;
	}
}

/**
 * Makes an API key through the process that holds the data directory, or in the store when none runs. Returns its secret.
 */
export async function newKey(config: Config, request: KeyRequest): Promise<string> {
	const made = await sendCommand(config.data_directory, request);
	if (typeof made === 'string') return made;
	const hold = await lockDataDirectory(config.data_directory);
	try {
		const store = await openStore(config);
		try {
			return await createKeyByCommand(store, request);
		} finally {
			await store.close();
		}
	} finally {
		await hold.release();
	}
}

/** How long a stop may take in total, in milliseconds: less than what service managers allow. */
const maxStopMilliseconds = 25_000;

function onSignal(stop: () => Promise<void>): { readonly stopping: boolean } {
	const signals = { stopping: false };
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.on(signal, () => {
			if (signals.stopping) return;
			signals.stopping = true;
			setTimeout(
				() => fail(new ConfigError('stopping took too long: what was running was cut off')),
				maxStopMilliseconds,
			);
			stop().then(
				() => process.exit(0),
				(error: unknown) => fail(error),
			);
		});
	}
	return signals;
}

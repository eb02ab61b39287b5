import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnDecisionPoint } from '../compose/api.js';
import { type RunningApi, startApi } from '../compose/api.js';
import {
	beginLineage,
	createConsoleTicket,
	createKeyByCommand,
	type KeyRequest,
	type LineageRequest,
	readDevSecret,
	type TicketRequest,
} from '../compose/bootstrap.js';
import { prepareDataDirectory } from '../compose/data-directory.js';
import { requireDecisionPointPorts, startDecisionPoint } from '../compose/decision-point.js';
import { openStore } from '../compose/store.js';
import { type RunningPoint, runDecisionWorker, startDecisionWorkers } from '../compose/workers.js';
import { type Config, ConfigError, requireDistinctPorts } from '../config.js';
import { createLogger } from '../log.js';
import { fail, print, printWhole, say } from './console.js';
import { lockDataDirectory, sendCommand } from './control.js';
import { untilRunning, type WaitOptions } from './until-running.js';
import { addressLines, consoleLink, firstKey, firstSteps } from './welcome.js';

/** Commands that run a server or work on its store. */

interface Stoppable {
	stop(): Promise<void>;
}

/** Tools for a command while it starts. */
interface Beginning {
	/** Registers a service to stop when the command ends. */
	readonly keep: <S extends Stoppable>(started: S) => S;
	/** Starts handling requests from other processes for API keys, console links and new lineages. */
	readonly answerCommands: (api: RunningApi) => void;
	/** Aborts when startup must stop. */
	readonly interrupted: AbortSignal;
}

/** Starts the API, the publisher and the decision point in this process. */
export async function start(config: Config, options: WaitOptions = {}): Promise<void> {
	if (config.pdp_control_plane !== null && config.pdp_api_key === null) {
		throw new ConfigError(
			'PDP_CONTROL_PLANE: the decision point of `start` follows the API in the same process. Unset the variable, or set ' +
				'PDP_API_KEY to a key for that control plane',
		);
	}
	const { api_port, pdp_port, pdp_opa_port } = config;
	requireDistinctPorts({ API_PORT: api_port, PDP_PORT: pdp_port, PDP_OPA_PORT: pdp_opa_port });
	await runUntilStopped(config, async ({ keep, answerCommands, interrupted }) => {
		const log = createLogger(config.log_level);
		// Check these ports before the API creates its database, so that a port in use leaves no files behind.
		await requireDecisionPointPorts(config);
		let reached: OwnDecisionPoint | null = null;
		const api = keep(await startApi(config, log, { say, interrupted, decisionPoint: () => reached }));
		answerCommands(api);
		interrupted.throwIfAborted();
		const apiKey = config.pdp_api_key ?? (await readDevSecret(api.store));
		const controlPlane = config.pdp_control_plane ?? api.listening.url;
		const decisionPoint = keep(await starter(config)(config, log, controlPlane, apiKey));
		const caller = controlPlane === api.listening.url ? await api.store.caller(apiKey) : null;
		const { url } = decisionPoint.listening;
		reached = { url, secret: apiKey, environment_id: caller?.environment_id ?? null };
		await untilRunning(decisionPoint, controlPlane, { ...options, interrupted });
		const addresses = { api: api.listening.url, decision_point: url };
		const servesDev = apiKey === api.firstKey?.secret && controlPlane === api.listening.url;
		await welcome(api, config, url, (secret) =>
			servesDev ? firstSteps(addresses.api, addresses.decision_point, secret) : firstKey(secret),
		);
	});
}

/** Starts the API and the publisher. */
export async function serve(config: Config): Promise<void> {
	await runUntilStopped(config, async ({ keep, answerCommands, interrupted }) => {
		const api = keep(await startApi(config, createLogger(config.log_level), { say, interrupted }));
		answerCommands(api);
		await welcome(api, config, null, firstKey);
	});
}

/**
 * Prints all URLs, on a terminal with a console ticket. Also prints the first key if it was not printed before.
 * `decisionPoint` is the URL of the decision point in this process; `null` if there is none.
 */
async function welcome(
	api: RunningApi,
	{ data_directory }: Config,
	decisionPoint: string | null,
	first: (secret: string) => string,
): Promise<void> {
	const { firstKey: key, listening } = api;
	// Print a ticket only on a terminal. Journals and container logs keep the output, and anyone who reads a ticket
	// there could use it. The server also starts if the store cannot be written; users then sign in with an API key.
	const ticket = process.stdout.isTTY ? await createConsoleTicket(api.store, anyTicket).catch(() => null) : null;
	const addresses = { api: listening.url, decision_point: decisionPoint, console: consoleLink(listening.url, ticket) };
	const lines = addressLines(addresses, data_directory);
	await printWhole(key === null ? lines : `${lines}${first(key.secret)}`);
	await key?.noteShown();
}

/** A ticket for the organization. */
const anyTicket: TicketRequest = { project: null, environment: null };

/** Starts only a decision point. It does not lock the data directory, so several can run on the same machine. */
export async function pdp(config: Config, options: WaitOptions = {}): Promise<void> {
	if (config.pdp_api_key === null) throw new ConfigError('PDP_API_KEY: set it to the API key of the environment');
	requireDistinctPorts({ PDP_PORT: config.pdp_port, PDP_OPA_PORT: config.pdp_opa_port });
	const controlPlane = config.pdp_control_plane ?? `http://127.0.0.1:${config.api_port}`;
	const starting = starter(config)(config, createLogger(config.log_level), controlPlane, config.pdp_api_key);
	const interruption = new AbortController();
	const signals = onSignal(async () => {
		interruption.abort();
		await (await starting).stop();
	});
	const decisionPoint = await starting;
	try {
		await untilRunning(decisionPoint, controlPlane, { ...options, interrupted: interruption.signal });
		const { url } = decisionPoint.listening;
		print(addressLines({ api: null, decision_point: url, console: null }, config.data_directory));
	} catch (error) {
		if (signals.stopping) return;
		await decisionPoint.stop();
		throw error;
	}
}

/** Runs one process of a multi-process decision point. */
export async function decisionWorker(config: Config): Promise<void> {
	await runDecisionWorker(config, createLogger(config.log_level));
}

/** Returns a function that starts a decision point, in this process or in workers. */
function starter({
	pdp_workers,
}: Config): (...given: Parameters<typeof startDecisionWorkers>) => Promise<RunningPoint> {
	return pdp_workers === 1 ? startDecisionPoint : startDecisionWorkers;
}

/**
 * Holds the data directory while `starting` and the services that it passed to `keep` run. On a signal or a failure,
 * stops the services in reverse order.
 */
async function runUntilStopped(config: Config, starting: (beginning: Beginning) => Promise<void>): Promise<void> {
	const hold = await lockDataDirectory(config.data_directory);
	const kept: Stoppable[] = [];
	const stop = async () => {
		for (const started of kept.splice(0).reverse()) await started.stop();
		await hold.release();
	};
	const interruption = new AbortController();
	const begun = starting({
		keep: (started) => {
			kept.push(started);
			return started;
		},
		answerCommands: ({ store, listening }) =>
			hold.answer(async (content) => {
				const request = content as KeyRequest | ConsoleCommand | LineageRequest;
				if (!('command' in request)) return createKeyByCommand(store, request);
				if (request.command === 'lineage') return beginLineage(store, request);
				return consoleLink(listening.url, await createConsoleTicket(store, request));
			}),
		interrupted: interruption.signal,
	});
	// A signal during startup ends the startup at its next step. The stop waits for this end, so no service keeps
	// running.
	const signals = onSignal(async () => {
		interruption.abort();
		await begun.catch(() => undefined);
		await stop();
	});
	try {
		await begun;
	} catch (error) {
		if (signals.stopping) return;
		await stop();
		throw error;
	}
}

/** Request for a console link with a ticket, sent to the process that holds a data directory. */
interface ConsoleCommand extends TicketRequest {
	readonly command: 'console';
}

/**
 * Returns a console link with a ticket from the process that holds the data directory. Throws `ConfigError` if no
 * process holds the directory.
 */
export async function newConsoleLink({ data_directory }: Config, request: TicketRequest): Promise<string> {
	const command: ConsoleCommand = { command: 'console', ...request };
	const link = existsSync(data_directory) ? await sendCommand(data_directory, command) : null;
	if (typeof link === 'string') return link;
	throw new ConfigError(
		`DATA_DIR: no server is running with ${data_directory}. Start it with \`regolith start\`, or set DATA_DIR to the folder of your server`,
	);
}

/**
 * Begins a new database lineage and returns its id. Runs in the process that holds the data directory, if there is one.
 */
export function newLineage(config: Config, reason: string): Promise<string> {
	return inStore(config, { command: 'lineage', reason }, beginLineage);
}

/** Creates an API key and returns its secret. */
export function newKey(config: Config, request: KeyRequest): Promise<string> {
	return inStore(config, request, createKeyByCommand);
}

/**
 * Runs a command in the process that holds the data directory. If no process holds it, runs the command directly in the
 * store.
 */
async function inStore<T>(
	config: Config,
	request: T,
	run: (store: RunningApi['store'], request: T) => Promise<string>,
): Promise<string> {
	const { data_directory } = config;
	if (config.database_url === null && !existsSync(data_directory)) throw nothingThere(data_directory);
	prepareDataDirectory(data_directory);
	const made = await sendCommand(data_directory, request);
	if (typeof made === 'string') return made;
	if (config.database_url === null && !existsSync(join(data_directory, 'postgres'))) throw nothingThere(data_directory);
	const hold = await lockDataDirectory(data_directory);
	try {
		const store = await openStore(config, { say });
		try {
			return await run(store, request);
		} finally {
			await store.close();
		}
	} finally {
		await hold.release();
	}
}

/** Error for a folder that no server has used. Opening it would create a new, empty database. */
function nothingThere(folder: string): ConfigError {
	return new ConfigError(
		`DATA_DIR: ${folder} contains no data. Start a server with it, or set DATA_DIR to the folder of your server`,
	);
}

/** Maximum duration of a stop in milliseconds. It is below the limits of service managers. */
const maxStopMilliseconds = 25_000;

/** Delay in milliseconds before a stop prints a progress message. */
const quietStopMilliseconds = 1_000;

function onSignal(stop: () => Promise<void>): { readonly stopping: boolean } {
	const signals = { stopping: false };
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.on(signal, () => {
			if (signals.stopping) return;
			signals.stopping = true;
			setTimeout(() => say('waiting for running requests before stopping'), quietStopMilliseconds).unref();
			setTimeout(
				() => fail(new ConfigError('Stopping took too long. The remaining requests were aborted.')),
				maxStopMilliseconds,
			);
			stop()
				// Ignore failures, because the reader may be gone.
				.then(() => printWhole('Regolith has stopped. Goodbye.\n').catch(() => undefined))
				.then(
					() => process.exit(0),
					(error: unknown) => fail(error),
				);
		});
	}
	return signals;
}

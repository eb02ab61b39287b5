#!/usr/bin/env node
import { Command, Option } from 'commander';
import { createKey, type KeyRequest, secretOfDev } from './bootstrap.js';
import { openStore, startApi, startDecisionPoint } from './compose.js';
import { type Config, ConfigError, readConfig } from './config.js';
import { command, holdDataDirectory } from './control.js';
import { Failure } from './failure.js';
import { inspect } from './inspect.js';
import { createLogger } from './log.js';
import { checkMigration } from './migrate/migrate-check.js';
import { differenceOf, type PolicyRequest, writePolicyOf } from './policy-commands.js';
import { writeBelow } from './policy-folder.js';
import type { PolicyPlace } from './policy-source.js';
import { version } from './version.js';
import { addressLines, firstKey, firstSteps } from './welcome.js';

/** The command line: one process does one command. */

interface Stoppable {
	stop(): Promise<void>;
}

/** Starts API, publisher and decision point in this process. */
async function start(config: Config): Promise<void> {
	if (config.pdp_control_plane !== null && config.pdp_api_key === null) {
		throw new ConfigError(
			'PDP_CONTROL_PLANE: with `start` the decision point follows the API of this process; unset it, or name the key to use there in PDP_API_KEY',
		);
	}
	await running(config, async (keep) => {
		const log = createLogger(config.log_level);
		const api = keep(await startApi(config, log, { say }));
		const apiKey = config.pdp_api_key ?? (await secretOfDev(api.store));
		const controlPlane = config.pdp_control_plane ?? api.listening.url;
		const decisionPoint = keep(await startDecisionPoint(config, log, controlPlane, apiKey));
		const addresses = { api: api.listening.url, decision_point: decisionPoint.listening.url };
		print(addressLines(addresses));
		if (api.firstStart !== null) {
			const { secret } = api.firstStart;
			const servesDev = apiKey === secret && controlPlane === api.listening.url;
			print(servesDev ? firstSteps(addresses.api, addresses.decision_point, secret) : firstKey(secret));
		}
		return (request) => createKey(api.store, request);
	});
}

/** Starts API and publisher. */
async function serve(config: Config): Promise<void> {
	await running(config, async (keep) => {
		const api = keep(await startApi(config, createLogger(config.log_level), { say }));
		print(addressLines({ api: api.listening.url, decision_point: null }));
		if (api.firstStart !== null) print(firstKey(api.firstStart.secret));
		return (request) => createKey(api.store, request);
	});
}

/** Starts a decision point alone. It keeps nothing on disk, so several may run beside each other. */
async function pdp(config: Config): Promise<void> {
	if (config.pdp_api_key === null)
		throw new ConfigError('PDP_API_KEY: set it to the API key of the environment to serve');
	const controlPlane = config.pdp_control_plane ?? `http://127.0.0.1:${config.api_port}`;
	const log = createLogger(config.log_level);
	const starting = startDecisionPoint(config, log, controlPlane, config.pdp_api_key);
	onSignal(async () => (await starting).stop());
	print(addressLines({ api: null, decision_point: (await starting).listening.url }));
}

/** Holds the data directory while `starting` and what it kept run; stops them, last first, on a signal or a failure. */
async function running(
	config: Config,
	starting: (keep: <S extends Stoppable>(started: S) => S) => Promise<(request: KeyRequest) => Promise<string>>,
): Promise<void> {
	const hold = await holdDataDirectory(config.data_directory);
	const kept: Stoppable[] = [];
	const stop = async () => {
		for (const started of kept.splice(0).reverse()) await started.stop();
		await hold.release();
	};
	const begun = starting((started) => {
		kept.push(started);
		return started;
	});
	// A signal during the start waits for what is half done, so that nothing is left behind by it.
	const signals = onSignal(async () => {
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

/** Makes an API key through the process that holds the data directory, or in the store when none runs. */
async function newKey(config: Config, request: KeyRequest): Promise<void> {
	const made = await command(config.data_directory, request);
	if (typeof made === 'string') return print(`${made}\n`);
	const hold = await holdDataDirectory(config.data_directory);
	try {
		const store = await openStore(config);
		try {
			print(`${await createKey(store, request)}\n`);
		} finally {
			await store.close();
		}
	} finally {
		await hold.release();
	}
}

/** How long a stop may take altogether, in milliseconds, whatever hangs: below what service managers wait for. */
const longestStop = 25_000;

function onSignal(stop: () => Promise<void>): { readonly stopping: boolean } {
	const signals = { stopping: false };
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.on(signal, () => {
			if (signals.stopping) return;
			signals.stopping = true;
			setTimeout(() => fail(new ConfigError('stopping took too long: what was running was cut off')), longestStop);
			stop().then(
				() => process.exit(0),
				(error: unknown) => fail(error),
			);
		});
	}
	return signals;
}

/** One line about a step of the start that may take seconds; standard output is for what people read afterwards. */
function say(step: string): void {
	process.stderr.write(`regolith: ${step}\n`);
}

function print(text: string): void {
	process.stdout.write(text);
}

/** A mistake of the operator is one sentence; anything else is a bug and shows where it happened. */
function fail(error: unknown, code = 1): never {
	const told = error instanceof ConfigError || error instanceof Failure || isSystemError(error);
	process.stderr.write(`${told ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
	process.exit(code);
}

function isSystemError(error: unknown): error is Error {
	return (
		error instanceof Error &&
		['EADDRINUSE', 'EACCES', 'ECONNREFUSED', 'ENOTFOUND'].includes(String((error as NodeJS.ErrnoException).code))
	);
}

/** What a command does: `run` with the settings; a failure is told, and ends the process with `code`. */
function withConfig<A extends readonly unknown[]>(run: (config: Config, ...given: A) => Promise<void>, code = 1) {
	return async (...given: A): Promise<void> => {
		try {
			await run(readConfig(process.env), ...given);
		} catch (error) {
			fail(error, code);
		}
	};
}

interface KeyOptions {
	readonly project?: string;
	readonly environment?: string;
	readonly access: KeyRequest['access_level'];
	readonly name?: string;
}

interface MigrateCheckOptions {
	readonly api?: string;
	readonly mine: readonly string[];
	readonly code: readonly string[];
	readonly pdp: readonly string[];
}

interface PolicyOptions extends PolicyRequest {
	readonly project: string;
	readonly api?: string;
}

interface DiffOptions {
	readonly project: string;
	readonly environment: string;
	readonly api?: string;
}

interface InspectOptions {
	readonly project: string;
	readonly environment: string;
	readonly output?: string;
	readonly api?: string;
}

const program = new Command('regolith')
	.description('Authorization on your own machine: a management API, a compiler to Rego, a decision point.')
	.version(version)
	.addHelpText('after', '\nSettings come from the environment; .env.example documents each.');

program.command('start').description('run the API and a decision point in one process').action(withConfig(start));
program.command('serve').description('run the API and the publisher').action(withConfig(serve));
program
	.command('pdp')
	.description('run a decision point alone, against PDP_CONTROL_PLANE with PDP_API_KEY')
	.action(withConfig(pdp));
program
	.command('keys')
	.description('API keys')
	.command('create')
	.description('make an API key and print its secret; also while the server runs')
	.option('-p, --project <key>', 'the project it opens (default: the whole organization)')
	.option('-e, --environment <key>', 'the environment of that project it opens')
	.addOption(new Option('-a, --access <level>', 'what it may do').choices(['admin', 'write', 'read']).default('admin'))
	.option('-n, --name <name>', 'a name to know it by')
	.action(
		withConfig(async (config, options: KeyOptions) => {
			if (options.environment && !options.project) throw new ConfigError('--environment needs --project');
			await newKey(config, {
				project: options.project ?? null,
				environment: options.environment ?? null,
				access_level: options.access,
				name: options.name ?? null,
			});
		}),
	);
program
	.command('inspect')
	.description('show the Rego of an environment, with the API key in PDP_API_KEY')
	.option('-p, --project <key>', 'the project', 'default')
	.option('-e, --environment <key>', 'the environment', 'dev')
	.option('-o, --output <folder>', 'write the files there, for opa to read')
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, options: InspectOptions) => {
			const shown = await inspect(apiOf(config, options), config.pdp_api_key, options.project, options.environment);
			print(shown.summary);
			for (const { path, text } of shown.files) {
				if (options.output === undefined) print(`\n# file: ${path}\n${text}`);
				else writeBelow(options.output, { path, text });
			}
		}),
	);

program
	.command('policy')
	.argument('<environment>', 'the environment')
	.description('write the policy of an environment, its tables and its tests, for `opa test`')
	.requiredOption('-o, --out <folder>', 'where to; the folder `regolith` in it is replaced')
	.option('-p, --project <key>', 'the project', 'default')
	.option('-r, --revision <number>', 'as it was at this revision (default: the newest)')
	.option('--facts', 'write the facts of now, too: users, tenants, what they hold')
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, environment: string, options: PolicyOptions) => {
			print(await writePolicyOf(placeOf(config, { ...options, environment }), options));
		}),
	);

program
	.command('diff')
	.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
	.argument('<from>', 'a revision')
	.argument('[to]', 'a later one (default: the newest)')
	.description(
		'show what changed in the policy and its tables; exit code 0 when nothing did, 1 when something, 2 when it failed',
	)
	.option('-p, --project <key>', 'the project', 'default')
	.option('-e, --environment <key>', 'the environment', 'dev')
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, from: string, to: string | undefined, options: DiffOptions) => {
			const difference = await differenceOf(placeOf(config, options), from, to);
			print(difference);
			process.exitCode = difference === '' ? 0 : 1;
		}, 2),
	);

program
	.command('migrate')
	.description('moving from version 1 of the API')
	.command('check')
	.description('tell what is left to do, with the API key in PDP_API_KEY; exit code 0 when nothing is')
	.option('--mine <names>', 'what your team created: project or project/environment, with commas between', listed, [])
	.option('--pdp <address>', 'a decision point in use: project/environment=URL, or a URL; may be repeated', added, [])
	.option('--code <folder>', 'a folder of code to search for calls of version 1; may be repeated', added, [])
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, options: MigrateCheckOptions) => {
			const { mine, code, pdp } = options;
			const api = apiOf(config, options);
			const { report, left } = await checkMigration({ api, api_key: config.pdp_api_key, mine, code, pdp });
			print(report);
			process.exitCode = left.length === 0 ? 0 : 1;
		}),
	);

/** The environment that a command asks about, with the API key in PDP_API_KEY. */
function placeOf(config: Config, { project, environment, api }: DiffOptions): PolicyPlace {
	const key = config.pdp_api_key;
	if (key === null) throw new ConfigError('PDP_API_KEY: set it to an API key that opens the environment');
	return { api: apiOf(config, { ...(api !== undefined && { api }) }), key, project, environment };
}

/** The API that a command asks. */
function apiOf(config: Config, { api }: { readonly api?: string }): string {
	return (api ?? config.pdp_control_plane ?? `http://127.0.0.1:${config.api_port}`).replace(/\/+$/, '');
}

function added(value: string, before: readonly string[]): readonly string[] {
	return [...before, value];
}

function listed(value: string, before: readonly string[]): readonly string[] {
	return [
		...before,
		...value
			.split(',')
			.map((name) => name.trim())
			.filter((name) => name !== ''),
	];
}

await program.parseAsync();

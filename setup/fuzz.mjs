import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, findOnPath } from './execute.mjs';
import { SetupError, step } from './progress.mjs';

/** The fuzzer's version is pinned: a newer version may find more problems, so runs could not be compared. */
const schemathesis = 'schemathesis==4.32.5';

const checks = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

/**
 * Number of examples for each operation, enough to find a regression within minutes. For more examples, run
 * `npm run fuzz -- --max-examples 500`.
 */
const examples = '25';

/**
 * Sets the environment for most requests, which would otherwise return 404, and a revision that needs no waiting.
 */
const configuration =
	'[parameters]\n"path.proj_id" = "default"\n"path.env_id" = "dev"\n"header.X-Min-Revision" = "1"\n';

/** These operations delete data that other requests need, so they run last. */
const ending = ['deleteProject', 'deleteEnvironment'];

/**
 * Sends requests, generated from the OpenAPI documents, to every endpoint on a throw-away API and decision point, and
 * checks the responses against the documents.
 * @param {string} root the package's folder
 * @param {readonly string[]} parameters further arguments for `schemathesis run`, such as `--max-examples 100`
 * @returns {Promise<number>} the exit code: 0 if all responses match
 */
export async function runFuzzing(root, parameters) {
	const folder = mkdtempSync(join(tmpdir(), 'regolith-fuzz-'));
	const interrupted = new AbortController();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => interrupted.abort());
	try {
		const program = await step('schemathesis', (say) => provideSchemathesis(folder, say));
		// schemathesis reads this file from its working folder.
		writeFileSync(join(folder, 'schemathesis.toml'), configuration);
		const running = await step('regolith', (say) => startRegolith(root, folder, say));
		try {
			const ask = (url, key, more) => {
				// The documents describe JSON; pages at the same addresses are for browsers.
				const headers = ['--header', `Authorization: Bearer ${key}`, '--header', 'Accept: application/json'];
				const fixed = ['run', `${url}/openapi.json`, ...headers, '--checks', checks, '--continue-on-failure'];
				const amount = ['--phases', 'examples,coverage,fuzzing', '--max-examples', examples];
				const asked = [...fixed, ...amount, '--generation-database', 'none', ...more, ...parameters];
				return run(program, asked, folder, interrupted.signal);
			};
			const named = (option) => ending.flatMap((name) => [`--${option}-operation-id`, name]);
			const codes = [
				await ask(running.decisionPoint, running.environmentKey, []),
				await ask(running.api, running.organizationKey, named('exclude')),
				await ask(running.api, running.organizationKey, named('include')),
			];
			return Math.max(...codes);
		} finally {
			await running.stop();
		}
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

async function provideSchemathesis(folder, say) {
	const python = findOnPath('python3');
	if (!python) throw new SetupError('Fuzzing needs Python 3.10 or newer, as `python3` on PATH.');
	say(`installing ${schemathesis} into a throw-away environment`);
	const environment = join(folder, 'python');
	for (const [program, parameters] of [
		[python, ['-m', 'venv', environment]],
		[join(environment, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', schemathesis]],
	]) {
		const { code, output } = await execute(program, parameters);
		if (code !== 0) throw new SetupError(`${schemathesis} could not be installed:\n${output.trim()}`);
	}
	say(schemathesis);
	return join(environment, 'bin', 'schemathesis');
}

/** Starts the program with a separate database and known keys. */
async function startRegolith(root, folder, say) {
	const [apiPort, pdpPort] = [await freePort(), await freePort()];
	const kongRoutes = join(folder, 'kong-routes.json');
	writeFileSync(kongRoutes, JSON.stringify([['/documents', 'document']]));
	const fuzzKey = (level) => `permit_key_fuzz_${level}_`.padEnd(100, '0');
	const child = spawn(process.execPath, ['--enable-source-maps', join(root, 'dist/program/main.js'), 'start'], {
		cwd: root,
		env: {
			...process.env,
			API_PORT: String(apiPort),
			PDP_PORT: String(pdpPort),
			HOST: '127.0.0.1',
			DATA_DIR: join(folder, 'data'),
			DATABASE_URL: '',
			PDP_API_KEY: '',
			// If the integration is off, its endpoint returns 503.
			PDP_KONG_INTEGRATION: 'true',
			PDP_KONG_ROUTES_PATH: kongRoutes,
			LOG_LEVEL: 'error',
			BOOTSTRAP_ORG_API_KEY: fuzzKey('organization'),
			BOOTSTRAP_ENV_API_KEY: fuzzKey('environment'),
		},
		stdio: ['ignore', 'ignore', 'inherit'],
	});
	const ended = once(child, 'close');
	const api = `http://127.0.0.1:${apiPort}`;
	const decisionPoint = `http://127.0.0.1:${pdpPort}`;
	await untilReady(`${decisionPoint}/ready`, child);
	say(`${api} and ${decisionPoint}`);
	return {
		api,
		decisionPoint,
		organizationKey: fuzzKey('organization'),
		environmentKey: fuzzKey('environment'),
		async stop() {
			child.kill('SIGTERM');
			await ended;
		},
	};
}

async function untilReady(url, child) {
	while (child.exitCode === null) {
		const ready = await fetch(url).then(
			(response) => response.ok,
			() => false,
		);
		if (ready) return;
		await sleep(200);
	}
	throw new SetupError('The program ended before it was ready.');
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	server.close();
	await once(server, 'close');
	return port;
}

async function run(program, parameters, folder, signal) {
	const child = spawn(program, parameters, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], signal });
	child.on('error', () => {});
	const [code] = await once(child, 'close');
	return code ?? 1;
}

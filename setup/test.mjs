import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findChromium, findHeadlessShell } from './chromium.mjs';
import { checkConsoleTypes } from './console-types.mjs';
import { execute } from './execute.mjs';
import { provideMariadb } from './mariadb.mjs';
import { startPostgres } from './postgres.mjs';
import { pageTests, planProcesses } from './processes.mjs';
import { SetupError, step } from './progress.mjs';
import { providePrometheus } from './prometheus.mjs';
import { sumRooms } from './rooms.mjs';
import { createTally } from './tally.mjs';
import { prepareTemplates } from './templates.mjs';
import { provideTestTools } from './test-tools.mjs';

/**
 * Checks style and runs a tier of tests, or runs only the files in AVA's arguments, against a separate PostgreSQL.
 * Prints the time used by each room.
 * @param {string} root the package's folder
 * @param {'push' | 'rest' | 'all'} tier
 * @param {readonly string[]} parameters arguments for AVA; a source file (`test/x.test.ts`) means its compiled file
 * @param {string} [node] the Node.js for the tests and the programs under test
 * @returns {Promise<{passed: number, failed: number, isInterrupted: boolean}>}
 */
export async function runTests(root, tier, parameters, node = process.execPath) {
	const named = parameters.map(compiled);
	const isAll = !named.some((parameter) => parameter.endsWith('.js'));
	// The rest tier runs after the push tier, which has already checked the style. For named files, use `npm run lint`.
	const isChecked = isAll && tier !== 'rest';
	const styleFailures = isChecked ? (await checkStyle(root)) + (await checkPageTypes(root)) : 0;
	const chromium = isAll || named.some((file) => pages.test(file)) ? await step('chromium', findChromium) : undefined;
	const headless = chromium === undefined ? undefined : await step('headless', findHeadlessShell);
	// A file named by the user must run: without Chromium it fails with a message.
	const skipped = isAll && chromium === undefined ? pageTests(root) : [];
	const chosen = isAll ? [...named, ...planProcesses(root, tier, skipped)] : named;
	const isOnAllStores = process.env.TEST_STORES === 'all';
	const prometheus = isOnAllStores ? await step('prometheus', providePrometheus) : undefined;
	const mariadb = isOnAllStores ? await step('mariadb', provideMariadb) : undefined;
	const tools = {};
	for (const [name, { files, variable }] of Object.entries(toolUsers)) {
		if (!isAll && !named.some((file) => files.test(file))) continue;
		tools[variable] = await step(name, (say) => provideTestTools(root, name, say));
	}
	const server = await step('postgres', (say) => providePostgres(root, say));
	const interrupted = stopWhenTold();
	const notes = mkdtempSync(join(tmpdir(), 'regolith-times-'));
	try {
		const templates = await step('databases', () => prepareTemplates(root, server.url));
		try {
			const times = join(notes, 'times');
			const addresses = { TEST_POSTGRES_URL: server.url, ...templates.variables };
			const browser =
				chromium === undefined ? {} : { CHROMIUM_PATH: chromium, HEADLESS_SHELL_PATH: headless ?? chromium };
			const collector = prometheus === undefined ? {} : { PROMETHEUS_PATH: prometheus };
			const variables = {
				...(isAll ? settingsOf(tier) : {}),
				...addresses,
				...browser,
				...collector,
				...(mariadb === undefined ? {} : { MARIADB_PATH: mariadb }),
				...tools,
				TEST_TIMES: times,
				...lessCollecting,
			};
			const { passed, failed } = await runAva(root, node, chosen, variables, interrupted);
			console.log(`\nTime used by the processes of each room, some of which ran concurrently:\n${sumRooms(times)}`);
			if (skipped.length > 0)
				console.log(`\nSkipped without Chromium (\`npm run setup:browser\` installs it): ${skipped.join(', ')}`);
			return { passed, failed: failed + styleFailures, isInterrupted: interrupted.aborted };
		} finally {
			await templates.remove();
		}
	} finally {
		rmSync(notes, { recursive: true, force: true });
		await server.stop();
	}
}

/**
 * Returns the PostgreSQL to test against: `TEST_POSTGRES_URL`, or else a throw-away server.
 * @param {string} root
 * @param {(detail: string) => void} say
 * @param {{durable?: boolean}} options as for `startPostgres`
 */
export async function providePostgres(root, say, options = {}) {
	const url = process.env.TEST_POSTGRES_URL;
	if (url) {
		say('TEST_POSTGRES_URL');
		return { url, stop: async () => {} };
	}
	const server = await startPostgres(root, options);
	say(`${server.version} started`);
	return server;
}

/**
 * Returns the settings for `test/support/tier.ts`: in the first tier, a third of the random draws with a daily seed; in
 * the second tier, two thirds with a different seed.
 */
function settingsOf(tier) {
	if (tier === 'all') return {};
	const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
	const [share, seed] = tier === 'push' ? [1 / 3, day] : [2 / 3, `${day}1`];
	return { TEST_TIER: tier, TEST_DRAWS: String(share), TEST_SEED: process.env.TEST_SEED ?? seed };
}

/** Files and file patterns whose tests drive pages in Chromium. */
const pages = /\b(?:console|engine)\/|\*\*/;

/** Files and file patterns whose tests need further packages, and the variable that contains the packages' folder. */
const toolUsers = {
	client: { files: /\bclient\/|\*\*/, variable: 'CLIENT_TOOLS' },
	filter: { files: /\bfilter\/|\*\*/, variable: 'FILTER_TOOLS' },
};

/**
 * Go programs in tests, mostly opa, are short-lived. By default, they spend a third of their time on garbage
 * collection.
 */
const lessCollecting = { GOGC: '400', GOMEMLIMIT: '1GiB' };

async function checkStyle(root) {
	const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
	const colours = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`;
	try {
		await step('style', async (say) => {
			const { code, output } = await execute(
				process.execPath,
				[biome, 'ci', colours, '--error-on-warnings', '--max-diagnostics=50'],
				{ cwd: root },
			);
			if (code !== 0) throw new SetupError(`${output.trim()}\n\`npm run format\` repairs most of these problems.`);
			say('no complaints');
		});
		return 0;
	} catch (error) {
		console.log(error.message);
		return 1;
	}
}

async function checkPageTypes(root) {
	try {
		await step('page types', (say) => checkConsoleTypes(root, say));
		return 0;
	} catch (error) {
		console.log(error.message);
		return 1;
	}
}

async function runAva(root, node, parameters, variables, interrupted) {
	const ava = join(root, 'node_modules/ava/entrypoints/cli.mjs');
	const colours = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
	// Scripts that tests run also use this Node.js.
	const PATH = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
	const child = spawn(node, [ava, ...parameters], {
		cwd: root,
		env: { ...process.env, ...colours, ...variables, PATH },
		stdio: ['ignore', 'pipe', 'inherit'],
		// AVA gets a separate process group, because its workers would continue to run if only AVA were stopped.
		detached: true,
	});
	const stop = () => child.exitCode === null && process.kill(-child.pid, 'SIGTERM');
	interrupted.addEventListener('abort', stop);
	if (interrupted.aborted) stop();
	const tally = createTally();
	child.stdout.setEncoding('utf8').on('data', (chunk) => {
		process.stdout.write(chunk);
		tally.read(chunk);
	});
	const [code, signal] = await once(child, 'close');
	// INVARIANT: every failure that AVA reports counts as a failure here, even without a failed test.
	const { passed, failed } = tally.count();
	if (code === 0 || failed > 0) return { passed, failed };
	console.log(`The test runner ended with ${signal ?? `code ${code}`} and no failed test.`);
	return { passed, failed: 1 };
}

/** Stops the tests on a signal. The regular exit path then removes the server. */
function stopWhenTold() {
	const controller = new AbortController();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => controller.abort());
	return controller.signal;
}

/**
 * Maps a source path from the command line to its compiled file; all other arguments are for AVA and stay unchanged.
 * @param {string} parameter
 */
export function compiled(parameter) {
	return parameter.replace(/^(?:\.\/)?(test\/.*)\.ts$/, 'dist/$1.js');
}

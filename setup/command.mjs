import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runBenchmarks } from './bench.mjs';
import { buildTypeScript } from './build.mjs';
import { installChromium, installHeadlessShell } from './chromium.mjs';
import { buildConsole } from './console.mjs';
import { installDependencies } from './dependencies.mjs';
import { buildDocumentation } from './documentation.mjs';
import { runFuzzing } from './fuzz.mjs';
import { buildLibrary } from './library.mjs';
import { provideNode } from './node-versions.mjs';
import { prepareOpa } from './opa.mjs';
import { bundleProgram } from './program.mjs';
import { SetupError, step } from './progress.mjs';
import { runOpa } from './run-opa.mjs';
import { startProgram } from './start.mjs';
import { runTests } from './test.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The runs of `npm run test:all`. The first run has every test on every store (docs/decisions/0030) with ten times the
 * random draws. The newest Node.js runs all tests again, with a third of the draws, because draws do not depend on the
 * version. A version in between runs only the push tier: a defect of this version alone is rare.
 */
const wholeRuns = [
	{ tier: 'all', settings: { TEST_STORES: 'all', TEST_DRAWS: '10' } },
	{ major: '24', tier: 'all', settings: { TEST_DRAWS: String(1 / 3) } },
	{ major: '22', tier: 'push', settings: {} },
];

const commands = {
	start: (parameters) => startProgram(root, parameters),
	test: async (parameters) => conclude(await runTests(root, 'push', parameters)),
	'test:rest': async (parameters) => conclude(await runTests(root, 'rest', parameters)),
	'test:all': async (parameters) => {
		const counts = [];
		for (const { major, tier, settings } of wholeRuns) {
			const node = major && (await step(`node ${major}`, (say) => provideNode(root, major, say)));
			Object.assign(process.env, settings);
			const count = await runTests(root, tier, parameters, node);
			counts.push(count);
			if (count.isInterrupted) break;
			for (const name of Object.keys(settings)) delete process.env[name];
		}
		conclude({ passed: sum(counts, 'passed'), failed: sum(counts, 'failed') });
	},
	bench: async (parameters) => {
		process.exitCode = await runBenchmarks(root, parameters);
	},
	fuzz: async (parameters) => {
		process.exitCode = await runFuzzing(root, parameters);
	},
	opa: async (parameters) => {
		process.exitCode = await runOpa(process.env.OPA_PATH, parameters);
	},
	build: async () => {},
	'setup:browser': async () => {
		await step('chromium', installChromium);
		await step('headless', installHeadlessShell);
	},
};

/**
 * Completes the setup, then runs the command.
 * @param {string | undefined} name a key in `commands`
 * @param {readonly string[]} parameters
 */
export async function command(name, parameters) {
	if (!Object.hasOwn(commands, name)) {
		console.error(`Usage: node setup/run.mjs <${Object.keys(commands).join('|')}> [arguments]`);
		process.exitCode = 2;
		return;
	}
	try {
		await setUp(withWholeOpa.has(name) ? 'whole' : 'part');
		await commands[name](parameters);
	} catch (error) {
		if (!(error instanceof SetupError)) throw error;
		console.error(`\n${error.message}\n`);
		process.exitCode = 1;
		if (name.startsWith('test')) conclude({ passed: 0, failed: 1 });
	}
}

/** Commands that need the complete opa, because they run stock opa commands. */
const withWholeOpa = new Set(['test', 'test:rest', 'test:all', 'bench', 'fuzz', 'opa']);

async function setUp(wantedOpa) {
	// If Go or opa is missing, setup fails here, before it spends minutes on installing and building.
	const { provide } = await prepareOpa(root, wantedOpa);
	const opa = step('opa', provide);
	const built = build();
	// Both steps must end before a failure is reported. Otherwise, a step could continue after the message.
	await Promise.allSettled([opa, built]);
	await built;
	// The program and its tests read this variable, so all use the same opa.
	process.env.OPA_PATH = await opa;
}

async function build() {
	await step('dependencies', (say) => installDependencies(root, say));
	await step('build', (say) => buildTypeScript(root, say));
	await step('program', (say) => bundleProgram(root, say));
	await step('library', (say) => buildLibrary(root, say));
	await step('pages', (say) => buildConsole(root, say));
	await step('documentation', (say) => buildDocumentation(root, say));
}

function sum(counts, name) {
	return counts.reduce((total, count) => total + count[name], 0);
}

/** INVARIANT: this prints the last line of a test run, because continuous integration reads the last line. */
function conclude({ passed, failed }) {
	console.log(`\n${passed} passed, ${failed} failed`);
	process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

/** Runs a program with `fc` in scope, like a test file. Returns the program's standard error. */
function printed(program: string, variables: Readonly<Record<string, string>> = {}): string {
	const parameters = ['--import', join(root, 'setup/report-properties.mjs'), '--input-type=module', '--eval'];
	const { stderr, status } = spawnSync(
		process.execPath,
		[...parameters, `import fc from 'fast-check';\n${program}.catch(() => process.exit(3));`],
		{ cwd: root, encoding: 'utf8', env: { ...process.env, TEST_SEED: '', TEST_PATH: '', ...variables } },
	);
	return `${stderr}status ${status}`;
}

/** Returns the variables in a report that can replay a counterexample. */
function variables(report: string): Record<string, string> {
	const named = /^To run it again: (.*) npm test /m.exec(report)?.[1] ?? '';
	return Object.fromEntries(named.split(' ').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)]));
}

const small = 'await fc.assert(fc.asyncProperty(fc.nat(), async (number) => number < 50), { numRuns: 1000 })';

test('a failed property prints its smallest counterexample, and the command to repeat it', (t) => {
	const report = printed(small);
	t.regex(report, /^Property failed after \d+ tests\n\{ seed: -?\d+, path: ".+", .*\nCounterexample: \[50\]\n/m);
	t.regex(report, /status 3$/);
	t.deepEqual(Object.keys(variables(report)), ['TEST_SEED', 'TEST_PATH']);

	const again = printed(small, variables(report));
	t.regex(again, /^Property failed after 1 tests\n.*\nCounterexample: \[50\]\nShrunk 0 time/m);
});

test('a property that holds prints nothing', (t) => {
	t.is(printed(small.replace('< 50', '>= 0')), 'status 0');
});

const commands = `
const count = (by) => ({ check: ({ sum }) => sum < 100, run: async (model) => {
	model.sum += by;
	if (model.sum === 7) throw new Error('seven');
}, toString: () => 'count ' + by });
const all = fc.commands([fc.nat({ max: 3 }).map(count)], { size: 'max', maxCommands: 40, replayPath: process.env.TEST_REPLAY_PATH });
await fc.assert(fc.asyncProperty(all, (some) => fc.asyncModelRun(() => ({ model: { sum: 0 }, real: null }), some)))`;

test('a failed command history can be repeated with its replay path', (t) => {
	const report = printed(commands);
	t.deepEqual(Object.keys(variables(report)), ['TEST_SEED', 'TEST_PATH', 'TEST_REPLAY_PATH']);
	const counterexample = /^Counterexample: \[(count \d,?)+/m.exec(report)?.[0];
	t.truthy(counterexample, report);
	t.is(/^Counterexample: \[(count \d,?)+/m.exec(printed(commands, variables(report)))?.[0], counterexample);
});

test('shrinking a counterexample takes at most a minute', (t) => {
	const hours = 'let now = 0;\nperformance.now = () => now;\n';
	const report = printed(`${hours}${small.replace('=>', '=> (now += 61_000) &&')}`, { TEST_SEED: '7' });
	t.regex(report, /^Property failed after \d+ tests\n\{ seed: 7, .*\nCounterexample: \[\d+\]\nShrunk 0 time/m);
});

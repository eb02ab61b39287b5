// @alone @rest

import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { ResidentCompiler, readPolicyLibrary } from '../../compiler/opa/build.js';
import { ConfigError } from '../../src/config.js';
import { findOpa } from '../../src/publish/find-opa.js';
import { onAllStores } from '../support/each-store.js';
import { opaPath } from '../support/opa.js';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

const run = promisify(execFile);

type Version = readonly [number, number, number];

type Wanted = 'whole' | 'part';

type Say = (detail: string) => void;

interface OpaModule {
	parsePin(text: string): { opa: Version; go: Version };
	prepareOpa(
		root: string,
		wanted: Wanted,
		environment: NodeJS.ProcessEnv,
	): Promise<{ provide(say: Say): Promise<string> }>;
}

const { parsePin, prepareOpa }: OpaModule = await import(join(root, 'setup/opa.mjs'));
const { runOpa }: { runOpa(opa: string, parameters: readonly string[]): Promise<number> } = await import(
	join(root, 'setup/run-opa.mjs')
);

const modules = {
	'a block':
		'module m\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/a/b v0.1.0 // indirect\n\tgithub.com/open-policy-agent/opa v1.22.0\n)\n',
	'a single line': 'module m\ngo 1.26.0\nrequire github.com/open-policy-agent/opa v1.22.0\n',
	'a tool directive before it':
		'go 1.26.0\ntool github.com/open-policy-agent/opa\nrequire github.com/open-policy-agent/opa v1.22.0 // indirect\n',
};

for (const [shape, text] of Object.entries(modules)) {
	test(`the pinned version is read from ${shape}`, (t) =>
		t.deepEqual(parsePin(text), { opa: [1, 22, 0], go: [1, 26, 0] }));
}

test('a go.mod without the pinned version is rejected', (t) => {
	t.throws(() => parsePin('module m\ngo 1.26.0\nrequire github.com/open-policy-agent/opa-extra v1.0.0\n'), {
		message: /contains no version of OPA/,
	});
});

interface Search {
	/** Programs in the project, each with the version it prints, in the order of the folders on PATH. */
	readonly programs: Readonly<Record<string, string>>;
	readonly configured?: string;
	/** The file selected by setup, or the error message. */
	readonly gives: string | RegExp;
}

/** Rules of the search for opa, if OPA 1.22.0 is pinned and Go is missing. */
const searches: Readonly<Record<string, Search>> = {
	'prefers OPA_PATH to all other programs': {
		programs: { 'chosen/opa': '1.30.0', '.tools/opa': '1.22.0', 'bin/opa': '1.22.0' },
		configured: 'chosen/opa',
		gives: 'chosen/opa',
	},
	'rejects an OPA_PATH without a program, even if PATH contains opa': {
		programs: { 'bin/opa': '1.22.0' },
		configured: 'nothing',
		gives: /^OPA_PATH: there is no program at .*nothing; set it to an opa, version 1\.22 or a newer 1\.x/,
	},
	'rejects an OPA_PATH that is a folder': {
		programs: { 'bin/opa': '1.22.0' },
		configured: 'bin',
		gives: /^OPA_PATH: .*bin is a folder; /,
	},
	'rejects an OPA_PATH that prints no version': {
		programs: { 'chosen/opa': '' },
		configured: 'chosen/opa',
		gives: /^OPA_PATH: .*chosen\/opa does not run as opa; /,
	},
	'rejects an OPA_PATH that is too old': {
		programs: { 'chosen/opa': '0.60.0', 'bin/opa': '1.22.0' },
		configured: 'chosen/opa',
		gives: /^OPA_PATH: .*chosen\/opa is opa 0\.60\.0; set it to an opa, version 1\.22 or a newer 1\.x, or unset it$/,
	},
	'rejects an OPA_PATH with the next major version': {
		programs: { 'chosen/opa': '2.0.0' },
		configured: 'chosen/opa',
		gives: /^OPA_PATH: .*chosen\/opa is opa 2\.0\.0; /,
	},
	'prefers an earlier build, which compiles faster, to PATH': {
		programs: { '.tools/opa': '1.22.0', 'bin/opa': '1.23.4' },
		gives: '.tools/opa',
	},
	'prefers PATH to a build of a different version': {
		programs: { '.tools/opa': '1.21.0', 'bin/opa': '1.22.3' },
		gives: 'bin/opa',
	},
	'uses an opa on PATH with a newer minor version': { programs: { 'bin/opa': '1.23.4' }, gives: 'bin/opa' },
	'skips an opa on PATH that is too old': {
		programs: { 'bin/opa': '0.60.0', 'other/opa': '1.22.0' },
		gives: 'other/opa',
	},
	'skips an opa on PATH that does not run': {
		programs: { 'bin/opa': '', 'other/opa': '1.22.0' },
		gives: 'other/opa',
	},
	'ignores folders named opa on PATH': {
		programs: { 'bin/opa/file': '1.22.0', 'other/opa': '1.22.0' },
		gives: 'other/opa',
	},
	'names every incompatible opa in the message': {
		programs: { 'bin/opa': '1.21.9', 'other/opa': '2.22.0' },
		gives: /bin\/opa, .*other\/opa cannot replace OPA 1\.22\.0, and Go, .*install OPA 1\.22.*OPA_PATH/s,
	},
	'names the programs to install if opa and Go are missing': {
		programs: {},
		gives: /Install Go 1\.26\.0.*install OPA 1\.22.*OPA_PATH/s,
	},
};

for (const [rule, { programs, configured, gives }] of Object.entries(searches)) {
	test(`${rule}, in setup and in the program`, async (t) => {
		const home = project(temporary(t));
		for (const [file, version] of Object.entries(programs)) program(home, file, version);
		const PATH = ['none', 'bin', 'other'].map((folder) => join(home, folder)).join(delimiter);
		const OPA_PATH = configured === undefined ? '' : join(home, configured);
		const inSetUp = provideOpa(home, () => {}, 'whole', { OPA_PATH, PATH });
		const inProgram = findOpa(OPA_PATH === '' ? null : relative(process.cwd(), OPA_PATH), PATH, { root: home });
		if (typeof gives === 'string') {
			t.deepEqual(await Promise.all([inSetUp, inProgram]), [join(home, gives), join(home, gives)]);
			return;
		}
		await t.throwsAsync(inSetUp, { message: gives });
		const error = await t.throwsAsync(inProgram, { instanceOf: ConfigError, message: gives });
		t.regex(error.message, /^OPA_PATH: [^\n]+$/, 'one line that begins with the setting');
	});
}

test('if there is no opa, the program builds a partial opa and reports this once', async (t) => {
	const home = project(temporary(t));
	const template = program(home, 'template', '1.22.0');
	program(home, 'bin/opa', '1.21.0');
	script(
		home,
		'bin/go',
		`case "$1" in
env) echo go1.26.8;;
list) printf 'a/b\\nc\\n';;
build) echo a/b >&2; cp ${template} "$6";;
esac`,
	);
	const said: string[] = [];
	const PATH = `${path(home)}:/usr/bin:/bin`;
	t.is(await findOpa(null, PATH, { root: home, say: (step) => said.push(step) }), join(home, '.tools/regolith-opa'));
	t.deepEqual(said, ['opa: building 1.22.0 with Go, only once']);
});

test('an opa built from different sources is rebuilt if Go is installed', async (t) => {
	const home = project(temporary(t));
	const built = program(home, '.tools/opa', '1.22.0');
	const said: string[] = [];
	const provide = () =>
		provideOpa(home, (detail) => void said.push(detail), 'whole', { PATH: `${path(home)}:/usr/bin:/bin` });
	const go = `case "$1" in
env) echo go1.26.8;;
list) printf 'a/b\\nc\\n\\n';;
build) echo a/b >&2; cp ../../.tools/opa "$6";;
esac`;
	script(home, 'bin/go', go);
	t.is(await provide(), built);
	t.is(said.at(-1), 'built 1.22.0');
	t.true(said.includes('building 1.22.0, only once: 1 of 2 packages'), said.join('\n'));
	t.is(await provide(), built);
	t.is(said.at(-1), '1.22.0 up to date');
	writeFileSync(join(home, 'compiler/opa/main.go'), 'package main\n');
	await provide();
	t.is(said.at(-1), 'built 1.22.0');
});

test('builds only the partial opa if it is enough, unless a complete opa exists', async (t) => {
	const home = project(temporary(t));
	const template = program(home, 'template', '1.22.0');
	const go = `case "$1" in
env) echo go1.26.8;;
build) [ "$7" = -tags=part ] && cp ${template} "$6";;
esac`;
	script(home, 'bin/go', go);
	const provide = () => provideOpa(home, () => {}, 'part', { PATH: `${path(home)}:/usr/bin:/bin` });
	t.is(await provide(), join(home, '.tools/regolith-opa'));
	t.is(await provide(), join(home, '.tools/regolith-opa'), 'it is not built again');
	const whole = program(home, '.tools/opa', '1.22.0');
	writeFileSync(`${whole}.source`, readFileSync(join(home, '.tools/regolith-opa.source')));
	t.is(await provide(), whole);
});

test('the message names an outdated Go', async (t) => {
	const home = project(temporary(t));
	script(home, 'bin/go', 'echo go1.20.1');
	await t.throwsAsync(
		provideOpa(home, () => {}, 'whole', { PATH: path(home) }),
		{ message: /needs Go 1\.26\.0 or newer; go says: go1\.20\.1/ },
	);
});

test('a failed build leaves no program behind, and shows Go’s output', async (t) => {
	const home = project(temporary(t));
	script(home, 'bin/go', 'if [ "$1" = env ]; then echo go1.26.8; else echo no network; exit 1; fi');
	await t.throwsAsync(
		provideOpa(home, () => {}, 'whole', { PATH: path(home) }),
		{ message: /no network/ },
	);
});

test('without opa and Go, `npm start` reports this before it installs anything', async (t) => {
	const home = project(temporary(t));
	cpSync(join(root, 'setup'), join(home, 'setup'), { recursive: true });
	cpSync(join(root, 'package-lock.json'), join(home, 'package-lock.json'));
	script(home, 'bin/npm', 'echo installed > installed');
	const env = { PATH: path(home) };
	const start = run(process.execPath, [join(home, 'setup/run.mjs'), 'start'], { cwd: home, env });
	const { code, stderr } = await start.then(
		() => ({ code: 0, stderr: '' }),
		(error: { readonly code: number; readonly stderr: string }) => error,
	);
	t.is(code, 1);
	t.regex(stderr, /^\nThe opa program is missing, and Go, .*Install Go 1\.26\.0.*OPA_PATH [^\n]*\.\n\n$/s);
	t.deepEqual(
		['installed', 'node_modules', '.tools', 'dist'].filter((file) => existsSync(join(home, file))),
		[],
	);
});

async function provideOpa(home: string, say: Say, wanted: Wanted, environment: NodeJS.ProcessEnv): Promise<string> {
	const { provide } = await prepareOpa(home, wanted, environment);
	return provide(say);
}

/** Creates a folder that pins OPA 1.22.0. */
function project(home: string): string {
	mkdirSync(join(home, 'compiler/opa'), { recursive: true });
	writeFileSync(join(home, 'compiler/opa/go.mod'), modules['a block']);
	return home;
}

/** Returns a PATH with only the test's programs. */
function path(home: string): string {
	return join(home, 'bin');
}

/** Creates a program that behaves like this opa version, or fails if `version` is empty. */
function program(home: string, file: string, version: string): string {
	return script(home, file, version === '' ? 'exit 3' : `echo "Version: ${version}"`);
}

function script(home: string, file: string, text: string): string {
	const target = join(home, file);
	mkdirSync(dirname(target), { recursive: true });
	writeFileSync(target, `#!/bin/sh\n${text}\n`);
	chmodSync(target, 0o755);
	return target;
}

(onAllStores ? test : test.skip)('the partial opa compiles and tests policies like the complete opa', async (t) => {
	t.timeout(600_000);
	const folder = temporary(t);
	const part = join(folder, 'regolith-opa');
	const environment = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
	await run('go', ['build', '-tags=part', '-o', part, '.'], { cwd: join(root, 'compiler/opa'), env: environment });
	const files = await readPolicyLibrary();
	const modules = await Promise.all(
		[part, opaPath].map(async (program) => {
			const compiler = new ResidentCompiler(program, ['regolith/check/code']);
			return compiler.compile(files).finally(() => compiler.stop());
		}),
	);
	t.deepEqual(modules[0], modules[1]);
	writeFileSync(join(folder, 'a_test.rego'), 'package a\n\ntest_holds if 1 == 1\n\ntest_fails if 1 == 2\n');
	const tested = (program: string, ...words: readonly string[]) =>
		run(program, ['test', '.', ...words], { cwd: folder }).then(
			({ stdout }) => [0, stdout],
			({ code, stdout }: { readonly code: number; readonly stdout: string }) => [code, stdout],
		);
	const untimed = ([code, said]: readonly unknown[]) => [
		code,
		String(said).replaceAll(/\d[\d.]*(?:ns|µs|ms|s)\b/g, 'T'),
	];
	for (const words of [[], ['--run=holds'], ['--verbose', '--run=fails']]) {
		t.deepEqual(untimed(await tested(part, ...words)), untimed(await tested(opaPath, ...words)), words.join(' '));
	}
	t.is((await run(part, ['version'])).stdout, 'Version: 1.22.0\n');
	await t.throwsAsync(run(part, ['eval', '1']), { message: /This is a part of opa/ });
});

test('`npm run opa` exits with opa’s exit code', async (t) => {
	t.is(await runOpa(process.execPath, ['--eval', 'process.exit(3)']), 3);
});

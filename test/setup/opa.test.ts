import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { ResidentCompiler, readPolicyLibrary } from '../../compiler/opa/build.js';
import { onAllStores } from '../support/each-store.js';
import { opaPath } from '../support/opa.js';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

const run = promisify(execFile);

type Version = readonly [number, number, number];

interface OpaModule {
	parsePin(text: string): { opa: Version; go: Version };
	provideOpa(
		root: string,
		say: (detail: string) => void,
		wanted: 'whole' | 'part',
		environment: NodeJS.ProcessEnv,
	): Promise<string>;
}

const { parsePin, provideOpa }: OpaModule = await import(join(root, 'setup/opa.mjs'));
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
	test(`the pin is read from ${shape}`, (t) => t.deepEqual(parsePin(text), { opa: [1, 22, 0], go: [1, 26, 0] }));
}

test('a go.mod without the pin is refused', (t) => {
	t.throws(() => parsePin('module m\ngo 1.26.0\nrequire github.com/open-policy-agent/opa-extra v1.0.0\n'), {
		message: /names no version of OPA/,
	});
});

test('OPA_PATH wins over an opa on PATH', async (t) => {
	const home = project(temporary(t));
	const chosen = program(home, 'chosen/opa', '1.30.0');
	program(home, 'bin/opa', '1.22.0');
	t.is(await provideOpa(home, () => {}, 'whole', { OPA_PATH: chosen, PATH: path(home) }), chosen);
});

test('an OPA_PATH that names nothing is an error, not a reason to look elsewhere', async (t) => {
	const home = project(temporary(t));
	program(home, 'bin/opa', '1.22.0');
	const environment = { OPA_PATH: join(home, 'nothing'), PATH: path(home) };
	await t.throwsAsync(
		provideOpa(home, () => {}, 'whole', environment),
		{ message: /OPA_PATH is .*nothing/ },
	);
});

test('an opa on PATH of the pinned or a newer minor version is used', async (t) => {
	const home = project(temporary(t));
	const found = program(home, 'bin/opa', '1.23.4');
	program(home, '.tools/opa', '1.22.0');
	t.is(await provideOpa(home, () => {}, 'whole', { PATH: path(home) }), found);
});

test('an older opa on PATH gives way to the one built before', async (t) => {
	const home = project(temporary(t));
	program(home, 'bin/opa', '1.21.9');
	const built = program(home, '.tools/opa', '1.22.0');
	t.is(await provideOpa(home, () => {}, 'whole', { PATH: path(home) }), built);
});

test('one that was built of other sources is built anew where there is Go', async (t) => {
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

test('where a part of opa is enough, a part is built, unless there is all of it', async (t) => {
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

test('without opa and without Go, the message says what to install', async (t) => {
	const home = project(temporary(t));
	await t.throwsAsync(
		provideOpa(home, () => {}, 'whole', { PATH: path(home) }),
		{ message: /Install Go 1\.26\.0.*OPA 1\.22.*OPA_PATH/s },
	);
});

test('a Go that is too old is named in the message', async (t) => {
	const home = project(temporary(t));
	script(home, 'bin/go', 'echo go1.20.1');
	await t.throwsAsync(
		provideOpa(home, () => {}, 'whole', { PATH: path(home) }),
		{ message: /needs Go 1\.26\.0 or newer; go says: go1\.20\.1/ },
	);
});

test('a build that fails leaves no program behind and shows what Go said', async (t) => {
	const home = project(temporary(t));
	script(home, 'bin/go', 'if [ "$1" = env ]; then echo go1.26.8; else echo no network; exit 1; fi');
	await t.throwsAsync(
		provideOpa(home, () => {}, 'whole', { PATH: path(home) }),
		{ message: /no network/ },
	);
});

/** A folder that pins OPA 1.22.0. */
function project(home: string): string {
	mkdirSync(join(home, 'compiler/opa'), { recursive: true });
	writeFileSync(join(home, 'compiler/opa/go.mod'), modules['a block']);
	return home;
}

/** Only what the test put there is on PATH. */
function path(home: string): string {
	return join(home, 'bin');
}

/** A program that answers as an opa of this version would. */
function program(home: string, file: string, version: string): string {
	return script(home, file, `echo "Version: ${version}"`);
}

function script(home: string, file: string, text: string): string {
	const target = join(home, file);
	mkdirSync(dirname(target), { recursive: true });
	writeFileSync(target, `#!/bin/sh\n${text}\n`);
	chmodSync(target, 0o755);
	return target;
}

(onAllStores ? test : test.skip)('the part of opa compiles and tests as all of it does', async (t) => {
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

test('`npm run opa` ends as the opa that it runs', async (t) => {
	t.is(await runOpa(process.execPath, ['--eval', 'process.exit(3)']), 3);
});

// @alone @rest

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

const { outputFiles }: { outputFiles(sources: readonly string[]): Set<string> } = await import(
	join(root, 'setup/build.mjs')
);
const { compiled }: { compiled(parameter: string): string } = await import(join(root, 'setup/test.mjs'));

interface Tally {
	read(chunk: string): void;
	count(): { readonly passed: number; readonly failed: number };
}

const { createTally }: { createTally(): Tally } = await import(join(root, 'setup/tally.mjs'));

test('a source file compiles to a program and its source map; declarations and pages compile to nothing', (t) => {
	const bundled = [
		'src/console/page/requests.tsx',
		'src/console/page/message-of.ts',
		'src/console/embed/send-token.ts',
	];
	const outputs = outputFiles(['src/main.ts', 'src/types.d.ts', 'compiler/opa/go.mod', ...bundled]);
	t.deepEqual([...outputs], ['src/main.js', 'src/main.js.map']);
});

const parameters: readonly (readonly [string, string])[] = [
	['test/store/unit.test.ts', 'dist/test/store/unit.test.js'],
	['./test/store/*.test.ts', 'dist/test/store/*.test.js'],
	['dist/test/store/unit.test.js', 'dist/test/store/unit.test.js'],
	['--match=*.ts', '--match=*.ts'],
];

for (const [given, expected] of parameters) {
	test(`the argument ${given} reaches AVA as ${expected}`, (t) => t.is(compiled(given), expected));
}

const { sumRooms }: { sumRooms(notes: string): string } = await import(join(root, 'setup/rooms.mjs'));

test('file times are summed by room, longest first', (t) => {
	const notes = join(temporary(t), 'times');
	t.is(sumRooms(notes), '');
	const files = [
		{ file: 'dist/test/log.test.js', seconds: 1, processor: 0.5 },
		{ file: 'dist/test/wire/a.test.js', seconds: 1.25, processor: 1 },
		{ file: 'dist/test/wire/b.test.js', seconds: 2, processor: 1.5 },
	];
	writeFileSync(notes, files.map((file) => `${JSON.stringify(file)}\n`).join(''));
	const rows = sumRooms(notes).split('\n');
	t.deepEqual(
		rows.slice(1).map((row) => row.trim().split(/ +/)),
		[
			['wire', '2', '3.3', '2.5'],
			['test', '1', '1.0', '0.5'],
		],
	);
});

test('the first line of a test file contains only known tags', (t) => {
	const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
	const tags = files
		.filter((file) => file.endsWith('.test.ts'))
		.map((file) => readFileSync(join(root, 'test', file), 'utf8').split('\n', 1)[0] ?? '')
		.filter((line) => line.startsWith('//'))
		.flatMap((line) => line.slice('// '.length).split(' '));
	t.deepEqual([...new Set(tags)].sort(), ['@alone', '@apart', '@both', '@long', '@rest']);
});

test('the tally counts only marked lines, even if they are colored or split', (t) => {
	const tally = createTally();
	tally.read('\n  ✔ a › one (1.2s)\n  ✘ [fail]: a › two Error thr');
	tally.read('own in test\n    ℹ ✔ a log line\n  - [skip] a › three\n');
	tally.read(
		'  \u001b[32m✔\u001b[39m b › four\n  ✘ t/e.test.js exited with a non-zero exit code: 1\n  1 test failed\n',
	);
	t.deepEqual(tally.count(), { passed: 2, failed: 2 });
});

const ends: Readonly<Record<string, readonly [said: string, passed: number, failed: number]>> = {
	'all passed': ['  12 tests passed\n', 12, 0],
	'some failed': ['  1 test failed\n  2 uncaught exceptions\n', 0, 3],
	'a hook failed': ['  1 hook failed\n', 0, 1],
	'some never ended': ['  3 tests remained pending after a timeout\n', 0, 3],
	TAP: ['ok 1 - a\nnot ok 2 - b\n1..2\n# tests 2\n# pass 7\n# fail 3\n', 7, 3],
	'TAP, cut off': ['# pass 7\n# fail 0', 7, 0],
	nothing: ['  no test\n  1 test skipped\n', 0, 0],
};

for (const [how, [said, passed, failed]] of Object.entries(ends)) {
	test(`the tally trusts the runner’s own count: ${how}`, (t) => {
		const tally = createTally();
		tally.read(said);
		t.deepEqual(tally.count(), { passed, failed });
	});
}

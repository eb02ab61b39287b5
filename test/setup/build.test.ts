import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

const { outputsOf }: { outputsOf(sources: readonly string[]): Set<string> } = await import(
	join(root, 'setup/build.mjs')
);
const { compiled }: { compiled(parameter: string): string } = await import(join(root, 'setup/test.mjs'));

interface Tally {
	readonly passed: number;
	readonly failed: number;
	read(chunk: string): void;
}

const { createTally }: { createTally(): Tally } = await import(join(root, 'setup/tally.mjs'));

test('a source compiles to a program and its map; declarations and other files to nothing', (t) => {
	const outputs = outputsOf(['src/main.ts', 'src/types.d.ts', 'compiler/opa/go.mod']);
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

test('the tally counts marked lines, whole, coloured or cut in two, and nothing else', (t) => {
	const tally = createTally();
	tally.read('\n  ✔ a › one (1.2s)\n  ✘ [fail]: a › two Error thr');
	tally.read('own in test\n    ℹ ✔ a log line\n  - [skip] a › three\n');
	tally.read(
		'  \u001b[32m✔\u001b[39m b › four\n  ✘ t/e.test.js exited with a non-zero exit code: 1\n  1 test failed\n',
	);
	t.deepEqual([tally.passed, tally.failed], [2, 2]);
});

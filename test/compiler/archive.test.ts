/** A second tar implementation can read the archives for `opa` input and bundles. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { archive } from '../../compiler/opa/archive.js';
import { unpack } from '../../src/bundle/bundle.js';

const file = (path: string) => ({ path, content: `package ${path.length}\n# é\u{1f600}` });
/** Lengths around the limits at which tar changes its path format, and at which content fills a block. */
const pathLengths = [99, 100, 101, 155, 256, 985, 986, 987, 988, 989, 9_000];
const contentLengths = [511, 512, 513];

const files = [
	file('a.rego'),
	file('regolith/user_sets/=0041/holds.rego'),
	file('empty.rego'),
	...pathLengths.map((length) => file(`x/${'y'.repeat(length - 2)}`)),
	file(`é/${'é'.repeat(60)}`),
	{ path: 'nothing.rego', content: '' },
	...contentLengths.map((length) => ({ path: `${length}.rego`, content: 'z'.repeat(length) })),
];

test('reading returns the packed files', async (t) => {
	const read = await unpack(gzipSync(await archive(files)));
	t.deepEqual(
		Object.fromEntries([...read].map(([path, bytes]) => [path, Buffer.from(bytes).toString()])),
		Object.fromEntries(files.map(({ path, content }) => [path, content])),
	);
});

test('equal files are packed to equal bytes, in any order', async (t) => {
	t.deepEqual(await archive(files), await archive([...files].reverse()));
});

for (const path of ['/a.rego', '../a.rego', 'a/../../b.rego']) {
	test(`the path ${path} is rejected`, async (t) => {
		await t.throwsAsync(() => archive([file(path)]), { instanceOf: RangeError, message: /leads out/ });
	});
}

test('a repeated path is rejected', async (t) => {
	await t.throwsAsync(() => archive([file('a'), file('b'), file('a')]), { instanceOf: RangeError, message: /`a`/ });
});

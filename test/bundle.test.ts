import { gunzipSync, gzipSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { pack as packTar } from 'tar-stream';
import { layout } from '../compiler/layout.js';
import {
	BundleError,
	type BundleFile,
	manifest,
	manifestFile,
	parseManifest,
	parsePatches,
	unpack,
} from '../src/bundle/bundle.js';
import { pack } from '../src/bundle/pack.js';

/** Bundles with equal content have equal bytes, and only complete bundles can be read. */

const bytes = (text: string) => Buffer.from(text);

const name = fc.stringMatching(/^[a-zé_.-]{1,60}$/).filter((step) => step !== '.' && step !== '..');
const files: fc.Arbitrary<BundleFile[]> = fc.uniqueArray(
	fc.record({
		path: fc.array(name, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('/')),
		bytes: fc.uint8Array({ maxLength: 2000 }),
	}),
	{ selector: ({ path }) => path, maxLength: 8 },
);

test('unpacking returns the packed files in any order', async (t) => {
	await fc.assert(
		fc.asyncProperty(files, async (files) => {
			const packed = await pack(files);
			const again = await pack(files.toReversed().map(({ path, bytes }) => ({ path: `/${path}`, bytes })));
			const read = await unpack(packed);
			return (
				Buffer.compare(packed, again) === 0 &&
				read.size === files.length &&
				files.every(({ path, bytes }) => Buffer.compare(read.get(path) ?? Buffer.from('absent'), bytes) === 0)
			);
		}),
	);
	t.pass();
});

test('the bytes do not depend on the time, the machine or the user', async (t) => {
	const packed = await pack([{ path: 'data.json', bytes: bytes('{}') }]);
	t.deepEqual([...packed.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
	const header = gunzipSync(packed).subarray(0, 512).toString('latin1');
	t.is(header.slice(0, 10), 'data.json\0');
	t.is(header.slice(100, 108), '000644 \0');
	t.is(Number.parseInt(header.slice(108, 116), 8), 0);
	t.is(Number.parseInt(header.slice(136, 148), 8), 0);
});

/** Returns a gzipped tar archive with these entries. */
async function gzippedTar(
	entries: readonly { readonly name: string; readonly text?: string; readonly type?: 'symlink' | 'directory' }[],
) {
	const tar = packTar();
	for (const { name, text = '', type } of entries)
		tar.entry({ name, ...(type && { type, linkname: '/etc/passwd' }) }, text);
	tar.finalize();
	const chunks: Uint8Array[] = [];
	for await (const chunk of tar) chunks.push(chunk as Uint8Array);
	return gzipSync(Buffer.concat(chunks));
}

const whole = () => pack([{ path: 'data.json', bytes: new Uint8Array(5000) }]);

const refused: readonly (readonly [title: string, make: () => Promise<Uint8Array>, says: RegExp])[] = [
	['nothing', async () => new Uint8Array(), /not a complete gzip/],
	['text', async () => bytes('{"error": 1}'), /not a complete gzip/],
	['a gzip file that ends early', async () => (await whole()).subarray(0, -20), /not a complete gzip/],
	[
		'a changed byte',
		async () => (await whole()).map((byte, index) => (index === 40 ? byte ^ 255 : byte)),
		/not a complete/,
	],
	[
		'a tar file that ends early',
		async () => gzipSync(gunzipSync(await whole()).subarray(0, 1024)),
		/not a complete tar/,
	],
	['no tar file', async () => gzipSync('x'.repeat(2000)), /not a complete tar/],
	[
		'a path to a file outside the bundle',
		() => gzippedTar([{ name: '../../etc/passwd' }]),
		/not a path inside a bundle/,
	],
	['an absolute path with `..` in it', () => gzippedTar([{ name: '/a/../../b' }]), /not a path inside a bundle/],
	['a link', () => gzippedTar([{ name: 'data.json', type: 'symlink' }]), /symlink/],
	['a file twice', () => gzippedTar([{ name: 'data.json' }, { name: 'data.json' }]), /twice/],
	[
		'more files than allowed',
		() => gzippedTar(Array.from({ length: 11 }, (_, index) => ({ name: `f${index}` }))),
		/more than 10 files/,
	],
	['a bomb', async () => gzipSync(new Uint8Array(300_000)), /larger than 100000 bytes/],
];

for (const [title, make, says] of refused) {
	test(`rejects ${title}`, async (t) => {
		const packed = await make();
		const error = await t.throwsAsync(unpack(packed, { bytes: 100_000, files: 10 }), { instanceOf: BundleError });
		t.regex(error.message, says);
	});
}

test('rejects an invalid path or a path outside the bundle', async (t) => {
	for (const path of ['../x', 'a/../b', '', '/', 'a//b', './..', 'a\0b']) {
		await t.throwsAsync(pack([{ path, bytes: new Uint8Array() }]), { instanceOf: BundleError }, path);
	}
});

test('folders and a leading dot are accepted', async (t) => {
	const read = await unpack(
		await gzippedTar([
			{ name: './a/', type: 'directory' },
			{ name: './a/x.rego', text: 'x' },
		]),
	);
	t.deepEqual([...read.keys()], ['a/x.rego']);
});

const reading = (path: string, text: string) => new Map([[path, bytes(text)]]);

test('a manifest is read unchanged', (t) => {
	const common = { revision: 12, environment: 'e', policy: 'abc' };
	for (const parts of [
		{ ...common, entrypoints: ['regolith/check/code'], step: { kind: 'snapshot' } },
		{ ...common, lineage: 'd3b07384d113edec', token: '8843d7f92416211d', step: { kind: 'delta', base: 3 } },
		{ ...common, entrypoints: [], step: { kind: 'policy', base: 11 } },
	] as const) {
		const written = manifest(parts);
		t.deepEqual(parseManifest(new Map([['.manifest', manifestFile(written).bytes]])), written);
	}
	t.deepEqual(manifest({ ...common, entrypoints: ['regolith/check/code'], step: { kind: 'snapshot' } }), {
		revision: '12',
		roots: ['regolith'],
		rego_version: 1,
		wasm: [{ entrypoint: 'regolith/check/code', module: '/policy.wasm' }],
		metadata: {
			regolith: {
				kind: 'snapshot',
				former_lineages: [],
				lineage: '',
				token: '',
				environment: 'e',
				layout,
				policy: 'abc',
				policy_revision: '12',
				degraded: null,
			},
		},
	});
});

test('the error for an invalid manifest includes the location of the problem', (t) => {
	const good = manifest({ revision: 1, environment: 'e', policy: 'p', step: { kind: 'delta', base: 0 } });
	const regolith = good.metadata.regolith;
	for (const [value, says] of [
		[undefined, /no `.manifest`/],
		['{', /not valid JSON/],
		[JSON.stringify({ ...good, revision: 'x' }), /revision/],
		[JSON.stringify({ ...good, revision: 1 }), /revision/],
		[JSON.stringify({ ...good, metadata: {} }), /regolith/],
		[JSON.stringify({ ...good, metadata: { regolith: { ...regolith, layout: 1 } } }), /layout/],
		[JSON.stringify({ ...good, metadata: { regolith: { ...regolith, base: undefined } } }), /base/],
		[JSON.stringify({ ...good, metadata: { regolith: { ...regolith, kind: 'other' } } }), /kind/],
	] as const) {
		const error = t.throws(() => parseManifest(value === undefined ? new Map() : reading('.manifest', value)), {
			instanceOf: BundleError,
		});
		t.regex(error.message, says);
	}
});

test('patch paths are split into segments', (t) => {
	const data = [
		{ op: 'upsert', path: '/a/b~1c/~0~01/', value: JSON.parse('{"__proto__":1}') },
		{ op: 'remove', path: '/gone/50%25' },
		{ op: 'upsert', path: '/kept', value: null },
		{ op: 'remove', path: '/other' },
	];
	const patches = parsePatches(reading('patch.json', JSON.stringify({ data })));
	t.deepEqual(
		patches.map(({ op, path }) => [op, ...path]),
		[
			['upsert', 'a', 'b/c', '~~1', ''],
			['remove', 'gone', '50%'],
			['upsert', 'kept'],
			['remove', 'other'],
		],
	);
	t.regex(JSON.stringify(patches[0]), /"__proto__":1/);
	t.deepEqual(parsePatches(new Map()), []);
});

test('invalid patches are rejected', (t) => {
	for (const data of [
		[{ op: 'replace', path: '/a', value: 1 }],
		[{ op: 'upsert', path: '/a' }],
		[{ op: 'remove', path: 'a' }],
		[1],
		{},
	]) {
		t.throws(
			() => parsePatches(reading('patch.json', JSON.stringify({ data }))),
			{ instanceOf: BundleError },
			JSON.stringify(data),
		);
	}
});

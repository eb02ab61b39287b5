import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { documentBytes } from '../../compiler/index.js';
import { canonicalText } from '../../compiler/json-writer.js';
import type { Json, Model } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { type BundleFile, manifest, manifestFile, SignatureError, unpack } from '../../src/bundle/bundle.js';
import { pack } from '../../src/bundle/pack.js';
import { ConfigError } from '../../src/config.js';
import type { Run } from '../../src/pdp/engine/engine.js';
import { createBundleVerifier } from '../../src/pdp/follow/bundle-verifier.js';
import { sha256 } from '../../src/pdp/follow/sha256.js';
import { readBundleVerifier } from '../../src/pdp/follow/verification-keys.js';
import { readBundleSigner } from '../../src/publish/bundle-signer.js';
import { canonicalJson, inCanonicalForm, isCanonicalDocument } from '../../src/publish/canonical-json.js';
import { opaPath } from '../support/opa.js';
import { type keyKinds, makeKeys, signingPacker } from '../support/signing-keys.js';
import { temporary } from '../support/temporary.js';

/** A stock OPA accepts Regolith's signed bundles, and Regolith's own verification is at least as strict. */

const opa = promisify(execFile);
const run: Run = async (steps) => runToEnd(steps);

/** Characters that JavaScript and Go write or sort differently, in keys and values. */
const oddTexts = [
	'\u2028',
	'\u2029',
	'😀',
	'\uff21',
	'\ue000',
	'\u007f',
	'\u0001\b\f\n\r\t"\\/',
	'<&>',
	'\ud83d\ude00z',
	'\\ud800',
	'é',
];
const odd: Model = {
	schema: { condition_sets: [], set_rules: [], resources: [], roles: [] },
	facts: {
		user_attributes: oddTexts.map((text, index) => ({
			user: text,
			attributes: {
				[text]: text,
				...Object.fromEntries(oddTexts.map((key) => [key, index])),
				n: [1e21, 1e-7, -0, 0.1, 2 ** 53],
			},
		})),
		instance_attributes: [],
		users: oddTexts,
		tenants: [],
		role_assignments: [],
		instances: [],
		instance_assignments: [],
		relationships: [],
	},
};

const about = { revision: 3, environment: 'e', policy: 'p', step: { kind: 'snapshot' } } as const;
const oddFiles: readonly BundleFile[] = [
	manifestFile(manifest(about)),
	{ path: 'data.json', bytes: documentBytes(odd) },
	{
		path: 'regolith/other/data.json',
		bytes: Buffer.from('{\n\t"b": [1, {"z": null, "a": 1.50e3}],\n\t"a": "\\u2028"\n}\n'),
	},
	{ path: 'regolith/check.rego', bytes: Buffer.from('package regolith.check\n\nallow := true\n') },
];

/** Loads a bundle with a stock OPA, and returns OPA's value for a document. Rejects with OPA's error. */
async function loadedByOpa(path: string, flags: readonly string[]): Promise<string> {
	const running = opa(opaPath, ['run', '--bundle', path, '--format', 'json', ...flags]);
	// If opa refuses the bundle, it may exit before it reads this input. The resulting write error must not hide OPA's
	// error.
	running.child.stdin?.on('error', () => undefined).end('data.regolith.check.allow\n');
	const { stdout } = await running.catch(({ stdout }: { readonly stdout: string }) => {
		throw new Error(stdout);
	});
	return stdout;
}

for (const algorithm of ['ES256', 'ES384', 'ES512', 'RS256'] satisfies (keyof typeof keyKinds)[]) {
	test(`a stock OPA and the decision point verify signatures with a key for ${algorithm}`, async (t) => {
		const folder = temporary(t);
		const [key, other] = [makeKeys(folder, 'key', algorithm), makeKeys(folder, 'other', algorithm)];
		const bytes = await (await signingPacker(key.privatePath, 'one')).pack(oddFiles);
		const path = join(folder, 'bundle.tar.gz');
		writeFileSync(path, bytes);
		const flags = (publicPath: string) => ['--verification-key', publicPath, '--signing-alg', algorithm];
		t.regex(await loadedByOpa(path, flags(key.publicPath)), /true/);
		await t.throwsAsync(loadedByOpa(path, flags(other.publicPath)), { message: /signature/ });
		await t.throwsAsync(loadedByOpa(path, []), { message: /verification key not provided/ });
		const verify = await createBundleVerifier([other.publicKey, key.publicKey]);
		await t.notThrowsAsync(async () => verify(await unpack(bytes), run));
	});
}

/** Changes to a signed bundle in transit, keyed by name. */
const tampered: Readonly<Record<string, (files: Map<string, Uint8Array>) => void>> = {
	'is not signed': (files) => files.delete('.signatures.json'),
	'lost a file': (files) => files.delete('regolith/check.rego'),
	'has an additional file': (files) => files.set('more.json', Buffer.from('{}')),
	'has a changed file': (files) => files.set('regolith/check.rego', Buffer.from('package regolith.check')),
	'has equivalent data in a different form': (files) =>
		files.set('data.json', Buffer.concat([files.get('data.json') ?? Buffer.of(), Buffer.from('\n')])),
	'has a different manifest': (files) => {
		const { path, bytes } = manifestFile(manifest({ ...about, revision: 4 }));
		files.set(path, bytes);
	},
	'has no signature in its file': (files) => files.set('.signatures.json', Buffer.from('{"signatures":[]}')),
	'has two signatures': (files) => {
		const { signatures } = JSON.parse(Buffer.from(files.get('.signatures.json') ?? []).toString());
		files.set('.signatures.json', Buffer.from(JSON.stringify({ signatures: [...signatures, ...signatures] })));
	},
	'has a token with the algorithm `none`': (files) =>
		changeToken(files, ([, payload]) => [encoded({ alg: 'none' }), payload, '']),
	'is signed with the public key as a secret': (files) =>
		changeToken(files, ([, payload, signature]) => [encoded({ alg: 'HS256' }), payload, signature]),
	'has a different payload': (files) =>
		changeToken(files, ([header, , signature]) => [header, encoded({ files: [] }), signature]),
	'has a signature file that is not JSON': (files) => files.set('.signatures.json', Buffer.from('{')),
	'has a very large signature file': (files) => files.set('.signatures.json', Buffer.alloc(100_000, ' ')),
};

type Token = [header: string, payload: string, signature: string];

function changeToken(files: Map<string, Uint8Array>, change: (token: Token) => Token): void {
	const { signatures } = JSON.parse(Buffer.from(files.get('.signatures.json') ?? []).toString());
	const token = change((signatures[0] as string).split('.') as Token).join('.');
	files.set('.signatures.json', Buffer.from(JSON.stringify({ signatures: [token] })));
}

function encoded(value: unknown): string {
	return Buffer.from(JSON.stringify(value)).toString('base64url');
}

test('a tampered bundle is rejected', async (t) => {
	const keys = makeKeys(temporary(t), 'key');
	const verify = await createBundleVerifier([keys.publicKey]);
	const bytes = await (await signingPacker(keys.privatePath)).pack(oddFiles);
	await verify(await unpack(bytes), run);
	for (const [name, tamper] of Object.entries(tampered)) {
		const files = new Map(await unpack(bytes));
		tamper(files);
		await t.throwsAsync(verify(files, run), { instanceOf: SignatureError }, name);
	}
	const other = await createBundleVerifier([makeKeys(temporary(t), 'other').publicKey]);
	await t.throwsAsync(other(await unpack(bytes), run), { message: /not signed by a trusted key/ });
	const plain = await pack(oddFiles);
	await t.throwsAsync(verify(await unpack(plain), run), { message: 'the bundle is not signed' });
});

test('a large file is hashed in slices', async (t) => {
	let slices = 0;
	const counting: Run = async (steps) => {
		for (;;) {
			const step = steps.next();
			if (step.done) return step.value;
			slices += 1;
		}
	};
	const large = Buffer.alloc(10_000_000, 'large');
	t.is(await sha256(large, counting), createHash('sha256').update(large).digest('hex'));
	t.true(slices > 30);
});

const odderText = fc
	.array(fc.constantFrom(...oddTexts, '\ud800', 'a', '1'), { maxLength: 3 })
	.map((texts) => texts.join(''));
const oddJson = fc.letrec<{ readonly value: Json }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3 },
		odderText,
		fc.double({ noNaN: true, noDefaultInfinity: true }),
		fc.constantFrom(null, true, false),
		fc.array(tie('value'), { maxLength: 3 }),
		fc.dictionary(odderText, tie('value'), { maxKeys: 4 }),
	),
})).value;

test('every document recognized as canonical is canonical', (t) => {
	let canonical = 0;
	fc.assert(
		fc.property(oddJson, (value) => {
			const bytes = Buffer.from(canonicalText({ value }));
			const rewritten = Buffer.from(canonicalJson(bytes));
			t.deepEqual(Buffer.from(canonicalJson(rewritten)), rewritten);
			if (!isCanonicalDocument(bytes)) return;
			canonical += 1;
			t.deepEqual(rewritten, bytes);
		}),
	);
	t.true(canonical > 0);
});

test('a large document is canonicalized while other work runs', async (t) => {
	const members = Array.from({ length: 20_000 }, (_, index) => [`${oddTexts[index % oddTexts.length]}${index}`, index]);
	const bytes = Buffer.from(canonicalText({ value: Object.fromEntries(members) }));
	t.false(isCanonicalDocument(bytes));
	const ports = () => process.getActiveResourcesInfo().filter((resource) => resource === 'MessagePort').length;
	const before = ports();
	const writing = inCanonicalForm(bytes);
	t.is(ports(), before + 1, 'a thread canonicalizes it');
	t.deepEqual(Buffer.from(await writing), Buffer.from(canonicalJson(bytes)));
	await t.throwsAsync(inCanonicalForm(bytes.subarray(1)), { any: true, message: /JSON/ });
});

test('an unusable key is reported with its setting', async (t) => {
	const folder = temporary(t);
	const good = makeKeys(folder, 'good');
	const written = (name: string, pem: string | Buffer) => {
		const path = join(folder, name);
		writeFileSync(path, pem);
		return path;
	};
	const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
	const edwards = generateKeyPairSync('ed25519');
	const signing = [
		join(folder, 'missing'),
		written('text', 'no key'),
		good.publicPath,
		written('edwards', edwards.privateKey.export(pkcs8)),
		written('curve', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export(pkcs8)),
		written('short', generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export(pkcs8)),
	];
	for (const key_path of signing) {
		const error = await t.throwsAsync(
			readBundleSigner({ key_path, key_id: 'one' }),
			{ instanceOf: ConfigError },
			key_path,
		);
		t.regex(error?.message ?? '', /^BUNDLE_SIGNING_KEY_PATH: /);
	}
	const verifying = [
		join(folder, 'missing'),
		written('text', 'no key'),
		good.privatePath,
		written('edwards.pub', edwards.publicKey.export({ type: 'spki', format: 'pem' })),
	];
	for (const path of verifying) {
		const error = await t.throwsAsync(readBundleVerifier([good.publicPath, path]), { instanceOf: ConfigError }, path);
		t.regex(error?.message ?? '', /^PDP_BUNDLE_VERIFICATION_KEY_PATHS: /);
		t.true(error?.message.includes(path));
	}
	t.is(await readBundleVerifier([]), undefined);
});

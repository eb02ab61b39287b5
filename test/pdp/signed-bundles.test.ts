import test, { type ExecutionContext } from 'ava';
import { createBundleVerifier } from '../../src/pdp/follow/bundle-verifier.js';
import type { BundlePacker } from '../../src/publish/bundle-packer.js';
import { eventually } from '../support/eventually.js';
import { makeKeys, signed, signingPacker } from '../support/signing-keys.js';
import { temporary } from '../support/temporary.js';
import { acme, acmeWithInvoices, assign, policyWasm, snapshot, step } from './environment.js';
import { type Served, serve } from './served.js';

/** A decision point with verification keys uses only bundles signed with a trusted key. */

const benWrites = { user: 'ben', action: 'write', resource: { type: 'document', tenant: 'acme' } };
const patches = assign('ben', 'acme', ['editor']);

interface Guarded extends Served {
	readonly signs: BundlePacker;
	/** Signs with the previous key, which is also trusted. */
	readonly signedBefore: BundlePacker;
	/** Signs with an untrusted key. */
	readonly forges: BundlePacker;
}

/** Starts a decision point that trusts the current and the previous signing key. */
async function guarded(t: ExecutionContext): Promise<Guarded> {
	const folder = temporary(t);
	const [old, current, foreign] = [
		makeKeys(folder, 'old'),
		makeKeys(folder, 'new', 'RS256'),
		makeKeys(folder, 'foreign'),
	];
	const verify = await createBundleVerifier([old.publicKey, current.publicKey]);
	return {
		...(await serve(t, { verify })),
		signs: await signingPacker(current.privatePath),
		signedBefore: await signingPacker(old.privatePath),
		forges: await signingPacker(foreign.privatePath),
	};
}

/** Waits until a decision point has detected an untrusted bundle. */
async function distrusted({ http }: Served, state: 'starting' | 'stale'): Promise<void> {
	const { body } = await eventually(
		() => http.get('/healthy'),
		(answer) => answer.body['detail'] !== null,
	);
	if (body['state'] !== state) throw new Error(`the state is ${body['state']}`);
}

test('without loaded data, an incorrectly signed bundle causes a 503', async (t) => {
	const point = await guarded(t);
	const { feed, http, signs, forges } = point;
	const plain = await snapshot({ revision: 1, model: acme });
	for (const bytes of [plain, await signed(forges, plain)]) {
		feed.publish({ revision: 1, snapshot: bytes });
		await distrusted(point, 'starting');
		const { status, body } = await http.post('/allowed', benWrites);
		t.is(status, 503);
		t.regex(String(body['detail']), /sign/);
		t.is((await http.get('/ready')).status, 503);
	}
	feed.publish({ revision: 1, snapshot: await signed(signs, plain) });
	await point.replica.reached(1);
	t.like((await http.get('/ready')).body, { status: 'ok', state: 'ready', detail: null });
});

for (const kind of ['delta', 'policy', 'snapshot'] as const) {
	test(`an incorrectly signed ${kind} is not used, and the current revision stays in use`, async (t) => {
		const point = await guarded(t);
		const { feed, http, signs, forges, replica } = point;
		feed.publish({ revision: 1, snapshot: await signed(signs, await snapshot({ revision: 1, model: acme })) });
		await replica.reached(1);
		const next =
			kind === 'snapshot'
				? await snapshot({ revision: 2, model: acmeWithInvoices })
				: await step({
						base: 1,
						revision: 2,
						patches,
						...(kind === 'policy' ? { wasm: await policyWasm(acmeWithInvoices) } : {}),
					});
		const publish = (bytes: Uint8Array) =>
			feed.publish({ revision: 2, snapshot: bytes, ...(kind === 'snapshot' ? {} : { step: bytes }) });
		publish(await signed(forges, next));
		await distrusted(point, 'stale');
		const answer = await http.post('/allowed', benWrites);
		t.deepEqual([answer.status, answer.body['allow'], answer.revision], [200, false, 1]);
		t.is((await http.get('/ready')).status, 200);
		const whole = await snapshot({ revision: 3, model: acme });
		feed.publish({ revision: 3, snapshot: await signed(signs, whole) });
		await replica.reached(3);
		t.like((await http.get('/healthy')).body, { state: 'ready', detail: null });
	});

	test(`a signed ${kind} is used`, async (t) => {
		const { feed, http, signs, replica } = await guarded(t);
		feed.publish({ revision: 1, snapshot: await signed(signs, await snapshot({ revision: 1, model: acme })) });
		await replica.reached(1);
		const wasm = await policyWasm(acmeWithInvoices);
		const whole = await signed(signs, await snapshot({ revision: 2, model: acmeWithInvoices }));
		const parts = { base: 1, revision: 2, patches };
		const steps = {
			delta: async () => signed(signs, await step(parts)),
			policy: async () => signed(signs, await step({ ...parts, wasm })),
		};
		feed.publish(
			kind === 'snapshot'
				? { revision: 2, snapshot: whole }
				: { revision: 2, snapshot: whole, step: await steps[kind]() },
		);
		await replica.reached(2);
		t.is((await http.post('/allowed', benWrites)).body['allow'], kind !== 'snapshot');
	});
}

test('the signing key can be rotated while a decision point trusts both keys, and no bundle is rejected', async (t) => {
	const { feed, http, replica, signs, signedBefore } = await guarded(t);
	feed.publish({ revision: 1, snapshot: await signed(signedBefore, await snapshot({ revision: 1, model: acme })) });
	await replica.reached(1);
	const seen = feed.seen.length;
	feed.publish({
		revision: 2,
		snapshot: await signed(signs, await snapshot({ revision: 2, model: acme })),
		step: await signed(signs, await step({ base: 1, revision: 2, patches })),
	});
	await replica.reached(2);
	t.is((await http.post('/allowed', benWrites)).body['allow'], true);
	t.like((await http.get('/healthy')).body, { state: 'ready', detail: null });
	t.true(
		feed.seen.slice(seen).every(({ etag }) => etag !== undefined),
		'the step continues the snapshot',
	);
});

test('without verification keys, a signed bundle is used like an unsigned bundle', async (t) => {
	const { feed, http, replica } = await serve(t);
	const packer = await signingPacker(makeKeys(temporary(t), 'key').privatePath);
	feed.publish({ revision: 1, snapshot: await signed(packer, await snapshot({ revision: 1, model: acme })) });
	await replica.reached(1);
	t.is((await http.post('/allowed', benWrites)).status, 200);
});

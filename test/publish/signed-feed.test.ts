import test from 'ava';
import { runToEnd } from '../../compiler/steps.js';
import { type BundleFile, unpack } from '../../src/bundle/bundle.js';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { createBundleVerifier } from '../../src/pdp/follow/bundle-verifier.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startOpa } from '../support/opa.js';
import { createDatabase } from '../support/postgres.js';
import { makeKeys } from '../support/signing-keys.js';
import { secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * An API signs its bundles. Decision points and a stock OPA with the public key follow its feed, even when the key
 * changes.
 */

test('a decision point and a stock OPA verify the bundles in the feed, even when the key is rotated', async (t) => {
	const folder = temporary(t);
	const [old, next] = [makeKeys(folder, 'old'), makeKeys(folder, 'next')];
	const database = await createDatabase();
	const own = {
		...settings(folder, 'signed'),
		DATABASE_URL: database.url,
		PDP_BUNDLE_VERIFICATION_KEY_PATHS: `${old.publicPath}, ${next.publicPath}`,
	};
	const log = createLogger('silent');
	const signing = (key: { readonly privatePath: string }) =>
		readConfig({ ...own, BUNDLE_SIGNING_KEY_PATH: key.privatePath, BUNDLE_SIGNING_KEY_ID: 'trusted' });
	const running: { api: RunningApi } = { api: await startApi(signing(old), log) };
	t.teardown(async () => {
		await running.api.stop();
		await database.drop();
	});
	const secret = secretFor('signed-environment');
	const api = () => client(running.api.listening.url, secret);
	const written = async (path: string, body: unknown) => {
		const { status, revision = 0 } = await api().post(`/v2/facts/default/dev/${path}`, body);
		t.is(status, 200);
		return revision;
	};
	const id = String((await api().get('/v2/api-key/scope')).body['environment_id']);
	const bundle = async (path: string): Promise<readonly BundleFile[]> => {
		const headers = { authorization: `Bearer ${secret}` };
		const answer = await fetch(`${running.api.listening.url}/bundles/${id}${path}`, { headers });
		const files = await unpack(new Uint8Array(await answer.arrayBuffer()));
		return [...files].map(([name, bytes]) => ({ path: name, bytes }));
	};
	const signedBy = async (key: { readonly publicKey: string }, files: readonly BundleFile[]) => {
		const verify = await createBundleVerifier([key.publicKey]);
		await verify(new Map(files.map(({ path, bytes }) => [path, bytes])), async (steps) => runToEnd(steps));
	};

	const config = readConfig(own);
	const decisionPoint = await startDecisionPoint(config, log, running.api.listening.url, secret);
	t.teardown(() => decisionPoint.stop());
	const opa = await startOpa(folder, {
		url: running.api.listening.url,
		resource: `bundles/${id}/rego`,
		apiKey: secret,
		verificationKey: old.publicKey,
	});
	t.teardown(opa.stop);
	const followed = async (revision: number) => {
		await decisionPoint.replica.reached(revision);
		await eventually(
			() => opa.revision(),
			(seen) => seen === String(revision),
		);
	};
	await followed(await written('users', { key: 'ann' }));
	// Names that JavaScript and Go sort and write differently.
	const attributes = { '\uff21': 'wide', '😀': 'beyond', line: 'one\u2028two' };
	await followed(await written('tenants', { key: 'odd', name: 'Odd', attributes }));
	t.is(await opa.lastBundle(), 'snapshot', 'a stock OPA with a key accepts no deltas');
	t.is(decisionPoint.replica.state.kind, 'ready');
	t.deepEqual(await opa.data('regolith/facts/tenants/odd'), attributes);

	for (const path of ['', '/rego']) await signedBy(old, await bundle(path));
	await running.api.stop();
	running.api = await startApi(signing(next), log);
	for (const path of ['', '/rego']) {
		const files = await bundle(path);
		await signedBy(next, files);
		await t.throwsAsync(signedBy(old, files), { message: /not signed by a trusted key/ });
	}
	await running.api.stop();
	running.api = await startApi(config, log);
	const paths = (await bundle('')).map(({ path }) => path);
	t.deepEqual(paths.sort(), ['.manifest', 'data.json', 'policy.wasm'], 'a signed snapshot is not sent unsigned');
});

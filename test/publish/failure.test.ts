import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startApi, startDecisionPoint } from '../../src/compose.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { facts, schema, settings } from '../support/stack.js';
import { type OpaMood, switchableOpa } from '../support/switchable-opa.js';
import { temporary } from '../support/temporary.js';

/** What becomes of an environment whose schema does not compile: the old policy stays, and facts go on. */

async function start(t: ExecutionContext, folder: string, opa: string) {
	const config = readConfig({ ...settings(folder, 'failure'), OPA_PATH: opa });
	const log = createLogger('silent');
	const api = await startApi(config, log);
	const key = config.bootstrap.environment ?? '';
	const decisionPoint = await startDecisionPoint(config, log, api.listening.url, key);
	let stopped = false;
	const stop = async () => {
		if (stopped) return;
		stopped = true;
		await decisionPoint.stop();
		await api.stop();
	};
	t.teardown(stop);
	const environment = client(api.listening.url, key);
	const pdp = client(decisionPoint.listening.url, key);
	const allowed = async (action: string, type = 'document') => {
		const query = { user: 'ann', action, resource: { type, tenant: 'default' } };
		return (await pdp.post<{ allow: boolean }>('/allowed', query)).body.allow;
	};
	const policy = async () => {
		const path = '/v2/projects/default/dev/policy';
		const { body } = await environment.get<{ hash: string; failure: { message: string; revision: number } | null }>(
			path,
		);
		return body;
	};
	return {
		api,
		environment,
		allowed,
		policy,
		reached: decisionPoint.replica.reached.bind(decisionPoint.replica),
		policyReached: decisionPoint.replica.policyReached.bind(decisionPoint.replica),
		stop,
	};
}

type Started = Awaited<ReturnType<typeof start>>;

async function populate({ environment, reached }: Started): Promise<void> {
	await environment.post(`${schema}/resources`, {
		key: 'document',
		name: 'Document',
		actions: { read: {}, write: {} },
	});
	await environment.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	const { revision } = await environment.post(`${facts}/users`, {
		key: 'ann',
		role_assignments: [{ role: 'viewer', tenant: 'default' }],
	});
	await reached(revision ?? 0);
}

const invoice = { key: 'invoice', name: 'Invoice', actions: { read: {} } };
const assignment = { user: 'ann', role: 'viewer', tenant: 'default' };

for (const mood of ['fails', 'writes an invalid module'] satisfies OpaMood[]) {
	test(`when opa ${mood}, the policy before stays in force, the failure shows, and revocations arrive`, async (t) => {
		const folder = temporary(t);
		const opa = switchableOpa(folder);
		const started = await start(t, folder, opa.path);
		await populate(started);
		t.true(await started.allowed('read'));
		const before = await started.policy();
		t.is(before.failure, null);

		opa.set(mood);
		const broken = await started.environment.post(`${schema}/resources`, invoice);
		t.is(broken.status, 200);
		await started.reached(broken.revision ?? 0);
		t.true(await started.allowed('read'), 'what was allowed still is');
		t.false(await started.allowed('read', 'invoice'), 'what is new is denied until it compiles');
		const failed = await eventually(started.policy, ({ failure }) => failure !== null);
		t.is(failed.hash, before.hash);
		t.is(failed.failure?.revision, broken.revision);
		t.truthy(failed.failure?.message);

		const revoked = await started.environment.delete(`${facts}/role_assignments`, assignment);
		t.is(revoked.status, 204);
		await started.reached(revoked.revision ?? 0);
		t.false(await started.allowed('read'), 'a revocation does not wait for a policy that compiles');

		opa.set('real');
		await started.environment.post(`${schema}/roles/viewer/permissions`, { permissions: ['invoice:read'] });
		const healed = await started.environment.post(`${facts}/role_assignments`, assignment);
		await started.policyReached(healed.revision ?? 0);
		t.true(await started.allowed('read', 'invoice'));
		t.is((await started.policy()).failure, null);
	});
}

test('facts do not wait for a compilation that takes long, and the policy follows at the same revision', async (t) => {
	const folder = temporary(t);
	const opa = switchableOpa(folder);
	const started = await start(t, folder, opa.path);
	await populate(started);
	opa.set('is slow');
	await started.environment.post(`${schema}/resources`, invoice);
	await started.environment.post(`${schema}/roles/viewer/permissions`, { permissions: ['invoice:read'] });
	const revoked = await started.environment.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await started.reached(revoked.revision ?? 0);
	t.false(await started.allowed('read', 'invoice'), 'the facts came before the policy');
	t.true(await started.allowed('read'));
	await eventually(() => started.allowed('read', 'invoice'));
});

test('a newer Regolith whose Rego does not compile keeps serving the policy of the older one', async (t) => {
	const folder = temporary(t);
	const opa = switchableOpa(folder);
	const older = await start(t, folder, opa.path);
	await populate(older);
	const { hash } = await older.policy();
	await older.stop();

	opa.set('is newer and fails');
	const newer = await start(t, folder, opa.path);
	await eventually(() => newer.allowed('read'));
	const policy = await newer.policy();
	t.is(policy.hash, hash);
	t.regex(policy.failure?.message ?? '', /opa/);
});

test('nothing of a deleted environment stays in the bundle folder', async (t) => {
	const folder = temporary(t);
	const started = await start(t, folder, switchableOpa(folder).path);
	await populate(started);
	const { body } = await started.environment.get<{ environment_id: string }>('/v2/api-key/scope');
	const kept = join(folder, 'bundles', body.environment_id);
	t.true(existsSync(kept));
	t.is((await started.environment.delete('/v2/projects/default/envs/dev')).status, 204);
	await eventually(() => !existsSync(kept));
	t.pass();
});

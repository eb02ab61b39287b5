import test, { type ExecutionContext } from 'ava';
import { startApi } from '../../src/compose/api.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { client } from '../support/client.js';
import { askImpact, fillImpactWorld, impactLines, type WrittenChange } from '../support/impact-world.js';
import { newPlace, type Place } from '../support/management.js';
import { createDatabase } from '../support/postgres.js';
import { neverSwept, settings } from '../support/stack.js';
import { switchableOpa } from '../support/switchable-opa.js';
import { temporary } from '../support/temporary.js';

/**
 * Drafts whose schema does not compile, and drafts while an older policy is active. The tests are serial, because AVA
 * runs serial tests before all other tests in the process. Other tests run many stacks at the same time, so that a
 * trial in these tests could exceed its time limit of 10 s.
 */

async function start(t: ExecutionContext) {
	const database = await createDatabase();
	t.teardown(database.drop);
	const folder = temporary(t);
	const opa = switchableOpa(folder);
	const config = readConfig({ ...settings(folder, 'drafted'), DATABASE_URL: database.url, OPA_PATH: opa.path });
	const api = await startApi(config, createLogger('silent'), { policyWait: 60_000, sweepPause: neverSwept });
	t.teardown(api.stop);
	const url = api.listening.url;
	const place = await newPlace({ url, store: api.store }, client(url, config.bootstrap.organization ?? ''));
	await fillImpactWorld(place);
	const policies = async () => {
		const [row] = await api.store.database.knex('policies').count<{ total: number }[]>('* as total');
		return row?.total;
	};
	return { place, opa, policies };
}

const invoice: WrittenChange = {
	kind: 'resource',
	operation: 'create',
	key: 'invoice',
	value: { name: 'Invoice', actions: { read: {} } },
};
const readers: WrittenChange = {
	kind: 'role',
	operation: 'update',
	key: 'editor',
	value: { name: 'Editor', permissions: ['document:read', 'document:write', 'invoice:read'] },
};

async function messages(place: Place, changes: readonly WrittenChange[]) {
	const { status, body } = await askImpact(place, changes);
	return { status, text: JSON.stringify(body) };
}

test.serial('a draft that does not compile gets the compiler’s message; facts are not compiled', async (t) => {
	const { place, opa, policies } = await start(t);
	t.deepEqual(impactLines((await askImpact(place, [invoice, readers])).body), ['+ ann read invoice in acme']);
	const stored = await policies();
	t.deepEqual(impactLines((await askImpact(place, [invoice])).body), []);
	t.is(await policies(), stored, 'a policy compiled for a draft is not stored');
	opa.set('fails');
	t.deepEqual(impactLines((await askImpact(place, [invoice, readers])).body), ['+ ann read invoice in acme'], 'known');
	const other = { ...invoice, key: 'letter' };
	const refused = await messages(place, [other]);
	t.is(refused.status, 422, refused.text);
	t.regex(refused.text, /"loc":\["body","draft"\].*out of mood/);
	const gone = { kind: 'user', operation: 'delete', key: 'ann' };
	t.is((await askImpact(place, [gone])).body.counts.lost, 6);
	opa.set('is slow');
	t.is((await askImpact(place, [gone])).status, 200);
});

test.serial('objects that do not compile are omitted and listed, and all checks are compared', async (t) => {
	const { place, opa } = await start(t);
	opa.set('refuses the set bad');
	const bad: WrittenChange = {
		kind: 'condition_set',
		operation: 'create',
		key: 'bad',
		value: { name: 'Bad', type: 'userset', conditions: { 'user.department': { equals: 'sales' } } },
	};
	const rule: WrittenChange = {
		kind: 'condition_set_rule',
		operation: 'create',
		value: { user_set: 'bad', permission: 'document:read', resource_set: 'drafts' },
	};
	const { status, body } = await askImpact(place, [bad, rule, invoice, readers]);
	t.is(status, 200, JSON.stringify(body));
	t.deepEqual(
		body.left_out.map(({ object }) => object),
		['user set `bad`'],
	);
	t.deepEqual(impactLines(body), ['+ ann read invoice in acme']);
	t.true(body.counts.asked > 50, 'all checks are compared, because the tables do not show the omitted objects');
});

test.serial('while the newest schema has no policy, a draft is compared with the active policy', async (t) => {
	const { place, opa } = await start(t);
	await askImpact(place, []);
	opa.set('fails');
	const made = await place.http.post(`${place.schema}/resources`, {
		key: 'invoice',
		name: 'Invoice',
		actions: { read: {} },
	});
	t.is(made.status, 200);
	// This request waits until the compilation has failed.
	t.deepEqual(impactLines((await askImpact(place, [])).body), []);
	t.is((await messages(place, [readers])).status, 422);
	opa.set('real');
	const { body } = await askImpact(place, [readers]);
	t.deepEqual(impactLines(body), ['+ ann read invoice in acme']);
	t.is(body.gains[0]?.before.code, 'policy_pending');
	const gone = { kind: 'role_assignment', operation: 'delete', value: { user: 'ann', role: 'editor', tenant: 'acme' } };
	t.is((await askImpact(place, [gone])).body.counts.lost, 6);
});

// @alone @rest

import test from 'ava';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { newPlace, type Place } from '../support/management.js';
import { provideDatabase } from '../support/postgres.js';
import { neverSwept, settings } from '../support/stack.js';
import { type SwitchableOpa, switchableOpa } from '../support/switchable-opa.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';

/** A policy's generated tests, run by the API. */

interface Site {
	readonly api: RunningApi;
	readonly opa: SwitchableOpa;
	readonly place: () => Promise<Place>;
	readonly stop: () => Promise<void>;
}

async function startSite(policyTestTime?: number): Promise<Site> {
	const folder = temporaryFolder();
	const database = await provideDatabase('server', folder);
	const opa = switchableOpa(folder);
	const given = { ...settings(folder, 'tests'), DATABASE_URL: database.url, OPA_PATH: opa.path };
	const config = readConfig(given);
	const api = await startApi(config, createLogger(config.log_level), {
		policyWait: 120_000,
		sweepPause: neverSwept,
		...(policyTestTime === undefined ? {} : { policyTestTime }),
	});
	const { url } = api.listening;
	const owner = client(url, config.bootstrap.project ?? '');
	return {
		api,
		opa,
		place: () => newPlace({ url, store: api.store }, owner),
		async stop() {
			await api.stop();
			await database.drop();
			removeFolder(folder);
		},
	};
}

let site: Site;

test.before('start', async () => {
	site = await startSite();
});

test.after.always('stop', async () => {
	await site?.stop();
});

interface Results {
	readonly schema_revision: number;
	readonly hash: string;
	readonly passed: number;
	readonly failed: number;
	readonly truncated: boolean;
	readonly tests: readonly { readonly name: string; readonly file: string; readonly row: number }[];
}

const policies = ({ project, key }: Place) => `/v2/projects/${project}/envs/${key}/policies`;

const ask = (place: Place, revision: number | string) =>
	place.http.get<Results>(`${policies(place)}/${revision}/tests`);

/** Creates a resource unique to the test, waits until its policy is published, and returns the revision. */
async function published(place: Place, key: string): Promise<number> {
	const resource = { key, name: key, actions: { read: {}, write: {} } };
	const { revision = 0 } = await place.http.post(`${place.schema}/resources`, resource);
	return compiled(place, revision);
}

async function compiled(place: Place, revision: number): Promise<number> {
	const current = () => place.http.get<{ compiled_revision: number }>(`/v2/projects/default/${place.key}/policy`);
	await eventually(
		async () => (await current()).body.compiled_revision,
		(reached) => reached >= revision,
	);
	return revision;
}

test.serial('a policy’s generated tests pass, and are run only once', async (t) => {
	const place = await site.place();
	const revision = await published(place, 'plan');
	const before = site.opa.tested();
	const answers = await Promise.all([ask(place, revision), ask(place, revision)]);
	const [{ status, body }, other] = answers;
	t.is(status, 200, JSON.stringify(body));
	t.deepEqual(other.body, body);
	t.like(body, { schema_revision: revision, failed: 0, truncated: false });
	t.true(body.passed > 0);
	t.is(body.tests.length, body.passed);
	const names = body.tests.map(({ name }) => name);
	t.deepEqual(names, [...names].sort());
	const policy = await place.http.get<{ hash: string; files: readonly { path: string; text: string }[] }>(
		`${policies(place)}/${revision}`,
	);
	t.is(policy.body.hash, body.hash);
	for (const { name, file, row } of body.tests) {
		const line = policy.body.files.find(({ path }) => path === file)?.text.split('\n')[row - 1] ?? '';
		t.true(line.includes(name.split('.').at(-1) ?? '?'), `${file}:${row} is ${name}`);
	}
	t.deepEqual((await ask(place, revision)).body, body);
	t.is(site.opa.tested(), before + 1);
});

test.serial('policies with the same hash but different tables are tested separately', async (t) => {
	const place = await site.place();
	const first = await published(place, 'sheet');
	const role = { key: 'reader', name: 'Reader', permissions: ['sheet:read'] };
	const { revision = 0 } = await place.http.post(`${place.schema}/roles`, role);
	const second = await compiled(place, revision);
	const [before, after] = [(await ask(place, first)).body, (await ask(place, second)).body];
	t.is(before.hash, after.hash);
	t.is(after.failed, 0);
	t.notDeepEqual(before.tests, after.tests);
});

test.serial('missing revisions have no tests', async (t) => {
	const place = await site.place();
	const revision = await published(place, 'note');
	for (const reference of [String(revision + 1), 'newest', '-1', '9'.repeat(16)]) {
		fails(t, await ask(place, reference), 404, reference);
	}
});

test.serial('failed tests are listed first, and do not make the request fail', async (t) => {
	const place = await site.place();
	const revision = await published(place, 'memo');
	site.opa.set('fails one test');
	const { status, body } = await ask(place, revision);
	site.opa.set('real');
	t.is(status, 200, JSON.stringify(body));
	t.like(body, { passed: 1, failed: 1 });
	t.deepEqual(body.tests, [
		{ name: 'data.c.test_bad', file: 'c_test.rego', row: 3, passed: false, error: null },
		{ name: 'data.b.test_good', file: 'b_test.rego', row: 2, passed: true, error: null },
	] as readonly object[] as typeof body.tests);
});

test.serial('a broken opa is reported, and the next request tries again', async (t) => {
	const place = await site.place();
	const revision = await published(place, 'book');
	site.opa.set('fails in tests');
	const broken = await ask(place, revision);
	site.opa.set('real');
	t.is(broken.status, 503);
	t.regex(JSON.stringify(broken.body), /the tests cannot run: .*out of mood/);
	t.is((await ask(place, revision)).status, 200);
});

test.serial('slow tests give an error with the alternative, and a full queue rejects requests', async (t) => {
	const slow = await startSite(3_000);
	t.teardown(slow.stop);
	const place = await slow.place();
	const revisions = [];
	for (const key of ['one', 'two', 'three', 'four']) revisions.push(await published(place, key));
	slow.opa.set('hangs in tests');
	const answers = await Promise.all(revisions.map((revision) => ask(place, revision)));
	t.deepEqual(answers.map(({ status }) => status).sort(), [429, 503, 503, 503]);
	t.is(answers.find(({ status }) => status === 429)?.headers.get('retry-after'), '5');
	for (const { status, body } of answers) {
		if (status === 503) t.regex(JSON.stringify(body), /take more than 3 s.*regolith test/);
	}
	slow.opa.set('real');
});

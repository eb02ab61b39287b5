// @rest

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { layout } from '../../compiler/index.js';
import { companionFiles } from '../../src/publish/companion-files.js';
import { maxRemembered } from '../../src/store/policy/policy-history.js';
import { PolicyStore } from '../../src/store/policy/policy-store.js';
import { chosenStores, stackOnEachStore } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { newPlace, type Place } from '../support/management.js';
import { opaPath } from '../support/opa.js';
import { launch } from '../support/processes.js';
import type { Stack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** An environment's policies can be listed, read at a revision, written to a folder, and compared. */

interface Listed {
	readonly data: readonly { readonly schema_revision: number; readonly hash: string; readonly published_at: string }[];
	readonly total_count: number;
	readonly page_count: number;
}

interface Past {
	readonly schema_revision: number;
	readonly hash: string;
	readonly files: readonly { readonly path: string; readonly text: string }[];
}

const stackOn = stackOnEachStore();

/** Declares a test on both stores with a new environment. */
function journey(title: string, run: (t: ExecutionContext, place: Place, stack: Stack) => Promise<void>): void {
	for (const kind of chosenStores()) {
		test(`${title} [${kind}]`, async (t) => {
			const stack = stackOn(kind);
			const { listening, store } = stack.api;
			await run(t, await newPlace({ url: listening.url, store }, stack.project), stack);
		});
	}
}

const policiesPath = ({ project, key }: Place) => `/v2/projects/${project}/envs/${key}/policies`;

/** Sends a write, waits until its policy is published, and returns the revision. */
async function published(place: Place, method: string, path: string, body?: unknown): Promise<number> {
	const { status, revision, body: answer } = await place.http.send(method, path, body);
	if (status >= 300 || revision === undefined) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
	const current = () => place.http.get<{ compiled_revision: number }>(`/v2/projects/default/${place.key}/policy`);
	await eventually(
		async () => (await current()).body.compiled_revision,
		(compiled) => compiled >= revision,
	);
	return revision;
}

const document = { key: 'document', name: 'Document', actions: { read: {}, write: {} } };

const filePaths = ({ files }: Past) => files.map(({ path }) => path);

const permits = 'regolith/resources/document/permits.rego';

journey('every compiled schema has its policy in the list, newest first', async (t, place) => {
	const { http, schema, facts } = place;
	const first = await published(place, 'POST', `${schema}/resources`, document);
	const role = { key: 'viewer', name: 'Viewer', permissions: ['document:read'] };
	const second = await published(place, 'POST', `${schema}/roles`, role);
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const third = await published(place, 'DELETE', `${schema}/resources/document/actions/write`);

	const { body } = await http.get<Listed>(`${policiesPath(place)}?per_page=2`);
	t.deepEqual(
		body.data.map(({ schema_revision }) => schema_revision),
		[third, second],
	);
	t.true(body.total_count >= 3);
	t.is(body.page_count, Math.ceil(body.total_count / 2));
	const policy = await http.get<{ hash: string; published_at: string }>(`/v2/projects/default/${place.key}/policy`);
	t.like(body.data[0], { hash: policy.body.hash, published_at: policy.body.published_at });
	t.not(body.data[0]?.hash, body.data[1]?.hash);

	const at = async (revision: number) => (await http.get<Past>(`${policiesPath(place)}/${revision}`)).body;
	const [before, after, between, last] = [await at(first), await at(second), await at(third - 1), await at(third)];
	t.is(before.hash, after.hash, 'role permissions are not Rego');
	t.deepEqual(between, after, 'a fact revision has the previous schema’s policy');
	t.is(last.schema_revision, third);
	t.deepEqual(filePaths(last), [...filePaths(last)].sort());
	for (const path of [permits, 'regolith/check/check.rego', 'regolith/schema/data.json', 'regolith/schema_test.rego']) {
		t.true(filePaths(last).includes(path), path);
	}
	const tables = ({ files }: Past) =>
		JSON.parse(files.find(({ path }) => path === 'regolith/schema/data.json')?.text ?? '');
	t.deepEqual(tables(before).grants, {});
	t.deepEqual(tables(after).grants, { document: { read: { viewer: null } } });
});

journey('missing, future and other environments’ revisions have no policy', async (t, place, stack) => {
	const { http, schema } = place;
	const revision = await published(place, 'POST', `${schema}/resources`, document);
	for (const reference of [String(revision + 1), '-1', 'newest', '1.5', '9'.repeat(15), '9'.repeat(16), '0x1']) {
		fails(t, await http.get(`${policiesPath(place)}/${reference}`), 404, reference);
	}
	const foreign = await newPlace(place, stack.project);
	t.is((await http.get(`${policiesPath(foreign)}/1`)).status, 403);
	t.is((await http.get(policiesPath(foreign))).status, 403);
	t.deepEqual((await http.get<Listed>(`${policiesPath(place)}?page=9`)).body.data, []);
});

const empty = { condition_sets: [], set_rules: [], resources: [], roles: [] };

journey(
	'Rego with a different layout is returned without tables and tests, and output from an earlier version is kept',
	async (t, place) => {
		const { http, id, store } = place;
		const revision = await published(place, 'POST', `${place.schema}/resources`, document);
		const files = async () => (await http.get<Past>(`${policiesPath(place)}/${revision}`)).body.files;
		const all = await files();
		t.true(all.some(({ path }) => path === 'regolith/schema/data.json'));
		t.true(all.some(({ path }) => path.endsWith('_test.rego')));
		const row = store.database.knex('policy_revisions').where({ environment_id: id, schema_revision: revision });
		await row.clone().update({ layout: layout - 1 });
		t.deepEqual(
			(await files()).map(({ path }) => path),
			all.map(({ path }) => path).filter((path) => !/schema(_test)?[./]/.test(path)),
		);
		const before = [{ path: 'regolith/schema/data.json', text: '{}' }];
		await row.clone().update({ layout: null, schema: null, files: JSON.stringify(before) });
		t.deepEqual(
			(await files()).filter(({ path }) => path.startsWith('regolith/schema/')),
			before,
		);
	},
);

journey('only the newest policies are kept', async (t, place) => {
	const { http, id, store } = place;
	const { history } = new PolicyStore(store.database.knex, companionFiles);
	const newest = await published(place, 'POST', `${place.schema}/resources`, document);
	const { hash: digest } = (await http.get<Past>(`${policiesPath(place)}/${newest}`)).body;
	const remembered = { environment_id: id, digest, files: '[]', published_at: store.clock.now() };
	const first = 1_000_000;
	const many = Array.from({ length: maxRemembered }, (_, index) => ({
		...remembered,
		schema_revision: first + index,
	}));
	for (let start = 0; start < many.length; start += 500) {
		await store.database.knex('policy_revisions').insert(many.slice(start, start + 500));
	}
	const total = async () => (await http.get<Listed>(policiesPath(place))).body.total_count;
	t.true((await total()) > maxRemembered);
	t.is((await history.at(id, newest))?.schema_revision, newest);
	const last = { digest, schema_revision: first + maxRemembered, published_at: store.clock.now(), layout };
	await history.remember(id, last, empty);
	t.is(await total(), maxRemembered);
	t.is((await history.at(id, 2 * first))?.schema_revision, last.schema_revision);
	t.is(await history.at(id, first), null);
	fails(t, await http.get(`${policiesPath(place)}/${newest}`), 404, String(newest));
	await t.throwsAsync(history.remember(store.clock.newId(), { ...last, schema_revision: 1 }, empty), {
		message: /Environment/,
	});
});

/** Runs `regolith` with a place's key. */
async function regolith(place: Place, words: readonly string[], key = place.secret) {
	const running = launch({ command: [...words, '--api', place.url], env: { PDP_API_KEY: key } });
	return { ...(await running.exited), said: running.stdout(), wrong: running.stderr() };
}

const opa = (folder: string, ...words: readonly string[]) => promisify(execFile)(opaPath, words, { cwd: folder });

journey('`regolith policy` writes a folder that `opa test` accepts', async (t, place) => {
	const { http, schema, facts } = place;
	const first = await published(place, 'POST', `${schema}/resources`, document);
	const role = { key: 'viewer', name: 'Viewer', permissions: ['document:read'] };
	const second = await published(place, 'POST', `${schema}/roles`, role);
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await http.post(`${facts}/users`, { key: 'ann', role_assignments: [{ role: 'viewer', tenant: 'acme' }] });
	const folder = join(temporary(t), 'policy');

	const wrote = await regolith(place, ['policy', place.key, '--out', folder]);
	t.is(wrote.code, 0, wrote.wrong);
	t.regex(
		wrote.said,
		new RegExp(`^# default/${place.key}: Rego hash [0-9a-f]{64}, schema revision ${second}\n# \\d+ files`),
	);
	t.regex((await opa(folder, 'test', '.')).stdout, /^PASS: (\d+)\/\1$/m);
	await t.notThrowsAsync(opa(folder, 'check', '--strict', '.'));
	t.is((await opa(folder, 'fmt', '--list', '.')).stdout, '');
	t.false(existsSync(join(folder, 'regolith/facts')), 'users are left out unless requested');
	const [tar, unpacked] = [join(temporary(t), 'policy.tar'), temporary(t)];
	t.is((await regolith(place, ['policy', place.key, '--archive', tar])).code, 0);
	await promisify(execFile)('tar', ['-xf', tar, '-C', unpacked]);
	await promisify(execFile)('diff', ['-r', join(folder, 'regolith'), join(unpacked, 'regolith')]);
	const served = await fetch(`${place.url}${policiesPath(place)}/${second}/archive`, {
		headers: { authorization: `Bearer ${place.secret}` },
	});
	t.is(served.headers.get('content-type'), 'application/x-tar');
	t.deepEqual(Buffer.from(await served.arrayBuffer()), readFileSync(tar));

	writeFileSync(join(folder, 'own_test.rego'), 'package own_test\n\ntest_own if true\n');
	const question = { user: { key: 'ann' }, action: 'read', resource: { type: 'document', tenant: 'acme' } };
	writeFileSync(join(folder, 'input.json'), JSON.stringify(question));
	t.is((await regolith(place, ['policy', place.key, '--out', folder, '--facts'])).code, 0);
	const asked = await opa(folder, 'eval', '-d', '.', '-i', 'input.json', '-f', 'raw', 'data.regolith.check.decision');
	t.deepEqual(JSON.parse(asked.stdout), { allow: true, code: 'allow' });
	t.true(existsSync(join(folder, 'own_test.rego')), 'adjacent files remain');

	await published(place, 'DELETE', `${schema}/resources/document`);
	t.is((await regolith(place, ['policy', place.key, '-o', folder])).code, 0);
	t.false(existsSync(join(folder, permits)), 'files of deleted objects are removed');
	t.is((await regolith(place, ['policy', place.key, '-o', folder, '--revision', String(first)])).code, 0);
	t.true(existsSync(join(folder, permits)));
	t.regex((await opa(folder, 'test', '.')).stdout, /^PASS: (\d+)\/\1$/m);
});

journey('`regolith policy` overwrites only its own files, and reports problems', async (t, place) => {
	await published(place, 'POST', `${place.schema}/resources`, document);
	const folder = temporary(t);
	mkdirSync(join(folder, 'regolith'));
	writeFileSync(join(folder, 'regolith/mine.rego'), 'package mine\n');
	const refused = await regolith(place, ['policy', place.key, '--out', folder]);
	t.is(refused.code, 2);
	t.regex(refused.wrong, /contains files not written by Regolith/);
	t.deepEqual(readdirSync(join(folder, 'regolith')), ['mine.rego']);
	t.is(readFileSync(join(folder, 'regolith/mine.rego'), 'utf8'), 'package mine\n');
	const wrong = [
		[['policy', 'nowhere', '--out', folder], /404 from GET/],
		[['policy', place.key, '--out', folder, '--revision', 'last'], /`last` is not a revision/],
		[['policy', place.key, '--out', folder, '--revision', '999'], /404 from GET/],
	] as const;
	for (const [words, why] of wrong) {
		const { code, wrong: told } = await regolith(place, words);
		t.is(code, 2);
		t.regex(told, why);
	}
});

journey('`regolith diff` shows the changes between revisions', async (t, place) => {
	const { schema } = place;
	const diff = (...words: readonly string[]) => regolith(place, ['diff', ...words, '-e', place.key]);
	const first = await published(place, 'POST', `${schema}/resources`, document);
	const role = { key: 'viewer', name: 'Viewer', permissions: ['document:read'] };
	const second = await published(place, 'POST', `${schema}/roles`, role);
	const third = await published(place, 'POST', `${schema}/resources`, { key: 'folder', name: 'Folder', actions: {} });
	await published(place, 'PATCH', `${schema}/resources/document`, { name: 'Paper' });

	t.like(await diff(String(first), String(first)), { code: 0, said: '', wrong: '' });
	const granted = await diff(String(first), String(second));
	t.is(granted.code, 1);
	t.is(
		granted.said,
		[
			`--- a/regolith/schema/data.json\tschema revision ${first}`,
			`+++ b/regolith/schema/data.json\tschema revision ${second}`,
			...granted.said.split('\n').slice(2),
		].join('\n'),
	);
	t.regex(granted.said, /^\+\t\t\t\t"viewer": null$/m);
	t.false(granted.said.includes('_test.rego'));
	const added = await diff(String(second), String(third));
	t.regex(
		added.said,
		new RegExp(`^--- /dev/null\tschema revision ${second}\n\\+\\+\\+ b/regolith/resources/folder/`, 'm'),
	);
	const removed = await diff(String(third), String(second));
	t.regex(removed.said, /^--- a\/regolith\/resources\/folder\/permits.rego.*\n\+\+\+ \/dev\/null/m);
	const renamed = await diff(String(third));
	t.regex(renamed.said, /^-# title: "Document"\n\+# title: "Paper"$/m);

	for (const words of [['x'], ['1', '99999'], []]) t.is((await diff(...words)).code, 2, words.join(' '));
});

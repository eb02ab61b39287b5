// @rest

import test, { type ExecutionContext } from 'ava';
import type { RegoFile } from '../../compiler/model.js';
import { tarEntries } from '../../src/bundle/tar-entries.js';
import { type RunningDecisionPoint, startDecisionPoint } from '../../src/compose/decision-point.js';
import { createLogger } from '../../src/log.js';
import type { AuthorizationResult } from '../../src/wire/decision/check.js';
import { runOpa, withoutOrder, writeFiles } from '../compiler/engine.js';
import { type Client, client } from '../support/client.js';
import { chosenStores, stackOnEachStore } from '../support/each-store.js';
import { environmentPath, fillImpactWorld } from '../support/impact-world.js';
import { newPlace, type Place } from '../support/management.js';
import type { StoreKind } from '../support/postgres.js';
import { temporary } from '../support/temporary.js';

/** Explanations of checks at stored revisions, over HTTP. */

const stackOn = stackOnEachStore();

/** Declares a test only for the server store, because the behavior is the same on both stores. */
function onServer(title: string, run: (t: ExecutionContext) => Promise<void>): void {
	if (chosenStores().includes('server')) test(title, run);
}

/** A new environment with a decision point, which stops after the test. */
interface Site {
	readonly place: Place;
	readonly point: RunningDecisionPoint;
	readonly pdp: Client;
}

async function furnished(t: ExecutionContext, kind: StoreKind): Promise<Site> {
	const stack = stackOn(kind);
	const url = stack.api.listening.url;
	const place = await newPlace({ url, store: stack.api.store }, stack.organization);
	await fillImpactWorld(place);
	const point = await startDecisionPoint(stack.config, createLogger('silent'), url, place.secret);
	t.teardown(point.stop);
	return { place, point, pdp: client(point.listening.url, place.secret) };
}

const checks = [
	{ user: 'ann', action: 'write', resource: { type: 'document', key: 'plan', tenant: 'acme' } },
	{ user: 'ben', action: 'read', resource: { type: 'document', key: 'plan', tenant: 'acme' } },
	{ user: 'ben', action: 'list', resource: { type: 'folder', key: 'inner', tenant: 'acme' } },
	{ user: 'cal', action: 'write', resource: { type: 'document', key: 'plan', tenant: 'acme' } },
	{
		user: { key: 'dan', attributes: { department: 'sales' } },
		action: 'write',
		resource: { type: 'document', tenant: 'acme', attributes: { level: 1 } },
		context: { at: 'night' },
	},
	{ user: 'eve', action: 'read', resource: 'document' },
];

/** Requests that each change something, in order. */
const history: readonly (readonly [method: string, path: string, body?: object])[] = [
	['PATCH', 'facts/users/cal', { attributes: { department: 'support' } }],
	['DELETE', 'schema/roles/editor/permissions', { permissions: ['document:write'] }],
	['DELETE', 'facts/relationship_tuples', { subject: 'folder:outer', relation: 'parent', object: 'folder:inner' }],
	['DELETE', 'facts/users/ann'],
	['PATCH', 'schema/condition_sets/drafts', { conditions: { 'resource.level': { equals: 2 } } }],
	['POST', 'facts/users', { key: 'eve', role_assignments: [{ role: 'editor', tenant: 'default' }] }],
	['DELETE', 'schema/resources/folder'],
	['POST', 'facts/users', { key: 'ann' }],
	['DELETE', 'facts/tenants/acme'],
];

type Answered = AuthorizationResult & { readonly debug?: { readonly attempts?: readonly object[] } };

for (const kind of chosenStores()) {
	test(`an explanation at a revision equals the decision point’s response at that revision [${kind}]`, async (t) => {
		const { place, point, pdp } = await furnished(t, kind);
		const { http, schema, facts } = place;
		const answers = new Map<number, readonly Answered[]>();
		const ask = async () => {
			const revision = await place.revision();
			await point.replica.policyReached(revision);
			const given: Answered[] = [];
			for (const check of checks) {
				given.push((await pdp.post<Answered>('/allowed', { ...check, use_debugger: 'attempts' })).body);
			}
			answers.set(revision, given);
		};
		await ask();
		for (const [method, path, body] of history) {
			const answer = await http.send(method, path.replace(/^schema/, schema).replace(/^facts/, facts), body);
			t.true(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
			await ask();
		}
		const newest = await place.revision();
		let attempts = 0;
		let runs = 0;
		const allowed = new Set<boolean>();
		for (const [revision, given] of [...answers].reverse()) {
			const tests: RegoFile[] = [];
			for (const [index, check] of checks.entries()) {
				const body = { ...check, revision };
				const explained = await http.post<Answered>(`${environmentPath(place)}/explanation`, body);
				const said = `${JSON.stringify(body)} of ${newest}: ${JSON.stringify(explained.body)}`;
				t.is(explained.status, 200, said);
				t.is(explained.revision, revision);
				t.deepEqual(withoutOrder(explained.body as never), withoutOrder(given[index] as never), said);
				const written = await http.post<{ readonly text: string }>(`${environmentPath(place)}/explanation/test`, body);
				t.is(written.status, 200, `${said}: ${JSON.stringify(written.body)}`);
				t.true(written.body.text.includes(explained.body.allow ? '\tcheck.allow' : '\tnot check.allow'));
				tests.push({ path: `asked_${index}_test.rego`, text: written.body.text });
				attempts += explained.body.debug?.attempts?.length ?? 0;
				allowed.add(explained.body.allow);
			}
			// Each run of `opa test` takes a second.
			if (revision % 3 !== 0) continue;
			const archive = await http.get<string>(`${environmentPath(place)}/policies/${revision}/archive`);
			t.is(archive.status, 200);
			const policy = [...tarEntries(Buffer.from(archive.body))].map(({ name, content }) => ({
				path: name,
				text: Buffer.from(content).toString(),
			}));
			const folder = temporary(t);
			await writeFiles(folder, [...policy, ...tests]);
			const said = await runOpa(['test', '--timeout', '60s', '--run', 'checks_test', '.'], folder);
			t.regex(said, new RegExp(`PASS: ${checks.length}/${checks.length}`));
			runs += 1;
		}
		t.true(answers.size === history.length + 1 && attempts > 10 && allowed.size === 2 && runs > 2);
		t.is(await place.revision(), newest);
	});
}

onServer('a check that depends on too many facts is not written as a test', async (t) => {
	const { place } = await furnished(t, 'server');
	const tenants = Array.from({ length: 301 }, (_, number) => ({ key: `tenant-${number}`, name: 'Tenant' }));
	t.is((await place.http.post(`${place.facts}/bulk/tenants`, { operations: tenants })).status, 200);
	const roles = tenants.map(({ key: tenant }) => ({ user: 'cal', role: 'editor', tenant }));
	t.is((await place.http.post(`${place.facts}/role_assignments/bulk`, roles)).status, 200);
	const revision = await place.revision();
	const check = { user: 'cal', action: 'write', resource: { type: 'document', key: 'plan', tenant: 'acme' }, revision };
	const written = await place.http.post(`${environmentPath(place)}/explanation/test`, check);
	t.is(written.status, 409, JSON.stringify(written.body));
	t.regex(JSON.stringify(written.body), /more than 300 tenant roles or relationships/);
});

onServer('an expired grant appears in explanations at earlier times', async (t) => {
	const { place } = await furnished(t, 'server');
	const end = new Date(Date.now() + 3_600_000);
	const role = { user: 'dan', role: 'editor', tenant: 'other', expires_at: end.toISOString() };
	await place.http.post(`${place.facts}/role_assignments`, role);
	const revision = await place.revision();
	await place.http.delete(`${place.facts}/role_assignments`, { user: 'dan', role: 'editor', tenant: 'other' });
	const check = { user: 'dan', action: 'read', resource: { type: 'document', tenant: 'other' } };
	const explain = async (more: object) => {
		const path = `${environmentPath(place)}/explanation`;
		return (await place.http.post<Answered>(path, { ...check, ...more })).body.allow;
	};
	t.true(await explain({ revision }));
	t.true(await explain({ revision, at: new Date(end.getTime() - 1).toISOString() }));
	t.false(await explain({ revision, at: end.toISOString() }));
	t.false(await explain({ revision: revision + 1 }));
	t.false(await explain({ revision: revision - 1 }));
});

onServer('revisions that are in the future or no longer stored are rejected by number', async (t) => {
	const { place } = await furnished(t, 'server');
	const explain = (body: object) => place.http.post(`${environmentPath(place)}/explanation`, { ...checks[0], ...body });
	const newest = await place.revision();
	t.is((await explain({ revision: newest })).status, 200);
	const future = await explain({ revision: newest + 1 });
	t.is(future.status, 404);
	t.regex(String(future.body['message']), new RegExp(`'${newest + 1}'`));
	for (const body of [
		{},
		{ revision: -1 },
		{ revision: '1' },
		{ revision: newest, at: 'yesterday' },
		{ revision: newest, user: 5 },
	]) {
		t.is((await explain(body)).status, 422, JSON.stringify(body));
	}
	// Before the first schema there was no policy.
	const first = await explain({ revision: 0 });
	t.is(first.status, 410, JSON.stringify(first.body));
	t.regex(String(first.body['message']), /revision 0 is no longer stored/);

	const users = Array.from({ length: 5_001 }, (_, index) => [`user-${index}`, {}] as const);
	const document = { format: 'regolith-environment', version: 1, facts: { users: Object.fromEntries(users) } };
	const imported = await place.http.post(`${environmentPath(place)}/import`, document);
	t.is(imported.status, 200, JSON.stringify(imported.body));
	const old = await explain({ revision: newest });
	t.is(old.status, 410);
	t.regex(String(old.body['message']), /more than 5000 objects have changed since/);
	t.is((await explain({ revision: newest + 1 })).status, 200);
});

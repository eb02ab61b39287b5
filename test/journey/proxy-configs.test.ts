// @rest

import { unpack } from '../../src/bundle/bundle.js';
import { client } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys } from '../support/listed.js';
import { createSecret, type Place } from '../support/management.js';
import { facts as factsOfStack, schema as schemaOfStack } from '../support/stack.js';

/** Proxy configs: request mappings, and the secret for the proxied service. */

const journey = onEachStore();

const rule = { url: 'https://api.example.com/documents/{id}', http_method: 'get', resource: 'document' };
const unsaid = { url_type: null, headers: {}, action: null, priority: null };
const documents = { key: 'documents', name: 'Documents', secret: 'a-token' };

journey('a proxy config can be created, read under its names, updated and deleted', async (t, place) => {
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const path = `${facts}/proxy_configs`;
	const full = { ...rule, url_type: 'regex', headers: { 'X-Api': 'v2' }, action: 'read', priority: 3 };
	const made = await ledger.wrote(await http.post(path, { ...documents, mapping_rules: [full, rule] }));
	t.like(made, { ...documents, auth_mechanism: 'Bearer', environment_id: place.id });
	t.deepEqual(made['mapping_rules'], [full, { ...rule, ...unsaid }]);
	for (const name of ['documents', String(made['id']), String(made['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), made, name);
	}
	t.deepEqual(await ledger.read(await http.get<unknown>(path)), [made]);
	fails(t, await http.post(path, documents), 409, 'documents');
	for (const nothing of [{}, { secret: 'a-token' }, { name: null, mapping_rules: null }, { key: 'other' }]) {
		t.deepEqual(await ledger.kept(await http.patch(`${path}/documents`, nothing)), made, JSON.stringify(nothing));
	}
	const changed = await ledger.wrote(await http.patch(`${path}/documents`, { secret: 'b-token', name: 'Other' }));
	t.deepEqual({ ...changed, updated_at: 0 }, { ...made, secret: 'b-token', name: 'Other', updated_at: 0 });
	await ledger.wrote(await http.delete(`${path}/documents`), 204);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, `${path}/documents`, method === 'PATCH' ? {} : undefined), 404, 'ProxyConfig');
	}
	await ledger.balanced();
});

journey('rules are replaced, or edited individually if a rule is marked for deletion', async (t, { http, facts }) => {
	const path = `${facts}/proxy_configs/documents`;
	const at = (url: string, more: object = {}) => ({ ...rule, url, ...unsaid, ...more });
	await http.post(`${facts}/proxy_configs`, { ...documents, mapping_rules: [at('a'), at('b'), at('c')] });
	const rules = async (mapping_rules: readonly object[]) =>
		(await http.patch(path, { mapping_rules })).body['mapping_rules'];
	const gone = { should_delete: true };
	t.deepEqual(await rules([at('b', gone), at('c', { priority: 1 }), at('d')]), [
		at('a'),
		at('c', { priority: 1 }),
		at('d'),
	]);
	t.deepEqual(await rules([at('a', { ...gone, http_method: 'post' })]), [at('a'), at('c', { priority: 1 }), at('d')]);
	t.deepEqual(await rules([at('e', { should_delete: false })]), [at('e')]);
	t.deepEqual(await rules([]), []);
});

/** Secrets for each mechanism, with their form in responses; `null` if the secret is rejected. */
const secrets: readonly (readonly [mechanism: string, secret: unknown, shown: string | null])[] = [
	['Bearer', 'text', 'text'],
	['Bearer', '{', '{'],
	['Bearer', { 'X-Key': 'k' }, null],
	['Basic', 'ann:password', 'ann:password'],
	['Basic', { ann: 'password' }, '{"ann":"password"}'],
	['Headers', { 'X-Key': 'k', 'X-Other': 'ключ' }, '{"X-Key":"k","X-Other":"ключ"}'],
	['Headers', '{"X-Key":"k"}', '{"X-Key":"k"}'],
	['Headers', 'text', null],
	['Headers', '{"a":1}', null],
];

journey('a secret has the format of its mechanism, and is always returned as a string', async (t, place) => {
	const { http, facts } = place;
	const path = `${facts}/proxy_configs`;
	for (const [index, [auth_mechanism, secret, shown]] of secrets.entries()) {
		const key = `p${index}`;
		const answer = await http.post(path, { ...documents, key, auth_mechanism, secret });
		const what = `${auth_mechanism} ${JSON.stringify(secret)}`;
		if (shown === null) {
			fails(t, answer, 422, auth_mechanism);
			t.deepEqual(problemPlaces(answer), ['body.secret'], what);
			continue;
		}
		t.is(answer.body['secret'], shown, what);
		const again = await http.patch(`${path}/${key}`, { secret: shown });
		t.deepEqual(again.body, answer.body, `${what}: the read value can be written back`);
	}
	const headers = await http.patch(`${path}/p0`, { auth_mechanism: 'Headers' });
	t.deepEqual(problemPlaces(headers), ['body.auth_mechanism'], 'the stored secret does not fit');
	t.is((await http.patch(`${path}/p0`, { auth_mechanism: 'Headers', secret: { a: 'b' } })).status, 200);
});

journey('the secret is shown only to admin keys', async (t, place) => {
	const { http, url, store, facts, organization_id, project_id, id: environment_id } = place;
	const path = `${facts}/proxy_configs`;
	await http.post(path, documents);
	for (const access_level of ['read', 'write'] as const) {
		const other = client(url, await createSecret(store, organization_id, { project_id, environment_id, access_level }));
		for (const at of [path, `${path}/documents`]) {
			const shown = JSON.stringify((await other.get(at)).body);
			t.false(shown.includes('a-token'), access_level);
			t.true(shown.includes('********'), 'a hidden secret is a string too');
		}
		if (access_level === 'read') continue;
		const renamed = await other.patch(`${path}/documents`, { name: 'Renamed' });
		t.like(renamed.body, { name: 'Renamed', secret: '********' });
		fails(t, await other.patch(`${path}/documents`, renamed.body), 422, 'secret');
		t.is((await other.post(path, { ...documents, key: 'own' })).body['secret'], '********');
	}
	t.is((await http.get(`${path}/documents`)).body['secret'], 'a-token', 'the secret is unchanged');
});

/** Returns the complete database content about proxy configs, with bytes as text. */
async function kept({ store, id }: Place): Promise<string> {
	const { knex } = store.database;
	const rows = await knex('proxy_configs').where({ environment_id: id });
	const changes = await knex('changes').where({ environment_id: id, kind: 'proxy_config' });
	return JSON.stringify([rows, changes], (_, value) =>
		value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
	);
}

journey('the secret is never stored in plain text, nor in the change log', async (t, place) => {
	const { http, store, facts } = place;
	const path = `${facts}/proxy_configs`;
	await http.post(path, { ...documents, secret: 'first-secret' });
	await http.patch(`${path}/documents`, { secret: 'second-secret' });
	await http.delete(`${path}/documents`);
	await http.post(path, { ...documents, secret: 'third-secret' });
	const all = await kept(place);
	for (const secret of ['first-secret', 'second-secret', 'third-secret']) t.false(all.includes(secret), secret);
	const changes = await store.database
		.knex('changes')
		.where({ environment_id: place.id, kind: 'proxy_config' })
		.orderBy('revision');
	t.deepEqual(
		changes.map(({ operation }) => operation),
		['create', 'update', 'delete', 'create'],
	);
	for (const { before, after } of changes) {
		for (const record of [before, after]) t.false(JSON.stringify(record).includes('secret'));
	}
});

journey('proxy configs are listed as an array, oldest first', async (t, { http, facts }) => {
	const path = `${facts}/proxy_configs`;
	for (const key of ['c', 'a', 'b']) await http.post(path, { ...documents, key });
	t.deepEqual(listedKeys((await http.get<Listed>(path)).body), ['c', 'a', 'b']);
	t.deepEqual(listedKeys((await http.get<Listed>(`${path}?per_page=2&page=2`)).body), ['b']);
});

onEachStack(
	'mapping rules translate requests to URLs into checks, and no secret leaves the store',
	async (t, stack) => {
		const { environment: http, pdp } = stack;
		const path = `${factsOfStack}/proxy_configs`;
		const made = async (below: string, body: object) => {
			const answer = await http.post(below, body);
			t.is(answer.status, 200, JSON.stringify(answer.body));
			return answer.revision;
		};
		await made(`${schemaOfStack}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } });
		await made(`${schemaOfStack}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
		await made(`${factsOfStack}/users`, { key: 'ann' });
		await made(`${factsOfStack}/role_assignments`, { user: 'ann', role: 'reader', tenant: 'default' });
		const headers = { authorization: 'hidden-header' };
		const secret = 'hidden-secret';
		await stack.reached(
			await made(path, { ...documents, secret, mapping_rules: [{ ...rule, headers, action: 'read' }] }),
		);

		const ask = async (http_method: string, url: string) => {
			const body = { user: 'ann', http_method, url, tenant: 'default' };
			return (await pdp.post<{ allow: boolean }>('/allowed_url', body)).body.allow;
		};
		const at = 'https://api.example.com/documents/7';
		t.true(await ask('GET', at));
		t.false(await ask('POST', at), 'a different method');
		t.false(await ask('GET', 'https://api.example.com/folders/7'), 'a different path');

		const regex = {
			...rule,
			url: '^https://api\\.example\\.com/d/(?P<id>[0-9]+)$',
			url_type: 'regex',
			http_method: 'put',
		};
		const rules = [
			{ ...rule, headers, action: 'write', priority: 1 },
			{ ...regex, action: 'read' },
		];
		const changed = await http.patch(`${path}/documents`, { mapping_rules: rules });
		await stack.reached(changed.revision);
		t.false(await ask('GET', at), 'ann may not write');
		t.true(await ask('PUT', 'https://api.example.com/d/7'));

		const { body: scope } = await http.get<{ environment_id: string }>('/v2/api-key/scope');
		for (const prefer of ['modes=snapshot', 'modes=snapshot,delta,policy']) {
			for (const flavour of ['', '/rego']) {
				const response = await fetch(`${stack.api.listening.url}/bundles/${scope.environment_id}${flavour}`, {
					headers: { authorization: `Bearer ${stack.keys.environment}`, prefer },
				});
				const files = await unpack(new Uint8Array(await response.arrayBuffer()));
				const texts = [...files.values()].map((bytes) => Buffer.from(bytes).toString('latin1')).join();
				t.true(texts.includes('https://api.example.com/documents/{id}'), 'the rules are included');
				t.false(texts.includes('hidden'), 'neither the secret nor the headers are included');
			}
		}

		await stack.reached((await http.delete(`${path}/documents`)).revision);
		t.false(await ask('PUT', 'https://api.example.com/d/7'));
	},
);

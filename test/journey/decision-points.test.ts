// @rest

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startApi } from '../../src/compose/api.js';
import { createLogger } from '../../src/log.js';
import { type Client, client, type Loose } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Listed } from '../support/listed.js';
import { createSecret, type Place } from '../support/management.js';
import { type Stack, schema } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** PDP configs, and the requests and reports that a decision point sends. */

const journey = onEachStore();

const configsPath = ({ project, key }: Place) => `/v2/pdps/${project}/${key}/configs`;

journey('an environment has one PDP config, with the environment’s key as its secret', async (t, place) => {
	const { http, key_id, id, project_id, organization_id, secret, project, key } = place;
	const config = {
		id: key_id,
		organization_id,
		project_id,
		environment_id: id,
		client_secret: secret,
		name: `${key} environment key`,
		debug_audit_logs: true,
		opal_server_access_token: null,
		num_shards: null,
		min_pdp_version: null,
	};
	t.deepEqual((await http.get<Listed>(configsPath(place))).body, [config]);
	t.deepEqual((await http.get<Listed>(`/v2/pdps/${project_id}/${id.replaceAll('-', '')}/configs`)).body, [config]);
	t.deepEqual((await http.get<Listed>(`${configsPath(place)}?page=2`)).body, []);
	t.like((await http.get(`/v2/api-key/${project}/${key}`)).body, { id: key_id, secret, owner_type: 'pdp_config' });

	const values = (await http.get(`${configsPath(place)}/${key_id}/values`)).body;
	const served = { org_id: organization_id, project_id, env_id: id };
	t.like(values, {
		context: {
			...served,
			customer_id: organization_id,
			client_id: key_id,
			backend_tier: place.url,
			component: 'sidecar',
		},
		pdp: { BACKEND_SERVICE_URL: place.url, OPA_DECISION_LOG_ENABLED: true },
		feed: { BUNDLE_URL: `${place.url}/bundles/${id}`, DEBUG_AUDIT_LOGS: true },
	});
	t.false(JSON.stringify(values).includes('permit_key_'), 'no secret');
	fails(t, await http.get(`${configsPath(place)}/${id}/values`), 404, id);
	t.deepEqual((await http.get(`/v2/pdps/me/config`)).body, values, 'requested by its decision point');
	t.deepEqual((await http.post(`/v2/pdps/me/config`, {})).body, values);
	fails(t, await http.post(`${configsPath(place)}/migrate-shards`, { num_shards: 2 }), 404);
});

journey(
	'decision point secrets are visible only to admin keys, and to the key itself',
	async (t, place, { store, organization }) => {
		const { organization_id, project_id, id: environment_id, key_id, url } = place;
		const other = await organization.post<{ id: string; secret: string }>('/v2/api-key', {
			environment_id,
			owner_type: 'pdp_config',
			access_level: 'read',
			name: 'second',
		});
		const second = client(url, other.body.secret);
		const as = async (access_level: 'read' | 'write') =>
			client(url, await createSecret(store, organization_id, { project_id, environment_id, access_level }));
		const idsFor = async (http: Client) => (await http.get<Listed>(configsPath(place))).body.map(({ id }) => id);
		t.deepEqual(await idsFor(organization), [key_id, other.body.id]);
		t.deepEqual(await idsFor(second), [other.body.id]);
		t.is((await second.get(`${configsPath(place)}/${other.body.id}/values`)).status, 200);
		for (const http of [await as('write'), await as('read'), second]) {
			if (http !== second) t.deepEqual(await idsFor(http), []);
			fails(t, await http.get(`${configsPath(place)}/${key_id}/values`), 403, key_id);
			fails(t, await http.post(`${configsPath(place)}/${key_id}/rotate-api-key`), 403);
			fails(t, await http.put(`${configsPath(place)}/${key_id}/debug-audit-logs/disable`), 403);
		}
		fails(t, await organization.get('/v2/pdps/me/config'), 403);
		fails(t, await organization.post('/v2/pdps/me/state', { pdp_instance_id: 'a', state: {} }), 403);
	},
);

journey('rotation returns a new key, invalidates the old key, and is logged without either key', async (t, place) => {
	const { http, key_id, secret, project, key } = place;
	const ledger = await openLedger(t, place);
	const config = `${configsPath(place)}/${key_id}`;
	const rotated = await ledger.wrote(await http.post(`${config}/rotate-api-key`));
	const next = String(rotated['client_secret']);
	t.not(next, secret);
	t.is(rotated['id'], key_id);
	fails(t, await http.get(configsPath(place)), 401);
	const holder = client(place.url, next);
	t.deepEqual((await holder.get<Listed>(configsPath(place))).body, [rotated]);
	t.like((await holder.get(`/v2/api-key/${project}/${key}`)).body, { id: key_id, secret: next });

	const disabled = await ledger.wrote(await holder.put(`${config}/debug-audit-logs/disable`));
	t.deepEqual(disabled, { ...rotated, debug_audit_logs: false });
	t.deepEqual(await ledger.kept(await holder.put(`${config}/debug-audit-logs/disable`)), disabled);
	t.like((await holder.get(`${config}/values`)).body, { feed: { DEBUG_AUDIT_LOGS: false } });
	t.deepEqual(await ledger.wrote(await holder.put(`${config}/debug-audit-logs/enable`)), rotated);

	const last = String((await ledger.wrote(await holder.post(`/v2/api-key/${key_id}/rotate-secret`)))['secret']);
	const history = await client(place.url, last).get<{ data: Listed }>(
		`/v2/projects/${project}/envs/${key}/changes?kind=pdp_config`,
	);
	t.deepEqual(
		history.body.data.map(({ operation, revision }) => [operation, revision]),
		[
			['update', 5],
			['update', 4],
			['update', 3],
			['update', 2],
			['create', 1],
		],
	);
	for (const known of [secret, next, last]) t.false(JSON.stringify(history.body).includes(known));
	t.false(JSON.stringify(history.body).includes('secret'));
});

journey('the last reported state of each decision point is kept', async (t, place, { organization }) => {
	const { http, key_id, project, key } = place;
	const instances = async (as = http) => (await as.get<Listed>(`/v2/pdps/${project}/${key}/instances`)).body;
	t.deepEqual(await instances(), []);
	const revision = await place.revision();
	const told = async (pdp_instance_id: string, state: object, at = 'state') => {
		const answer = await http.post(`/v2/pdps/me/${at}`, { pdp_instance_id, state });
		t.is(answer.status, at === 'state' ? 204 : 200);
		const body: unknown = answer.body;
		if (at === 'state') t.is(body, undefined);
	};
	await told('a', { api_version: 'v2', pdp: { version: '0.8.0' } });
	await told('b', { api_version: 'v2', pdp: { mode: 'edge', checks_per_second: 12.5 } }, 'config');
	await told('a', { api_version: 'v2', pdp: { version: '0.9.0' }, seen_sdks: ['node'] });
	const [first, second] = await instances(organization);
	const common = { environment_id: place.id, api_key_id: key_id };
	t.like(first, { ...common, pdp_instance_id: 'a', state: { pdp: { version: '0.9.0' }, seen_sdks: ['node'] } });
	t.like(second, { ...common, pdp_instance_id: 'b', state: { pdp: { mode: 'edge', checks_per_second: 12.5 } } });
	t.notRegex(JSON.stringify(first), /checks_per_second/, 'a report from a different version may omit the field');
	t.is(await place.revision(), revision, 'a report does not change the environment');
	fails(
		t,
		await http.post('/v2/pdps/me/state', { pdp_instance_id: 'a', state: { a: 'x'.repeat(16_384) } }),
		422,
		'16384',
	);
	for (let index = 0; index < 100; index += 1) await told(`many-${index}`, {});
	const kept = (await instances()).map(({ pdp_instance_id }) => pdp_instance_id);
	t.is(kept.length, 100);
	t.false(kept.includes('a') || kept.includes('b'), 'the oldest states are dropped');
	t.is(kept[0], 'many-99');
});

journey('the last use of a key is recorded', async (t, place) => {
	const used = async (id: string) => (await place.http.get(`/v2/api-key/${id}`)).body['last_used_at'];
	const spare = await place.http.post<Record<'id' | 'secret' | 'created_at', string>>('/v2/api-key', {
		environment_id: place.id,
	});
	t.is(await used(spare.body.id), null);
	await client(place.url, spare.body.secret).get('/v2/api-key/scope');
	const at = await eventually(() => used(spare.body.id));
	t.true(Date.parse(String(at)) >= Date.parse(spare.body.created_at));
	await client(place.url, spare.body.secret).get('/v2/api-key/scope');
	t.is(await used(spare.body.id), at, 'exact to a minute');
});

/** Simulates a second API process on the stack's database server. */
async function secondNode(t: ExecutionContext, { config }: Stack): Promise<string> {
	const folder = temporary(t);
	cpSync(join(config.data_directory, 'server.key'), join(folder, 'server.key'));
	const node = await startApi({ ...config, data_directory: folder }, createLogger(config.log_level));
	t.teardown(node.stop);
	return node.listening.url;
}

onEachStack('a waiting request ends when its key is revoked, and other requests continue', async (t, stack, kind) => {
	const { url } = stack.api.listening;
	// This client revokes keys. On a server store, it uses a different process than the waiting requests.
	const elsewhere = client(kind === 'server' ? await secondNode(t, stack) : url, stack.keys.organization);
	const { environment_id } = (await stack.environment.get('/v2/api-key/scope')).body;
	const path = `/bundles/${environment_id}`;
	const held = await stack.environment.get(path);
	const headers = { 'if-none-match': held.headers.get('etag') ?? '', prefer: 'modes=snapshot,delta;wait=20' };
	// This request started first and ends on its own. If a different request ends earlier, the server has ended it.
	const other = stack.environment.get(path, { headers });
	const ends = [
		(key: string) => elsewhere.post(`/v2/api-key/${key}/rotate-secret`),
		(key: string) => elsewhere.delete(`/v2/api-key/${key}`),
	];
	for (const end of ends) {
		const { body: key } = await elsewhere.post<Record<'id' | 'secret', string>>('/v2/api-key', { environment_id });
		const waiting = client(url, key.secret).get(path, { headers });
		await eventually(async () => (await elsewhere.get(`/v2/api-key/${key.id}`)).body['last_used_at']);
		await end(key.id);
		fails(t, await Promise.race([waiting, other]), 401);
	}
	t.is((await other).status, 304);
});

onEachStack('a decision point reports its mode and its rate of checks', async (t, stack) => {
	const question = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'default' } };
	const report = async () => {
		const [instance] = (await stack.environment.get<readonly Reported[]>('/v2/pdps/default/dev/instances')).body;
		return instance?.state.pdp;
	};
	for (const _ of Array.from({ length: 200 })) await stack.pdp.post('/allowed', question);
	t.like(await eventually(report), { mode: 'edge' });
	// The decision point reports every minute, and after each change of its state, such as a policy that compiles.
	await stack.environment.post(`${schema}/resources`, { key: 'reported', name: 'Reported', actions: { read: {} } });
	const { checks_per_second } = (await eventually(report, (pdp) => pdp?.checks_per_second)) ?? {};
	t.true(Number(checks_per_second) > 0 && Number(checks_per_second) <= 200, String(checks_per_second));
});

interface Reported {
	readonly state: { readonly pdp?: { readonly mode?: unknown; readonly checks_per_second?: unknown } };
}

onEachStack('a decision point whose key is rotated returns 503 and reports the reason', async (t, stack) => {
	const question = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'default' } };
	t.is((await stack.pdp.post('/allowed', question)).status, 200);
	const [config] = (await stack.organization.get<Listed>('/v2/pdps/default/dev/configs')).body;
	const rotated = await stack.organization.post(`/v2/pdps/default/dev/configs/${config?.['id']}/rotate-api-key`);
	t.is(rotated.status, 200);
	await eventually(async () => (await stack.pdp.post('/allowed', question)).status === 503);
	t.regex(stack.decisionPoint.replica.state.detail, /401.*unknown.*rotated or deleted/);
});

interface AskedRefresh {
	readonly update_id: string;
	readonly pdp_ids: readonly string[];
}

onEachStack('a refresh makes decision points fetch a new snapshot, on every node', async (t, stack, kind) => {
	const { url } = stack.api.listening;
	const elsewhere = client(kind === 'server' ? await secondNode(t, stack) : url, stack.keys.organization);
	const configs = '/v2/pdps/default/dev/configs';
	const [config] = (await elsewhere.get<Listed>(configs)).body;
	const { environment_id } = (await stack.environment.get('/v2/api-key/scope')).body;
	const made = { environment_id, owner_type: 'pdp_config' };
	const { body: other } = await elsewhere.post<Record<'id' | 'secret', string>>('/v2/api-key', made);
	const { replica } = stack.decisionPoint;
	const taken = (id: string) =>
		eventually(async () => (replica.updateId === id ? replica.current()?.engine : undefined));
	const health = async () => (await stack.pdp.get<Loose>('/healthy')).body;
	t.like(await health(), { update_id: null });

	const [held, first] = [replica.current()?.engine, await elsewhere.post<AskedRefresh>(`${configs}/refresh`)];
	t.is(first.status, 200);
	t.deepEqual([...first.body.pdp_ids].sort(), [config?.['id'], other.id].sort());
	const fresh = await taken(first.body.update_id);
	t.not(fresh, held, 'the data was loaded anew');
	t.true(replica.revision >= (first.revision ?? Number.NaN));
	t.like(await health(), { update_id: first.body.update_id, status: 'ok' });
	const reports = async () => (await elsewhere.get<Listed>('/v2/pdps/default/dev/instances')).body;
	t.truthy(
		await eventually(reports, ([report]) => (report?.['state'] as Loose)?.['update_id'] === first.body.update_id),
	);

	const bundle = (etag: string | null) =>
		client(url, other.secret).get(`/bundles/${environment_id}`, {
			headers: { prefer: 'modes=snapshot,delta,policy', ...(etag === null ? {} : { 'if-none-match': etag }) },
		});
	const start = await bundle(null);
	t.is(start.headers.get('x-update-id'), first.body.update_id);
	t.true((start.revision ?? 0) >= (first.revision ?? Number.NaN), 'no snapshot from before the refresh');
	t.is((await bundle(start.headers.get('etag'))).status, 304);
	const second = await elsewhere.post<AskedRefresh>(`${configs}/${other.id}/refresh`, { reason: 'drill' });
	t.deepEqual(second.body.pdp_ids, [other.id]);
	t.is((await bundle(start.headers.get('etag'))).headers.get('x-update-id'), second.body.update_id);
	await stack.reached(second.revision);
	t.is(replica.current()?.engine, fresh, 'decision points with a different config keep their data');
	const { body: history } = await elsewhere.get<{ readonly data: readonly Loose[] }>(
		'/v2/projects/default/envs/dev/changes?kind=pdp_config',
	);
	t.like(history.data[0]?.['after'], { refresh_id: second.body.update_id, refresh_reason: 'drill' });

	const third = await elsewhere.post<AskedRefresh>(`${configs}/${config?.['id']}/refresh`, { reason: 'x'.repeat(512) });
	t.not(await taken(third.body.update_id), fresh);
});

journey('a refresh requires write access and a config, and limits the reason', async (t, place, { store }) => {
	const { http, organization_id, project_id, id: environment_id, key_id, url } = place;
	const configs = configsPath(place);
	const as = async (access_level: 'read' | 'write') =>
		client(url, await createSecret(store, organization_id, { project_id, environment_id, access_level }));
	const [reader, writer] = [await as('read'), await as('write')];
	for (const path of [`${configs}/refresh`, `${configs}/${key_id}/refresh`]) {
		fails(t, await reader.post(path, {}), 403);
		t.deepEqual((await writer.post<AskedRefresh>(path, { reason: null })).body.pdp_ids, [key_id]);
		fails(t, await http.post(path, { reason: 'x'.repeat(513) }), 422, 'reason');
	}
	fails(t, await http.post(`${configs}/${environment_id}/refresh`), 404, environment_id);
	t.is((await http.delete(`/v2/api-key/${key_id}`)).status, 204);
	fails(t, await writer.post(`${configs}/refresh`), 404, 'PDPConfig');
	fails(t, await writer.post(`${configs}/${key_id}/refresh`), 404, key_id);
});

// @rest

import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { type Client, client } from '../support/client.js';
import { onEachStack } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { type Stack, secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * The decision points of a deleted environment detect the deletion, whether they are running or started later. No other
 * environment is affected.
 */

interface Place {
	readonly id: string;
	readonly secret: string;
	/** Client of the management API with the environment's key. */
	readonly http: Client;
}

/** Creates an environment in the project with this key. */
async function create({ organization, api }: Stack, project: string, key: string): Promise<Place> {
	if (project !== 'default') await organization.post('/v2/projects', { key: project, name: project });
	const id = String((await organization.post(`/v2/projects/${project}/envs`, { key, name: key })).body['id']);
	const secret = String((await organization.get(`/v2/api-key/${project}/${key}`)).body['secret']);
	return { id, secret, http: client(api.listening.url, secret) };
}

onEachStack('decision points of a deleted environment deny with a code', async (t, stack) => {
	const { organization, api } = stack;
	const place = await create(stack, 'default', 'temporary');
	const own = { ...settings(temporary(t), 'deleted'), PDP_ENABLE_OFFLINE_MODE: 'true' };
	const start = async (folder: string) => {
		const config = readConfig({ ...own, DATA_DIR: folder });
		const point = await startDecisionPoint(config, createLogger('silent'), api.listening.url, place.secret);
		t.teardown(() => point.stop());
		return { replica: point.replica, http: client(point.listening.url, place.secret) };
	};
	const question = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'default' } };
	const denied = { allow: false, debug: { code: 'environment_deleted' } };
	const running = await start(temporary(t));
	await running.replica.reached(1);
	const other = await start(temporary(t));
	await other.replica.reached(1);
	const granted = await create(stack, 'default', 'other');
	t.is((await place.http.get(`/bundles/${granted.id}`)).status, 403);

	// The old secret of a rotated key no longer belongs to the environment.
	const rotated = place.secret.replace(/.{4}$/, 'xxxx');
	t.is((await organization.delete('/v2/projects/default/envs/temporary')).status, 204);
	for (const { replica, http } of [running, other, await start(temporary(t))]) {
		await eventually(
			() => replica.state.kind,
			(kind) => kind === 'deleted',
		);
		t.like((await http.post('/allowed', { ...question, use_debugger: true })).body, denied);
		t.deepEqual((await http.post('/user-permissions', { user: 'ann' })).body, {});
		t.like((await http.get('/healthy')).body, { state: 'deleted' });
	}

	const gone = await place.http.get('/v2/api-key/scope');
	t.is(gone.status, 410);
	t.like(gone.body, { error_code: 'NOT_FOUND', title: 'The environment of the API key was deleted' });
	t.is((await place.http.get(`/bundles/${place.id}`)).status, 410);
	t.is((await place.http.get(`/bundles/${place.id.toUpperCase()}/rego`)).status, 410);
	for (const path of [`/bundles/${granted.id}`, '/v2/facts/default/other/users', '/v2/projects', '/v2/api-key']) {
		fails(t, await place.http.get(path), 401);
	}
	for (const secret of [rotated, secretFor('nobody')]) {
		fails(t, await client(api.listening.url, secret).get('/v2/api-key/scope'), 401);
	}
	t.is((await granted.http.get('/v2/api-key/scope')).status, 200);
	t.is((await organization.get(`/bundles/${place.id}`)).status, 404);
	t.is((await stack.pdp.post('/allowed', question)).status, 200);

	const { store } = api;
	const remembered = () => store.database.knex('deleted_environment_keys').where({ environment_id: place.id });
	await store.forgetOld();
	t.is((await remembered()).length, 1);
	const old = new Date(store.clock.now().getTime() - 31 * 24 * 3_600_000);
	await remembered().update({ deleted_at: old });
	await store.forgetOld();
	t.is((await remembered()).length, 0, 'the key is forgotten after a month');
	fails(t, await place.http.get('/v2/api-key/scope'), 401);
	t.is(running.replica.state.kind, 'deleted');
});

onEachStack('deleting a project deletes its environments, and a rotated key is only refused', async (t, stack) => {
	const { organization, api } = stack;
	const place = await create(stack, 'short-lived', 'one');
	const { id } = (await organization.get('/v2/api-key/short-lived/one')).body;
	const rotated = await organization.post(`/v2/api-key/${String(id)}/rotate-secret`);
	t.is(rotated.status, 200);
	fails(t, await place.http.get('/v2/api-key/scope'), 401);
	t.is((await organization.delete('/v2/projects/short-lived')).status, 204);
	fails(t, await place.http.get('/v2/api-key/scope'), 401);
	const secret = String(rotated.body['secret']);
	t.is((await client(api.listening.url, secret).get('/v2/api-key/scope')).status, 410);
});

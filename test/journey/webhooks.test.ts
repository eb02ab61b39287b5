// @rest

import type { ExecutionContext } from 'ava';
import { Webhook } from 'standardwebhooks';
import { client, type Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { bearing } from '../support/element.js';
import { eventually } from '../support/eventually.js';
import { factId } from '../support/fact-id.js';
import { fails, problemPlaces } from '../support/failure.js';
import { creating } from '../support/furnished.js';
import type { Paginated } from '../support/listed.js';
import { createSecret, type Place } from '../support/management.js';
import { type Answering, type Receiver, startReceiver } from '../support/receiver.js';

/** Element webhooks: messages and delivery results. */

const journey = onEachStore();
const bearer_token = 'a-secret-of-the-receiver';

/**
 * Ann is staff in `acme`, and Rex owns `acme`. The elements `members` and `requests` send webhooks to the returned
 * receiver.
 */
async function setTheScene(t: ExecutionContext, place: Place, answer?: Answering): Promise<Receiver> {
	const receiver = await startReceiver(answer);
	t.teardown(receiver.stop);
	const { http, schema, facts, elements } = place;
	const made = creating(http);
	for (const key of ['owner', 'staff']) await made(`${schema}/roles`, { key, name: key });
	await made(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const [key, role] of [
		['rex', 'owner'],
		['ann', 'staff'],
	]) {
		await made(`${facts}/users`, { key, role_assignments: [{ role, tenant: 'acme' }] });
	}
	const element = { name: 'Element', settings: {}, webhook: { url: receiver.url, bearer_token } };
	await made(`${elements}/config`, {
		...element,
		key: 'members',
		elements_type: 'user_management',
		roles_to_levels: { LEVEL_1: ['owner'], LEVEL_4: ['staff'] },
	});
	await made(`${elements}/config`, {
		...element,
		key: 'requests',
		elements_type: 'approval_flow',
		settings: { user_management_element: 'members' },
		roles_to_levels: {},
	});
	return receiver;
}

const requestsOf = ({ facts }: Place, user: string) => `${facts}/access_requests/requests/user/${user}/tenant/acme`;

/** Requests a role as Ann. Returns the request id. */
async function ask(place: Place): Promise<string> {
	const { body } = await place.http.post(requestsOf(place, 'ann'), {
		access_request_details: { tenant: 'acme', role: 'owner' },
		reason: 'To do my work.',
	});
	return String(body['id']);
}

const deliveriesAt = ({ elements }: Place, key = 'requests') => `${elements}/config/${key}/webhook_deliveries`;

/** Waits until an element's deliveries have these statuses, newest first. */
async function deliveries(place: Place, wanted: readonly string[], key?: string): Promise<readonly Loose[]> {
	const { body } = await eventually(
		() => place.http.get<Paginated>(deliveriesAt(place, key)),
		({ body: seen }) => seen.data.map(({ status }) => status).join() === wanted.join(),
	);
	return body.data;
}

journey('a test message reaches the receiver, and creates no revision', async (t, place) => {
	const receiver = await setTheScene(t, place);
	const { http, elements } = place;
	const before = await place.revision();
	const sent = await http.post(`${elements}/config/requests/webhook_test`);
	t.is(sent.status, 204);
	const [delivery] = await deliveries(place, ['delivered']);
	t.like(delivery, { event: 'test', payload: { type: 'test', element_key: 'requests' }, response_status: 204 });
	t.is(receiver.received.length, 1);
	t.is(await place.revision(), before);
	await http.patch(`${elements}/config/requests`, { webhook: null });
	fails(t, await http.post(`${elements}/config/requests/webhook_test`), 404);
	fails(t, await http.post(`${elements}/config/nothing/webhook_test`), 404);
});

journey('each state of a request is delivered in order, with a signature', async (t, place) => {
	const receiver = await setTheScene(t, place);
	const { http, elements } = place;
	const id = await ask(place);
	await http.put(`${requestsOf(place, 'rex')}/${id}/deny`, { reviewer_comment: 'Not yet.' });
	await http.put(`${requestsOf(place, 'rex')}/${id}/deny`, {});
	const log = await deliveries(place, ['delivered', 'delivered']);
	const [ann, rex] = [await factId(place, 'users/ann'), await factId(place, 'users/rex')];
	const config = await http.get(`${elements}/config/requests`);
	const access_request_details = {
		tenant: await factId(place, 'tenants/acme'),
		role: String((await http.get(`${place.schema}/roles/owner`)).body['id']),
		resource: null,
		resource_instance: null,
		element_config_id: config.body['id'],
	};
	const asked = { requesting_user_id: ann, access_request_details, reason: 'To do my work.' };
	t.deepEqual(receiver.bodies(), [
		{ ...asked, status: 'pending', reviewer_user_id: null, reviewer_comment: null },
		{ ...asked, status: 'denied', reviewer_user_id: rex, reviewer_comment: 'Not yet.' },
	]);
	const { secret } = (await http.get<{ secret: string }>(`${elements}/config/requests/webhook_secret`)).body;
	const checking = new Webhook(secret);
	for (const [index, { method, path, headers, body }] of receiver.received.entries()) {
		t.deepEqual([method, path, headers['content-type']], ['POST', '/hook', 'application/json']);
		t.is(headers.authorization, `Bearer ${bearer_token}`);
		t.deepEqual(checking.verify(body, headers as Record<string, string>), receiver.bodies()[index]);
		t.is(headers['webhook-id'], String(log[1 - index]?.['id']));
	}
	t.like(log[0], {
		event: 'access_request',
		status: 'delivered',
		attempts: 1,
		response_status: 204,
		error: null,
		next_attempt_at: null,
		config_id: config.body['id'],
		environment_id: place.id,
		payload: receiver.bodies()[1],
	});
	t.false(JSON.stringify(log).includes(bearer_token));
});

journey('events about users, invites and roles are delivered', async (t, place) => {
	const receiver = await setTheScene(t, place);
	const { http, elements, facts } = place;
	const rex = await bearing(place, 'rex', 'acme');
	const users = `${elements}/config/members/data/users`;
	const invite = await rex.post(users, { key: 'ines', email: 'ines@example.com', role: 'staff' });
	t.is(invite.body['status'], 'pending', 'with a webhook, users are invited');
	const user = { key: 'ines', email: 'ines@example.com', attributes: {} };
	t.is((await http.post(`${facts}/user_invites/${invite.body['id']}/approve`, user)).status, 200);
	const given = await rex.post(`${users}/ann/roles`, { role: 'owner' });
	fails(t, await rex.post(`${users}/ann/roles`, { role: 'owner' }), 409);
	await deliveries(place, ['delivered', 'delivered', 'delivered'], 'members');
	const tenant_id = await factId(place, 'tenants/acme');
	const email = 'ines@example.com';
	t.deepEqual(receiver.bodies(), [
		{ email, role: 'staff', tenant_id, user_invite_id: invite.body['id'], type: 'invite_user' },
		{ email, tenant_key: 'acme', role: 'staff', permission_level: 'LEVEL_4', type: 'create_user' },
		{
			user_id: given.body['user_id'],
			tenant_id,
			role: 'owner',
			permission_level: 'LEVEL_1',
			type: 'role_assignment',
		},
	]);
});

journey('a failed delivery is retried under the same id, and later deliveries do not wait for it', async (t, place) => {
	const receiver = await setTheScene(t, place, (_, response, count) =>
		response.writeHead(count === 1 ? 503 : 200).end(),
	);
	await ask(place);
	await eventually(() => receiver.received.length === 1);
	await ask(place);
	const log = await deliveries(place, ['delivered', 'delivered']);
	t.deepEqual(
		log.map(({ attempts }) => attempts),
		[1, 2],
	);
	const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
	t.deepEqual([...new Set(ids)].sort(), log.map(({ id }) => id).sort());
	t.is(ids.length, 3);
	t.is(ids[0], String(log[1]?.['id']));
});

/** Receiver behavior, each with the outcome of the attempt. */
const bad: readonly (readonly [what: string, answer: Answering, ended: object])[] = [
	['redirects', (_, response) => response.writeHead(307, { location: '/other' }).end(), { response_status: 307 }],
	[
		'refuses',
		(_, response) => response.writeHead(401).end('who are you'),
		{ response_status: 401, error: 'got status 401' },
	],
	[
		'closes the connection',
		(_, response) => response.destroy(),
		{ response_status: null, error: 'no response: ECONNRESET' },
	],
	['hangs', () => {}, { response_status: null, error: 'timeout' }],
];

journey('the request does not wait for a receiver, and the log shows the outcome', async (t, place) => {
	const receivers = await Promise.all(bad.map(([, answer]) => startReceiver(answer)));
	const { http, elements } = place;
	const scene = await setTheScene(t, place);
	for (const [index, [what, , ended]] of bad.entries()) {
		const { url = '', stop } = receivers[index] ?? scene;
		t.teardown(stop);
		await http.patch(`${elements}/config/requests`, { webhook: { url } });
		await ask(place);
		const [first] = (
			await eventually(
				() => http.get<Paginated>(`${deliveriesAt(place)}?status=pending&per_page=1`),
				({ body }) => body.data[0]?.['error'] !== null,
			)
		).body.data;
		t.like(first, { status: 'pending', ...ended }, what);
		t.is(typeof first?.['next_attempt_at'], 'string');
		await http.patch(`${elements}/config/requests`, { webhook: null });
		await eventually(
			() => http.get<Paginated>(`${deliveriesAt(place)}?status=failed`),
			({ body }) => body.total_count === index + 1,
		);
	}
	t.is(scene.received.length, 0);
	const { body } = await http.get<Paginated>(`${deliveriesAt(place)}?status=failed&per_page=1`);
	t.is(body.data[0]?.['error'], 'the element no longer has a webhook');
});

journey('keys with write access can read the log, and admin keys can read the secret', async (t, place) => {
	await setTheScene(t, place);
	const { elements, url, store, organization_id, project_id, id: environment_id } = place;
	const key = (access_level: 'write' | 'read') =>
		createSecret(store, organization_id, { project_id, environment_id, access_level });
	const [writer, reader] = [client(url, await key('write')), client(url, await key('read'))];
	const secret = (of: string) => `${elements}/config/${of}/webhook_secret`;
	t.is((await writer.get(deliveriesAt(place))).status, 200);
	fails(t, await reader.get(deliveriesAt(place)), 403);
	for (const http of [writer, reader]) fails(t, await http.get(secret('requests')), 403);
	for (const path of [deliveriesAt(place), secret('requests')]) fails(t, await client(url).get(path), 401);
	const { http } = place;
	const told = await http.get(secret('requests'));
	t.regex(String(told.body['secret']), /^whsec_[\w+/]{43}=$/);
	t.is(told.headers.get('cache-control'), 'no-store');
	t.deepEqual((await http.get(secret('requests'))).body, told.body);
	t.notDeepEqual((await http.get(secret('members'))).body, told.body);
	await http.patch(`${elements}/config/requests`, { webhook: null });
	fails(t, await http.get(secret('requests')), 404, 'Webhook');
	await http.patch(`${elements}/config/requests`, { webhook: { url: 'http://127.0.0.1:9/' } });
	t.notDeepEqual((await http.get(secret('requests'))).body, told.body, 'a new webhook has a new secret');
	for (const path of [deliveriesAt(place, 'nothing'), secret('nothing')]) {
		fails(t, await http.get(path), 404, 'ElementsConfig');
	}
	t.deepEqual(problemPlaces(await http.get(`${deliveriesAt(place)}?status=lost&page=0`)), [
		'query.status',
		'query.page',
	]);
});

journey('the log keeps the newest thousand deliveries, and pending deliveries are limited', async (t, place) => {
	const receiver = await setTheScene(t, place);
	const { http, elements, store, id: environment_id } = place;
	const config_id = String((await http.get(`${elements}/config/requests`)).body['id']);
	const rows = (count: number, columns: object) =>
		Array.from({ length: count }, () => ({
			environment_id,
			config_id,
			id: store.clock.newId(),
			event: 'access_request',
			payload: '{}',
			attempts: 1,
			created_at: store.clock.now(),
			...columns,
		}));
	const table = () => store.database.knex('webhook_deliveries');
	await store.database.knex.batchInsert('webhook_deliveries', rows(1_100, { status: 'delivered' }), 500);
	await ask(place);
	await eventually(async () => (await table().where({ config_id })).length === 1_000);
	t.is(receiver.received.length, 1);
	const later = new Date(store.clock.now().getTime() + 3_600_000);
	const waiting = rows(10_000, { status: 'pending', next_attempt_at: later });
	await store.database.knex.batchInsert('webhook_deliveries', waiting, 2_000);
	await ask(place);
	t.is((await table().where({ config_id }).whereNot({ status: 'pending' })).length, 1_000, 'failed deliveries count');
	const [dropped] = (await http.get<Paginated>(deliveriesAt(place))).body.data;
	t.like(dropped, { status: 'failed', attempts: 0, error: 'too many pending deliveries for this element' });
	await http.delete(`${elements}/config/requests`);
	t.is((await table().where({ config_id })).length, 0, 'the log is deleted with its element');
});

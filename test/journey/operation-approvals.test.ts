// @rest

import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startApi } from '../../src/compose/api.js';
import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { createLogger } from '../../src/log.js';
import { newestChanges } from '../support/changes.js';
import { type Client, client, type Loose } from '../support/client.js';
import { declareNever } from '../support/declare-never.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { bearing, browsing } from '../support/element.js';
import { fails, problemPlaces } from '../support/failure.js';
import { creating } from '../support/furnished.js';
import { openLedger } from '../support/ledger.js';
import type { Paginated } from '../support/listed.js';
import { createSecret, newPlace, type Place } from '../support/management.js';
import { neverSwept, type Stack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Operation approvals by signed-in users. */

const journey = onEachStore();

/**
 * Ann and Bea make requests, and Rex reviews operations on the account `main` in `acme`. Zoe is in a different tenant.
 */
async function setTheScene(place: Place): Promise<void> {
	const { http, schema, facts, elements } = place;
	const made = creating(http);
	await made(`${schema}/roles`, { key: 'member', name: 'Member' });
	for (const key of ['account', 'folder']) await made(`${schema}/resources`, { key, name: key, actions: { read: {} } });
	for (const key of ['acme', 'beta']) await made(`${facts}/tenants`, { key, name: key });
	for (const [key, tenant] of [
		['ann', 'acme'],
		['bea', 'acme'],
		['rex', 'acme'],
		['zoe', 'beta'],
	] as const) {
		await made(`${facts}/users`, {
			key,
			email: `${key}@example.com`,
			first_name: key,
			role_assignments: [{ role: 'member', tenant }],
		});
	}
	await made(`${elements}/config`, {
		key: 'approvals',
		name: 'Approvals',
		elements_type: 'operation_approval',
		settings: { resource: 'account' },
		roles_to_levels: {},
	});
	await made(`${facts}/resource_instances`, { key: 'main', resource: 'account', tenant: 'acme' });
	await made(`${facts}/resource_instances`, { key: 'hidden', resource: 'account', tenant: 'beta' });
	await reviews(place, 'rex', 'account:main');
}

async function reviews({ http, facts }: Place, user: string, resource_instance: string): Promise<void> {
	const role = { user, role: '_Reviewer_', resource_instance, tenant: 'acme' };
	const { status, body } = await http.post(`${facts}/role_assignments`, role);
	if (status !== 200) throw new Error(JSON.stringify(body));
}

const path = ({ elements }: Place) => `${elements}/config/approvals/operation_approval`;
const ask = (more: object = {}) => ({
	access_request_details: { tenant: 'acme', resource: 'account', resource_instance: 'main', ...more },
	reason: 'To close the books.',
});

/** Returns the `_Approved_` holders as `user@instance`. */
async function approved({ http, facts }: Place): Promise<readonly string[]> {
	const { body } = await http.get<readonly Loose[]>(`${facts}/role_assignments?per_page=100`);
	return body.flatMap(({ user, role, resource_instance }) =>
		role === '_Approved_' ? [`${user}@${resource_instance}`] : [],
	);
}

journey('an operation is requested and approved, and is allowed from then on', async (t, place) => {
	await setTheScene(place);
	const ledger = await openLedger(t, place);
	const [ann, rex] = [await bearing(place, 'ann'), await bearing(place, 'rex')];
	const made = await ledger.wrote(await ann.post(path(place), ask()));
	t.like(made, {
		status: 'pending',
		type: 'operation_approval',
		reason: 'To close the books.',
		reviewer_user_id: null,
	});
	t.deepEqual(Object.keys(made['access_request_details'] as object).sort(), [
		'element_config_id',
		'resource',
		'resource_instance',
		'tenant',
	]);
	const one = `${path(place)}/${made['id']}`;
	for (const client of [ann, rex]) t.deepEqual(await ledger.read(await client.get(one)), made);
	const commented = await ledger.wrote(await rex.patch(`${one}/reviewer`, { reviewer_comment: 'Which books?' }));
	t.like(commented, { status: 'pending', reviewer_comment: 'Which books?' });
	const done = await ledger.wrote(await rex.put(`${one}/approve`));
	t.like(done, { status: 'approved', reviewer_comment: 'Which books?' });
	t.deepEqual(await approved(place), ['ann@account:main']);
	t.deepEqual(await ledger.kept(await rex.put(`${one}/approve`)), done);
	fails(t, await ann.put(`${one}/cancel`), 409, 'approved');
	await ledger.balanced();
});

journey('a missing instance is created so that reviewers can be assigned', async (t, place) => {
	await setTheScene(place);
	const [ann, rex] = [await bearing(place, 'ann'), await bearing(place, 'rex')];
	const { body } = await ann.post(path(place), ask({ resource_instance: 'new' }));
	const one = `${path(place)}/${body['id']}`;
	fails(t, await rex.put(`${one}/approve`), 404, 'ElementRequest');
	await reviews(place, 'rex', 'account:new');
	t.is((await rex.put(`${one}/approve`)).status, 200);
	t.deepEqual(await approved(place), ['ann@account:new']);
	const general = await ann.post(path(place), { access_request_details: { tenant: 'acme', resource: 'account' } });
	t.is((await rex.put(`${path(place)}/${general.body['id']}/approve`)).status, 200, 'without an instance');
	t.deepEqual(await approved(place), ['ann@account:new']);
});

/** Rejected request details, each with the status and the message. */
const refused: readonly (readonly [details: object, status: number, says: string])[] = [
	[{ tenant: 'beta' }, 400, 'beta'],
	[{ tenant: 'nowhere' }, 400, 'nowhere'],
	[{ resource: 'nothing' }, 404, 'nothing'],
	[{ resource: 'folder', resource_instance: 'f' }, 400, 'account'],
	[{ resource_instance: 'folder:f' }, 400, 'account'],
	[{ resource_instance: 'hidden' }, 404, 'hidden'],
];

journey('an operation that cannot be approved cannot be requested', async (t, place) => {
	await setTheScene(place);
	const ledger = await openLedger(t, place);
	const ann = await bearing(place, 'ann');
	for (const [details, status, says] of refused) fails(t, await ann.post(path(place), ask(details)), status, says);
	const details = 'body.access_request_details';
	t.deepEqual(problemPlaces(await ann.post(path(place), ask({ role: 'member' }))), [`${details}.role`]);
	t.deepEqual(problemPlaces(await ann.post(path(place), { reason: 'None.' })), [details]);
	fails(t, await ann.post(`${path(place)}`.replace('approvals', 'nothing'), ask()), 404, 'ElementsConfig');
	fails(t, await ann.post(`${path(place)}`.replace('operation_approval', 'access_requests'), ask()), 422);
	await ledger.balanced();
});

/** Expected status for each state change that a user makes to Ann's request. */
const moves: readonly (readonly [user: string, tenant: string, move: string, status: number])[] = [
	['ann', 'acme', 'approve', 403],
	['ann', 'acme', 'deny', 403],
	['bea', 'acme', 'approve', 404],
	['bea', 'acme', 'cancel', 404],
	['zoe', 'beta', 'approve', 404],
	['rex', 'acme', 'cancel', 403],
	['rex', 'acme', 'approve', 200],
	['rex', 'acme', 'deny', 200],
	['ann', 'acme', 'cancel', 200],
];

journey('reviewers decide, requesters cancel, and other users do not see a request', async (t, place) => {
	await setTheScene(place);
	const ann = await bearing(place, 'ann');
	for (const [user, tenant, move, status] of moves) {
		const { body } = await ann.post(path(place), ask());
		const client = await bearing(place, user, tenant);
		const answer = await client.put(`${path(place)}/${body['id']}/${move}`);
		t.is(answer.status, status, `${user} ${move}: ${JSON.stringify(answer.body)}`);
	}
	const { body } = await ann.post(path(place), ask());
	for (const method of ['GET', 'PUT'] as const) {
		const at = method === 'GET' ? '' : '/approve';
		fails(t, await place.http.send(method, `${path(place)}/${body['id']}${at}`), 401);
	}
	const cookie = await browsing(place, 'rex');
	t.is((await cookie.get(`${path(place)}/${body['id']}`)).status, 200);
	fails(t, await cookie.put(`${path(place)}/${body['id']}/approve`, {}), 403);
});

journey('a list shows requests with their authors, with filters and pages', async (t, place) => {
	await setTheScene(place);
	const clients = {
		ann: await bearing(place, 'ann'),
		bea: await bearing(place, 'bea'),
		rex: await bearing(place, 'rex'),
	};
	const ids: string[] = [];
	for (const [user, more] of [
		['ann', {}],
		['bea', {}],
		['bea', { resource_instance: 'other' }],
	] as const) {
		ids.push(String((await clients[user].post(path(place), ask(more))).body['id']));
	}
	await clients.rex.put(`${path(place)}/${ids[1]}/deny`);
	const list = async (user: keyof typeof clients, query = '') => {
		const { body } = await clients[user].get<Paginated>(`${path(place)}?${query}`);
		return body.data.map(({ id }) => ids.indexOf(String(id)));
	};
	t.deepEqual(await list('ann'), [0]);
	t.deepEqual(await list('bea'), [1, 2]);
	t.deepEqual(await list('rex'), [0, 1]);
	for (const [query, found] of [
		['status=denied', [1]],
		['status=approved', []],
		['resource=account', [0, 1]],
		['resource=folder', []],
		['resource_instance=account:main', [0, 1]],
		['resource_instance=account:other', []],
		['requesting_user=bea', [1]],
		['per_page=1&page=2', [1]],
	] as const) {
		t.deepEqual(await list('rex', query), found, query);
	}
	const { body } = await clients.rex.get<Paginated>(path(place));
	t.like(body, { total_count: 2, page_count: 1 });
	t.like(body.data[0], {
		requesting_user_key: 'ann',
		requesting_user_email: 'ann@example.com',
		requesting_user_first_name: 'ann',
		requesting_user_last_name: null,
		resource_key: 'account',
		resource_instance_key: 'main',
	});
});

/** Element settings that make approvals single-use, and grant `read` in addition to `operate`. */
const singleUse = { resource: 'account', action: 'read', single_use: true };

function set({ http, elements }: Place, settings: object) {
	return http.patch(`${elements}/config/approvals`, { settings });
}

/** Returns the path to consume an approval with an API key. */
const consumption = ({ facts }: Place, id: unknown) => `${facts}/operation_approvals/${id}/consume`;

/** Requests and approves an operation. Returns the request id. */
async function approve(place: Place, rex: Client, who: Client, details: object = {}): Promise<string> {
	const made = await who.post(path(place), ask(details));
	const { status, body } = await rex.put(`${path(place)}/${made.body['id']}/approve`);
	if (status !== 200) throw new Error(JSON.stringify(body));
	return String(body['id']);
}

async function actors(place: Place) {
	return { ann: await bearing(place, 'ann'), bea: await bearing(place, 'bea'), rex: await bearing(place, 'rex') };
}

/** Returns the actions granted by the approval role. */
async function granted({ http, schema }: Place): Promise<unknown> {
	return (await http.get(`${schema}/resources/account/roles/_Approved_`)).body['permissions'];
}

journey('an element’s setting names an action that an approval grants in addition to `operate`', async (t, place) => {
	await setTheScene(place);
	t.deepEqual(await granted(place), ['operate']);
	for (const [settings, says] of [
		[{ resource: 'account', action: 'burn' }, 'burn'],
		[{ resource: 'account', action: 5 }, '5'],
		[{ action: 'read' }, 'resource'],
		[{ single_use: 'true' }, 'single_use'],
		[{ single_use: 1 }, 'single_use'],
	] as const) {
		fails(t, await set(place, settings), 422, says);
	}
	t.deepEqual(problemPlaces(await set(place, { resource: 'account', action: 'burn' })), ['body.settings.action']);
	const operate = { resource: 'account', action: 'operate' };
	for (const settings of [operate, singleUse, singleUse]) t.is((await set(place, settings)).status, 200);
	t.deepEqual(await granted(place), ['operate', 'read']);
	t.is((await set(place, operate)).status, 200);
	t.deepEqual(await granted(place), ['operate', 'read'], 'granted actions remain');
});

journey('a single-use approval is valid for one use', async (t, place) => {
	await setTheScene(place);
	await set(place, singleUse);
	const { ann, rex } = await actors(place);
	const id = await approve(place, rex, ann);
	const ledger = await openLedger(t, place);
	t.false('consumed_at' in (await ann.get(`${path(place)}/${id}`)).body);
	const consumed = await ledger.wrote(await place.http.post(consumption(place, id)));
	t.like(consumed, { id, status: 'approved' });
	t.is(typeof consumed['consumed_at'], 'string');
	t.deepEqual(await approved(place), []);
	t.deepEqual(await ledger.read(await ann.get(`${path(place)}/${id}`)), consumed);
	const { body } = await ann.get<Paginated>(path(place));
	t.is(body.data[0]?.['consumed_at'], consumed['consumed_at']);
	fails(t, await place.http.post(consumption(place, id)), 409, String(consumed['consumed_at']));
	t.deepEqual(
		await ledger.kept(await rex.put(`${path(place)}/${id}/approve`)),
		consumed,
		'approving again has no effect',
	);
	t.deepEqual(await approved(place), []);
});

journey('an approval that cannot be consumed is rejected with the reason', async (t, place, management) => {
	await setTheScene(place);
	const { ann, rex } = await actors(place);
	const { knex } = place.store.database;
	const consume = (id: unknown) => place.http.post(consumption(place, id));
	const ask1 = async (move?: string, by = rex) => {
		const { body } = await ann.post(path(place), ask());
		if (move !== undefined) await by.put(`${path(place)}/${body['id']}/${move}`);
		return String(body['id']);
	};
	const plain = await approve(place, rex, ann);
	fails(t, await consume(plain), 409, 'single_use');
	t.deepEqual(await approved(place), ['ann@account:main']);
	await set(place, singleUse);
	fails(t, await consume(await ask1()), 409, 'pending');
	fails(t, await consume(await ask1('deny')), 409, 'denied');
	fails(t, await consume(await ask1('cancel', ann)), 409, 'canceled');
	for (const unknown of ['nothing', randomUUID()]) fails(t, await consume(unknown), 404, unknown);
	const other = await newPlace(management, management.project);
	fails(t, await other.http.post(consumption(other, plain)), 404, plain);
	const reader = await createSecret(place.store, place.organization_id, {
		project_id: place.project_id,
		environment_id: place.id,
		access_level: 'read',
	});
	fails(t, await client(place.url, reader).post(consumption(place, plain)), 403);
	await knex('element_requests')
		.where({ id: plain })
		.update({ expires_at: new Date(0) });
	fails(t, await consume(plain), 409, 'ended');
	await knex('element_requests').where({ id: plain }).update({ expires_at: null });
	const held = { user: 'ann', role: '_Approved_', resource_instance: 'account:main', tenant: 'acme' };
	await place.http.delete(`${place.facts}/role_assignments`, held);
	fails(t, await consume(plain), 409, 'hold');
	const again = await approve(place, rex, ann);
	await place.http.delete(`${place.elements}/config/approvals`);
	fails(t, await consume(again), 409, 'deleted');
});

journey('consuming removes only the role of the approval', async (t, place) => {
	await setTheScene(place);
	await set(place, singleUse);
	const { ann, bea, rex } = await actors(place);
	const consume = async (id: string) => t.is((await place.http.post(consumption(place, id))).status, 200);
	const [first, second, others] = [
		await approve(place, rex, ann),
		await approve(place, rex, ann),
		await approve(place, rex, bea),
	];
	await consume(first);
	t.deepEqual((await approved(place)).toSorted(), ['ann@account:main', 'bea@account:main'], 'by the second approval');
	await consume(second);
	t.deepEqual(await approved(place), ['bea@account:main']);
	const role = { user: 'ann', role: '_Approved_', resource_instance: 'account:main', tenant: 'acme' };
	t.is((await place.http.post(`${place.facts}/role_assignments`, role)).status, 200);
	await consume(await approve(place, rex, ann));
	t.deepEqual((await approved(place)).toSorted(), ['ann@account:main', 'bea@account:main'], 'assigned manually before');
	await place.http.delete(`${place.facts}/role_assignments`, role);
	const ending = await approve(place, rex, ann, { expires_at: '2999-01-01T00:00:00Z' });
	t.is((await place.http.post(`${place.facts}/role_assignments`, role)).status, 200, 'extended manually');
	await consume(ending);
	t.deepEqual((await approved(place)).toSorted(), ['ann@account:main', 'bea@account:main']);
	await consume(others);
	t.deepEqual(await approved(place), ['ann@account:main']);
});

journey('a conditional role does not make a reviewer, and cannot be consumed', async (t, place) => {
	await setTheScene(place);
	await set(place, singleUse);
	const { ann, bea, rex } = await actors(place);
	const under = async (user: string, role: string) => {
		const condition = await declareNever(place, `account/roles/${role}`);
		const body = { user, role, resource_instance: 'account:main', condition };
		t.is((await place.http.post(`${place.facts}/role_assignments`, body)).status, 200);
	};
	await under('bea', '_Reviewer_');
	await under('ann', '_Approved_');
	const asked = await ann.post(path(place), ask());
	fails(t, await bea.put(`${path(place)}/${asked.body['id']}/approve`), 404, 'ElementRequest');
	const id = await approve(place, rex, ann);
	t.is((await approved(place)).length, 2);
	t.is((await place.http.post(consumption(place, id))).status, 200);
	const { body } = await place.http.get<readonly Loose[]>(`${place.facts}/role_assignments?role=_Approved_`);
	t.deepEqual(
		body.map(({ condition }) => condition !== undefined),
		[true],
	);
});

journey('a new approval does not bring back a removed approval', async (t, place) => {
	await setTheScene(place);
	await set(place, singleUse);
	const { ann, rex } = await actors(place);
	await approve(place, rex, ann);
	const role = { user: 'ann', role: '_Approved_', resource_instance: 'account:main', tenant: 'acme' };
	t.is((await place.http.delete(`${place.facts}/role_assignments`, role)).status, 204);
	const next = await approve(place, rex, ann);
	t.is((await place.http.post(consumption(place, next))).status, 200);
	t.deepEqual(await approved(place), []);
	const deleted = (await newestChanges(place)).filter((change) => change.startsWith('delete role_assignment'));
	t.is(deleted.length, 1);
});

onEachStack('a decision point consumes an approval once, and denies from then on', async (t, stack, kind) => {
	const { environment: http, pdp, config } = stack;
	const place = await placeOf(stack);
	await setTheScene(place);
	const settings = await set(place, { ...singleUse, max_duration: 3_600 });
	t.is(settings.status, 200);
	const { ann, bea, rex } = await actors(place);
	const resource = { type: 'account', key: 'main', tenant: 'acme' };
	const allowed = async (point: Client, user: string, action: string, revision: number | undefined) => {
		const headers = { 'x-min-revision': String(revision ?? 0) };
		const { status, body } = await point.post('/allowed', { user, action, resource }, { headers });
		t.is(status, 200, JSON.stringify(body));
		return body['allow'];
	};
	const asking = await ann.post(path(place), ask());
	const id = String(asking.body['id']);
	const done = await rex.put(`${path(place)}/${id}/approve`);
	t.truthy((done.body['access_request_details'] as Loose)['expires_at'], 'limited by the element');
	for (const action of ['operate', 'read']) t.true(await allowed(pdp, 'ann', action, done.revision), action);
	const other = kind === 'server' ? client(await secondNode(t, stack), stack.keys.environment) : http;
	const answers = await Promise.all(
		Array.from({ length: 20 }, (_, index) =>
			index % 2 === 0 ? pdp.post(`/operation_approvals/${id}/consume`) : other.post(consumption(place, id)),
		),
	);
	const [won, ...more] = answers.filter(({ status }) => status === 200);
	t.deepEqual(more, []);
	t.is(answers.filter(({ status }) => status === 409).length, 19);
	t.like(won?.body, { id, status: 'approved' });
	for (const action of ['operate', 'read']) t.false(await allowed(pdp, 'ann', action, won?.revision), action);

	const second = await approve(place, rex, bea);
	const consumed = await pdp.post(`/operation_approvals/${second}/consume`);
	t.is(consumed.status, 200);
	t.is(consumed.body['id'], second);
	t.true((consumed.revision ?? 0) > (won?.revision ?? 0));
	t.false((await pdp.post('/allowed', { user: 'bea', action: 'operate', resource })).body['allow'], 'immediately');
	const twice = await pdp.post(`/operation_approvals/${second}/consume`);
	t.is(twice.status, 409);
	t.regex(String(twice.body['detail']), /already consumed/);
	const stranger = client(stack.decisionPoint.listening.url, stack.keys.organization);
	for (const [reference, caller, status] of [
		['nothing', pdp, 404],
		[randomUUID(), pdp, 404],
		['..%2f..', pdp, 404],
		[second, stranger, 403],
	] as const) {
		t.is((await caller.post(`/operation_approvals/${reference}/consume`)).status, status, reference);
	}
	await endsByTheClock(t, place, { ann, rex }, async (clock) => {
		const own = { ...config, data_directory: temporary(t) };
		const point = await startDecisionPoint(own, createLogger('silent'), place.url, stack.keys.environment, { clock });
		t.teardown(() => point.stop());
		const at = client(point.listening.url, stack.keys.environment);
		return (revision) => allowed(at, 'ann', 'operate', revision);
	});
	const own = { ...config, data_directory: temporary(t) };
	const alone = await startDecisionPoint(own, createLogger('silent'), 'http://127.0.0.1:9', stack.keys.environment);
	t.teardown(() => alone.stop());
	const left = await approve(place, rex, ann);
	const away = await client(alone.listening.url, stack.keys.environment).post(`/operation_approvals/${left}/consume`);
	t.is(away.status, 503, 'the control plane is unreachable');
	t.regex(String(away.body['detail']), /control plane/);
});

/** Simulates a second API process on the stack's database server. */
async function secondNode(t: ExecutionContext, { config }: Stack): Promise<string> {
	const folder = temporary(t);
	cpSync(join(config.data_directory, 'server.key'), join(folder, 'server.key'));
	const node = await startApi({ ...config, data_directory: folder }, createLogger('silent'), {
		sweepPause: neverSwept,
	});
	t.teardown(node.stop);
	return node.listening.url;
}

/** Returns a stack's initial environment. */
async function placeOf({ environment: http, api, keys }: Stack): Promise<Place> {
	const { body } = await http.get<Record<string, string>>('/v2/api-key/scope');
	const { environment_id: id = '', project_id = '', organization_id = '' } = body;
	return {
		url: api.listening.url,
		store: api.store,
		id,
		key: 'dev',
		project: 'default',
		project_id,
		organization_id,
		secret: keys.environment,
		key_id: '',
		http,
		schema: '/v2/schema/default/dev',
		facts: '/v2/facts/default/dev',
		elements: '/v2/elements/default/dev',
		revision: async () => (await api.store.counters(id))?.revision ?? -1,
	};
}

/** Asserts that an approval with an expiry ends on time and cannot be consumed later. */
async function endsByTheClock(
	t: ExecutionContext,
	place: Place,
	{ ann, rex }: { readonly ann: Client; readonly rex: Client },
	start: (clock: { now: () => Date }) => Promise<(revision: number | undefined) => Promise<unknown>>,
): Promise<void> {
	let now = new Date();
	const check = await start({ now: () => now });
	const expires_at = new Date(Date.now() + 1_800_000).toISOString();
	const made = await ann.post(path(place), ask({ expires_at }));
	const done = await rex.put(`${path(place)}/${made.body['id']}/approve`);
	t.is((done.body['access_request_details'] as Loose)['expires_at'], expires_at);
	now = new Date(Date.parse(expires_at) - 1);
	t.true(await check(done.revision));
	now = new Date(expires_at);
	t.false(await check(done.revision));
	const { knex } = place.store.database;
	await knex('element_requests')
		.where({ id: made.body['id'] as string })
		.update({ expires_at: new Date(0) });
	fails(t, await place.http.post(consumption(place, made.body['id'])), 409, 'ended');
	await place.http.delete(`${place.facts}/role_assignments`, {
		user: 'ann',
		role: '_Approved_',
		resource_instance: 'account:main',
		tenant: 'acme',
	});
}

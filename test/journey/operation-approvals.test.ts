import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { bearing, browsing } from '../support/element.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Operation approvals by users who are signed in (spec: Elements: operation approvals). */

const journey = onEachStore();

/** Ann and Bea ask, Rex reviews operations on account `main` in `acme`; Zoe is of another tenant. */
async function setTheScene(place: Place): Promise<void> {
	const { http, schema, facts, elements } = place;
	const made = async (path: string, body: object) => {
		const { status, body: said } = await http.post(path, body);
		if (status !== 200) throw new Error(`${path}: ${JSON.stringify(said)}`);
	};
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

/** Who may operate: the holders of `_Approved_`, as `user@instance`. */
async function approved({ http, facts }: Place): Promise<readonly string[]> {
	const { body } = await http.get<readonly Loose[]>(`${facts}/role_assignments?per_page=100`);
	return body.flatMap(({ user, role, resource_instance }) =>
		role === '_Approved_' ? [`${user}@${resource_instance}`] : [],
	);
}

journey('an operation is asked for, approved, and may be done from then on', async (t, place) => {
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

journey('an instance that does not exist is made, so that reviewers can be assigned', async (t, place) => {
	await setTheScene(place);
	const [ann, rex] = [await bearing(place, 'ann'), await bearing(place, 'rex')];
	const { body } = await ann.post(path(place), ask({ resource_instance: 'new' }));
	const one = `${path(place)}/${body['id']}`;
	fails(t, await rex.put(`${one}/approve`), 404, 'ElementRequest');
	await reviews(place, 'rex', 'account:new');
	t.is((await rex.put(`${one}/approve`)).status, 200);
	t.deepEqual(await approved(place), ['ann@account:new']);
	const general = await ann.post(path(place), { access_request_details: { tenant: 'acme', resource: 'account' } });
	t.is((await rex.put(`${path(place)}/${general.body['id']}/approve`)).status, 200, 'about no instance');
	t.deepEqual(await approved(place), ['ann@account:new']);
});

/** What is refused: the details, the status, and what the message says. */
const refused: readonly (readonly [details: object, status: number, says: string])[] = [
	[{ tenant: 'beta' }, 400, 'beta'],
	[{ tenant: 'nowhere' }, 404, 'nowhere'],
	[{ resource: 'nothing' }, 404, 'nothing'],
	[{ resource: 'folder', resource_instance: 'f' }, 400, 'account'],
	[{ resource_instance: 'folder:f' }, 400, 'account'],
	[{ resource_instance: 'hidden' }, 404, 'hidden'],
];

journey('what cannot be approved is not asked for', async (t, place) => {
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

/** Who may do what to Ann's request. */
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

journey('reviewers decide, requesters cancel, and nobody else sees a request', async (t, place) => {
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

journey('a list tells who asks for what, filtered and by the page', async (t, place) => {
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

// @rest

import type { ExecutionContext } from 'ava';
import type { Answer, Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { bearing } from '../support/element.js';
import { factId } from '../support/fact-id.js';
import { fails, problemPlaces } from '../support/failure.js';
import { creating } from '../support/furnished.js';
import { openLedger } from '../support/ledger.js';
import type { Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Access requests with an API key: requesters, reviewers and effects. */

const journey = onEachStore();

/**
 * Ann and Bea request roles. Rex owns the tenant `acme` and reviews its requests, and Max only manages `acme`. Zoe owns
 * a second tenant. The document `plan` is in `acme`, and Ian owns only this document.
 */
async function setTheScene(place: Place): Promise<void> {
	const { http, schema, facts, elements } = place;
	const made = creating(http);
	for (const key of ['owner', 'manager', 'editor', 'viewer']) await made(`${schema}/roles`, { key, name: key });
	await made(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await made(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: { read: {} } });
	for (const key of ['keeper', 'reader']) {
		await made(`${schema}/resources/document/roles`, { key, name: key });
		await made(`${schema}/resources/folder/roles`, { key, name: key });
	}
	for (const key of ['acme', 'beta']) await made(`${facts}/tenants`, { key, name: key });
	for (const key of ['plan', 'memo']) {
		await made(`${facts}/resource_instances`, { key, resource: 'document', tenant: 'acme' });
	}
	await made(`${facts}/resource_instances`, { key: 'secret', resource: 'document', tenant: 'beta' });
	for (const key of ['ann', 'bea', 'rex', 'max', 'ian', 'zoe', 'out']) await made(`${facts}/users`, { key });
	const holds = (user: string, role: string, where: object) =>
		made(`${facts}/role_assignments`, { user, role, ...where });
	await made(`${facts}/tenants/acme/users`, { key: 'ann' });
	await holds('bea', 'viewer', { tenant: 'acme' });
	await holds('rex', 'owner', { tenant: 'acme' });
	await holds('max', 'manager', { tenant: 'acme' });
	await holds('zoe', 'owner', { tenant: 'beta' });
	await holds('ian', 'keeper', { resource_instance: 'document:plan', tenant: 'acme' });
	await made(`${elements}/config`, {
		key: 'members',
		name: 'Members',
		elements_type: 'user_management',
		settings: {},
		roles_to_levels: { LEVEL_1: ['owner', 'document#keeper'], LEVEL_2: ['manager'], LEVEL_4: ['viewer'] },
	});
	await made(`${elements}/config`, {
		key: 'requests',
		name: 'Requests',
		elements_type: 'approval_flow',
		settings: { user_management_element: 'members' },
		roles_to_levels: {},
	});
}

/** Returns the path for a user's requests in a tenant, through the element `requests`. */
function as({ facts }: Place, user: string, tenant = 'acme', element = 'requests'): string {
	return `${facts}/access_requests/${element}/user/${user}/tenant/${tenant}`;
}

const ask = (role: string, more: object = {}) => ({
	access_request_details: { tenant: 'acme', role, ...more },
	reason: 'To do my work.',
});

/** Returns the role assignments as `user#role@where`, without the initial assignments. */
async function newRoles({ http, facts }: Place): Promise<readonly string[]> {
	const { body } = await http.get<readonly Loose[]>(`${facts}/role_assignments?per_page=100`);
	const names = body.map(
		({ user, role, tenant, resource_instance }) => `${user}#${role}@${resource_instance ?? tenant}`,
	);
	return names
		.filter((name) => name.startsWith('ann') || name.startsWith('bea'))
		.filter((name) => name !== 'bea#viewer@acme');
}

journey('a requested role is approved, and the requester has it from then on', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	const ledger = await openLedger(t, place);
	const made = await ledger.wrote(await http.post(as(place, 'ann'), ask('editor')));
	const tenant = await factId(place, 'tenants/acme');
	t.like(made, {
		status: 'pending',
		type: 'access_request',
		reason: 'To do my work.',
		requesting_user_id: await factId(place, 'users/ann'),
		environment_id: place.id,
		project_id: place.project_id,
		organization_id: place.organization_id,
		reviewer_user_id: null,
		reviewed_at: null,
		reviewer_comment: null,
	});
	t.like(made['access_request_details'], { tenant, resource: null, resource_instance: null });
	const one = (user: string) => `${as(place, user)}/${made['id']}`;
	for (const user of ['ann', 'rex']) t.deepEqual(await ledger.read(await http.get(one(user))), made, user);
	const approved = await ledger.wrote(await http.put(`${one('rex')}/approve`, { reviewer_comment: 'Welcome.' }));
	t.like(approved, {
		status: 'approved',
		reviewer_comment: 'Welcome.',
		reviewer_user_id: await factId(place, 'users/rex'),
		reviewed_at: approved['updated_at'],
	});
	t.deepEqual(await newRoles(place), ['ann#editor@acme']);
	t.deepEqual(await ledger.kept(await http.put(`${one('rex')}/approve`)), approved, 'repeated by the same user');
	await ledger.balanced();
	const { body } = await http.get<Paginated>(
		`/v2/projects/${place.project}/envs/${place.key}/changes?kind=role_assignment&per_page=1`,
	);
	t.like(body.data[0], { operation: 'create', key: 'ann#editor@acme', after: { element_request_id: made['id'] } });
});

/** Request details, each with the role that the user has after the approval. */
const wanted: readonly (readonly [details: object, held: string])[] = [
	[{ role: 'viewer' }, 'ann#viewer@acme'],
	[{ role: 'viewer', resource: 'document' }, 'ann#viewer@acme'],
	[{ role: 'reader', resource: 'document', resource_instance: 'plan' }, 'ann#reader@document:plan'],
	[{ role: 'keeper', resource_instance: 'document:memo' }, 'ann#keeper@document:memo'],
];

journey('each role is assigned once, in the tenant or on the instance', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	for (const [details, held] of wanted) {
		const before = await newRoles(place);
		const { body } = await http.post(as(place, 'ann'), { access_request_details: { tenant: 'acme', ...details } });
		t.is((await http.put(`${as(place, 'rex')}/${body['id']}/approve`, {})).status, 200, held);
		t.deepEqual(await newRoles(place), [...new Set([...before, held])], held);
	}
	const { body } = await http.post(as(place, 'bea'), ask('viewer'));
	t.is(
		(await http.put(`${as(place, 'rex')}/${body['id']}/approve`, {})).status,
		200,
		'a role that the user already has',
	);
});

/** Rejected requests, each with the user, the details, the status and the message. */
const refused: readonly (readonly [user: string, details: object, status: number, says: string])[] = [
	['out', { role: 'editor' }, 403, 'not a member'],
	['zoe', { role: 'editor' }, 403, 'not a member'],
	['ann', { role: 'editor', tenant: 'beta' }, 400, 'beta'],
	['ann', { role: 'editor', tenant: 'nowhere' }, 400, 'nowhere'],
	['ann', { role: 'nobody' }, 404, 'nobody'],
	['ann', { role: 'keeper' }, 404, 'keeper'],
	['ann', { role: 'keeper', resource: 'document' }, 404, 'keeper'],
	['ann', { role: 'editor', resource: 'nothing' }, 404, 'nothing'],
	['ann', { role: 'editor', resource_instance: 'document:plan' }, 404, 'editor'],
	['ann', { role: 'keeper', resource: 'folder', resource_instance: 'document:plan' }, 400, 'folder'],
	['ann', { role: 'keeper', resource_instance: 'document:secret' }, 404, 'document:secret'],
	['ann', { role: 'keeper', resource_instance: 'document:nothing' }, 404, 'document:nothing'],
];

journey('a role that cannot be assigned cannot be requested', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	const ledger = await openLedger(t, place);
	for (const [user, details, status, says] of refused) {
		const body = { access_request_details: { tenant: 'acme', ...details } };
		fails(t, await http.post(as(place, user), body), status, says);
	}
	fails(t, await http.post(as(place, 'ann', 'acme', 'members'), ask('editor')), 400, 'user_management');
	fails(t, await http.post(as(place, 'ann', 'acme', 'nothing'), ask('editor')), 404, 'ElementsConfig');
	fails(t, await http.post(as(place, 'nobody'), ask('editor')), 404, 'User');
	const details = 'body.access_request_details';
	for (const [body, at] of [
		[{}, details],
		[{ access_request_details: { role: 'editor' } }, `${details}.tenant`],
		[ask('editor', { expires: 'never' }), `${details}.expires`],
		[{ ...ask('editor'), status: 'approved' }, 'body.status'],
		[{ ...ask('editor'), reason: 5 }, 'body.reason'],
	] as const) {
		t.deepEqual(problemPlaces(await http.post(as(place, 'ann'), body)), [at], JSON.stringify(body));
	}
	await ledger.balanced();
});

/** Expected status for each state change that a user makes to Ann's request for document `plan`. */
const moves: readonly (readonly [user: string, move: string, status: number])[] = [
	['ann', 'approve', 403],
	['ann', 'deny', 403],
	['bea', 'approve', 404],
	['bea', 'cancel', 404],
	['max', 'approve', 404],
	['zoe', 'approve', 404],
	['rex', 'cancel', 403],
	['ian', 'cancel', 403],
	['rex', 'approve', 200],
	['rex', 'deny', 200],
	['ian', 'approve', 200],
	['ian', 'deny', 200],
	['ann', 'cancel', 200],
];

journey('owners review, requesters cancel, and other users do not see a request', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	for (const [user, move, status] of moves) {
		const { body } = await http.post(as(place, 'ann'), ask('reader', { resource_instance: 'document:plan' }));
		const answer = await http.put(`${as(place, user)}/${body['id']}/${move}`, {});
		t.is(answer.status, status, `${user} ${move}: ${JSON.stringify(answer.body)}`);
		const seen = await http.get(`${as(place, 'ann')}/${body['id']}`);
		const after = { approve: 'approved', deny: 'denied', cancel: 'canceled' }[move];
		t.is(seen.body['status'], status === 200 ? after : 'pending');
	}
	const { body } = await http.post(as(place, 'ann'), ask('editor'));
	fails(t, await http.put(`${as(place, 'ian')}/${body['id']}/approve`, {}), 404, 'ElementRequest');
	fails(t, await http.put(`${as(place, 'rex', 'beta')}/${body['id']}/approve`, {}), 404, 'ElementRequest');
	fails(t, await http.get(`${as(place, 'rex')}/${place.id}`), 404, 'ElementRequest');
	fails(t, await http.get(`${as(place, 'rex')}/no-id`), 404, 'ElementRequest');
});

const ends = { approve: 'approved', deny: 'denied', cancel: 'canceled' } as const;

journey('a request that is not pending cannot change', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	const by = { approve: 'rex', deny: 'rex', cancel: 'ann' } as const;
	const kinds = Object.keys(ends) as (keyof typeof ends)[];
	for (const first of kinds) {
		const { body } = await http.post(as(place, 'ann'), ask('editor'));
		const moved = await http.put(`${as(place, by[first])}/${body['id']}/${first}`, {});
		t.is(moved.status, 200);
		for (const second of kinds) {
			const again: Answer<Loose> = await http.put(`${as(place, by[second])}/${body['id']}/${second}`, {});
			if (first === second) t.deepEqual(again.body, moved.body, first);
			else fails(t, again, 409, ends[first]);
		}
		fails(t, await http.patch(`${as(place, 'rex')}/${body['id']}/reviewer`, { role: 'viewer' }), 409, ends[first]);
		const commented = await http.patch(`${as(place, 'rex')}/${body['id']}/reviewer`, { reviewer_comment: 'Later.' });
		t.like(commented.body, { reviewer_comment: 'Later.', status: ends[first] });
	}
});

journey('a reviewer can change a tenant role only to a tenant role, before or during approval', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	const { body } = await http.post(as(place, 'ann'), ask('editor'));
	const one = `${as(place, 'rex')}/${body['id']}`;
	fails(t, await http.patch(`${one}/reviewer`, { role: 'keeper' }), 404, 'keeper');
	fails(t, await http.patch(`${as(place, 'ann')}/${body['id']}/reviewer`, { role: 'owner' }), 403, 'reviewers');
	t.is((await http.patch(`${one}/reviewer`, { role: 'manager', reviewer_comment: 'First this.' })).status, 200);
	fails(t, await http.put(`${one}/approve`, { role: 'document#keeper' }), 404, 'keeper');
	const approved = await http.put(`${one}/approve`, { role: 'viewer' });
	t.like(approved.body, { status: 'approved', reviewer_comment: 'First this.' });
	t.deepEqual(await newRoles(place), ['ann#viewer@acme']);
});

journey('nobody reviews their own request, unless the element allows it', async (t, place) => {
	await setTheScene(place);
	const { http, elements } = place;
	const { body } = await http.post(as(place, 'rex'), ask('editor'));
	const one = `${as(place, 'rex')}/${body['id']}`;
	for (const move of ['approve', 'deny']) fails(t, await http.put(`${one}/${move}`, {}), 403, 'their own requests');
	const settings = { user_management_element: 'members', allow_self_approval: true };
	await http.patch(`${elements}/config/requests`, { settings });
	t.is((await http.put(`${one}/approve`, {})).status, 200);
});

journey('an approval does not add a user who has left the tenant', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	const { body } = await http.post(as(place, 'ann'), ask('editor'));
	t.is((await http.delete(`${facts}/tenants/acme/users/ann`)).status, 204);
	fails(t, await http.put(`${as(place, 'rex')}/${body['id']}/approve`), 409, 'member');
	t.deepEqual(await newRoles(place), []);
	t.is((await http.put(`${as(place, 'rex')}/${body['id']}/deny`)).status, 200);
});

journey('instances in other tenants are not revealed', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	await http.post(`${facts}/resource_instances`, { key: 'plan', resource: 'folder', tenant: 'beta' });
	const reader = (more: object) => http.post(as(place, 'ann'), ask('reader', more));
	t.is((await reader({ resource_instance: 'plan' })).status, 200, 'the key refers to the only instance in the tenant');
	await http.post(`${facts}/resource_instances`, { key: 'memo', resource: 'folder', tenant: 'acme' });
	fails(t, await reader({ resource_instance: 'memo' }), 400, 'several');
	t.is((await reader({ resource_instance: 'memo', resource: 'folder' })).status, 200);
	const unknown = await reader({ resource_instance: 'folder:plan' });
	fails(t, unknown, 404, 'folder:plan');
	t.false(JSON.stringify(unknown.body).includes('beta'));
});

journey('a list contains only requests that its reader may see, with filters and pages', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	const ids: string[] = [];
	for (const [user, body] of [
		['ann', ask('editor')],
		['ann', ask('reader', { resource_instance: 'document:plan' })],
		['bea', ask('keeper', { resource_instance: 'document:memo' })],
		['bea', ask('manager', { resource: 'document' })],
	] as const) {
		ids.push(String((await http.post(as(place, user), body)).body['id']));
	}
	await http.put(`${as(place, 'rex')}/${ids[3]}/deny`, {});
	const list = async (user: string, query = '') => {
		const { body } = await http.get<Paginated>(`${as(place, user)}?${query}`);
		return body.data.map(({ id }) => ids.indexOf(String(id)));
	};
	t.deepEqual(await list('rex'), [0, 1, 2, 3]);
	t.deepEqual(await list('ann'), [0, 1]);
	t.deepEqual(await list('bea'), [2, 3]);
	t.deepEqual(await list('ian'), [1]);
	t.deepEqual(await list('max'), []);
	const plan = await factId(place, 'resource_instances/document:plan');
	const filters: readonly (readonly [query: string, found: readonly number[]])[] = [
		['status=pending', [0, 1, 2]],
		['status=denied', [3]],
		['tenant=acme', [0, 1, 2, 3]],
		['tenant=beta', []],
		['tenant=nowhere', []],
		['role=editor', [0]],
		['role=keeper', [2]],
		['role=nobody', []],
		['resource=document', [1, 2, 3]],
		['resource=folder', []],
		['resource_instance_id=document:plan', [1]],
		[`resource_instance_id=${plan}`, [1]],
		['resource_instance_id=document:nothing', []],
		['requesting_user=bea', [2, 3]],
		['requesting_user=nobody', []],
		['role=reader&status=pending&resource=document', [1]],
		['page=2&per_page=3', [3]],
		['page=9', []],
	];
	for (const [query, found] of filters) t.deepEqual(await list('rex', query), found, query);
	const { body } = await http.get(`${as(place, 'rex')}?per_page=3`);
	t.like(body, { total_count: 4, page_count: 2 });
	const [listed] = (await http.get<Paginated>(`${as(place, 'rex')}?role=reader`)).body.data;
	t.like(listed, {
		requesting_user_key: 'ann',
		requesting_user_email: null,
		role_key: 'reader',
		role_name: 'reader',
		resource_key: 'document',
		resource_instance_key: 'plan',
	});
	for (const query of ['status=open', 'page=0', 'per_page=101']) {
		t.is(problemPlaces(await http.get(`${as(place, 'rex')}?${query}`)).length, 1, query);
	}
});

journey('requests are deleted with the objects that they name, and canceled with their element', async (t, place) => {
	await setTheScene(place);
	const { http, facts, schema, elements } = place;
	const ledger = await openLedger(t, place);
	const count = async () => Number((await http.get(as(place, 'rex'))).body['total_count']);
	const askedThenGone = async (body: object, path: string, user = 'ann') => {
		await ledger.wrote(await http.post(as(place, user), body));
		t.is(await count(), 1);
		await ledger.wrote(await http.delete(path), 204);
		t.is(await count(), 0, path);
	};
	await askedThenGone(ask('editor'), `${schema}/roles/editor`);
	await askedThenGone(
		ask('reader', { resource_instance: 'document:plan' }),
		`${facts}/resource_instances/document:plan`,
	);
	await askedThenGone(ask('viewer', { resource: 'document' }), `${schema}/resources/document`);
	await askedThenGone(ask('viewer'), `${facts}/users/bea`, 'bea');
	const { body } = await http.post(as(place, 'ann'), ask('viewer'));
	await http.delete(`${elements}/requests`);
	const changes = await http.get<Paginated>(
		`/v2/projects/${place.project}/envs/${place.key}/changes?kind=element_request&per_page=1`,
	);
	t.like(changes.body.data[0], { operation: 'update', key: body['id'], after: { status: 'canceled' } });
});

/**
 * Asserts that exactly one of several concurrent decisions succeeds, and that the role is assigned if and only if this
 * decision is an approval.
 */
async function decideAtOnce(t: ExecutionContext, place: Place, reviewers: readonly string[]): Promise<void> {
	const { http } = place;
	const { body } = await http.post(as(place, 'ann'), ask('editor'));
	const answers = await Promise.all(
		reviewers.map((user, index) =>
			http.put(`${as(place, user)}/${body['id']}/${index % 2 === 0 ? 'approve' : 'deny'}`, {}),
		),
	);
	t.is(answers.filter(({ status }) => status === 200).length, 1);
	t.is(answers.filter(({ status }) => status === 409).length, reviewers.length - 1);
	const { body: after } = await http.get(`${as(place, 'ann')}/${body['id']}`);
	t.deepEqual(await newRoles(place), after['status'] === 'approved' ? ['ann#editor@acme'] : []);
}

journey('exactly one of several concurrent decisions succeeds', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	const reviewers = Array.from({ length: 20 }, (_, index) => `reviewer-${index}`);
	for (const key of reviewers) {
		await http.post(`${facts}/users`, { key, role_assignments: [{ role: 'owner', tenant: 'acme' }] });
	}
	await decideAtOnce(t, place, reviewers);
});

journey('the same rules apply to signed-in users', async (t, place) => {
	await setTheScene(place);
	const ledger = await openLedger(t, place);
	const path = `${place.elements}/config/requests/access_requests`;
	const [ann, bea, rex] = [await bearing(place, 'ann'), await bearing(place, 'bea'), await bearing(place, 'rex')];
	const made = await ledger.wrote(await ann.post(path, ask('editor')));
	const one = `${path}/${made['id']}`;
	t.deepEqual(await ledger.read(await place.http.get(`${as(place, 'ann')}/${made['id']}`)), made);
	fails(t, await ann.post(path, ask('editor', { tenant: 'beta' })), 400, 'beta');
	for (const answer of [await bea.get(one), await bea.put(`${one}/approve`), await bea.put(`${one}/cancel`)]) {
		fails(t, answer, 404, 'ElementRequest');
	}
	fails(t, await ann.put(`${one}/approve`), 403, 'reviewers');
	t.deepEqual((await bea.get<Paginated>(path)).body.data.length, 0);
	t.like(await ledger.wrote(await rex.patch(`${one}/reviewer`, { role: 'viewer' })), { status: 'pending' });
	t.like(await ledger.wrote(await rex.put(`${one}/approve`, { reviewer_comment: 'Welcome.' })), { status: 'approved' });
	t.deepEqual(await newRoles(place), ['ann#viewer@acme']);
	const second = await ledger.wrote(await ann.post(path, ask('editor')));
	t.like(await ledger.wrote(await rex.put(`${path}/${second['id']}/deny`)), { status: 'denied' });
	fails(t, await ann.put(`${path}/${second['id']}/cancel`, { reason: 'Never mind.' }), 409, 'denied');
	const elsewhere = await bearing(place, 'zoe', 'beta');
	fails(t, await elsewhere.get(one), 404, 'ElementRequest');
	await ledger.balanced();
});

journey('a reviewer who has just lost the level is rejected', async (t, place) => {
	await setTheScene(place);
	const { http, facts, elements } = place;
	const path = `${elements}/config/requests/access_requests`;
	const [ann, rex] = [await bearing(place, 'ann'), await bearing(place, 'rex')];
	const { body } = await ann.post(path, ask('editor'));
	await http.post(`${facts}/role_assignments`, { user: 'rex', role: 'viewer', tenant: 'acme' });
	const demoted = { user: 'rex', role: 'owner', tenant: 'acme' };
	const [taken, approved] = await Promise.all([
		http.delete(`${facts}/role_assignments`, demoted),
		rex.put(`${path}/${body['id']}/approve`),
	]);
	t.is(taken.status, 204);
	t.true(approved.status === 200 || approved.status === 404, JSON.stringify(approved.body));
	if (approved.status === 200) t.true(Number(approved.revision) < Number(taken.revision), 'the approval was first');
});

journey('a signed-in user can make at most a thousand requests per hour', async (t, place) => {
	await setTheScene(place);
	const { store, id: environment_id, elements } = place;
	const path = `${elements}/config/requests/access_requests`;
	const ann = await bearing(place, 'ann', 'acme');
	t.is((await ann.post(path, ask('editor'))).status, 200);
	const table = () => store.database.knex('element_requests').where({ environment_id });
	const made = await table().first<Loose>();
	const copies = Array.from({ length: 999 }, () => ({ ...made, id: store.clock.newId(), status: 'canceled' }));
	await store.database.knex.batchInsert('element_requests', copies);
	const before = await place.revision();
	fails(t, await ann.post(path, ask('editor')), 400, 'at most 1000 requests per hour');
	t.is(await place.revision(), before);
	t.is(
		(await (await bearing(place, 'bea', 'acme')).post(path, ask('editor'))).status,
		200,
		'other users can still request',
	);
	await table().update({ created_at: new Date(store.clock.now().getTime() - 3_700_000) });
	t.is((await ann.post(path, ask('editor'))).status, 200);
});

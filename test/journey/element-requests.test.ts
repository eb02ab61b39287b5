// @rest

import { newestChanges } from '../support/changes.js';
import type { Answer, Client, Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { bearing } from '../support/element.js';
import { fails } from '../support/failure.js';
import { creating } from '../support/furnished.js';
import { openLedger } from '../support/ledger.js';
import type { Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Administrators with an API key list and decide the requests of all elements. */

const journey = onEachStore();

/** Ann makes requests in `acme`, and Zoe makes requests in `beta`. The elements cover roles and account operations. */
async function setTheScene({ http, schema, facts, elements }: Place): Promise<void> {
	const made = creating(http);
	await made(`${schema}/resources`, { key: 'account', name: 'Account', actions: { pay: {} } });
	await made(`${schema}/resources/account/roles`, { key: 'auditor', name: 'Auditor' });
	for (const key of ['member', 'editor', 'viewer']) await made(`${schema}/roles`, { key, name: key });
	for (const [key, tenant] of [
		['ann', 'acme'],
		['zoe', 'beta'],
	] as const) {
		await made(`${facts}/tenants`, { key: tenant, name: tenant });
		await made(`${facts}/users`, { key, role_assignments: [{ role: 'member', tenant }] });
	}
	await made(`${facts}/resource_instances`, { key: 'main', resource: 'account', tenant: 'acme' });
	await made(`${elements}/config`, {
		key: 'requests',
		name: 'Requests',
		elements_type: 'approval_flow',
		settings: {},
		roles_to_levels: {},
	});
	await made(`${elements}/config`, {
		key: 'approvals',
		name: 'Approvals',
		elements_type: 'operation_approval',
		settings: { resource: 'account', max_duration: 3600 },
		roles_to_levels: {},
	});
}

const all = ({ facts }: Place) => `${facts}/element_requests`;

async function askRole(place: Place, user: string, tenant: string, more: object = {}): Promise<string> {
	const path = `${place.facts}/access_requests/requests/user/${user}/tenant/${tenant}`;
	const asked = { tenant, role: 'editor', ...more };
	return madeId(await place.http.post(path, { access_request_details: asked, reason: 'I take over.' }));
}

async function askOperation(place: Place, ann: Client): Promise<string> {
	const asked = { tenant: 'acme', resource: 'account', resource_instance: 'main' };
	const path = `${place.elements}/config/approvals/operation_approval`;
	return madeId(await ann.post(path, { access_request_details: asked }));
}

function madeId({ status, body }: Answer<Loose>): string {
	if (status !== 200) throw new Error(JSON.stringify(body));
	return String(body['id']);
}

/** Returns a user's roles except `member`, each with its tenant or instance. */
async function held({ http, facts }: Place, user: string): Promise<readonly unknown[]> {
	const { body } = await http.get<readonly Loose[]>(`${facts}/role_assignments?user=${user}`);
	return body
		.filter(({ role }) => role !== 'member')
		.map(({ role, tenant, resource_instance }) => [role, resource_instance ?? tenant]);
}

journey('the requests of all elements are listed, pending requests first', async (t, place) => {
	await setTheScene(place);
	const first = await askRole(place, 'ann', 'acme');
	const second = await askOperation(place, await bearing(place, 'ann'));
	const third = await askRole(place, 'zoe', 'beta');
	const fourth = await askRole(place, 'zoe', 'beta', { role: 'viewer' });
	for (const id of [first, third]) t.is((await place.http.put(`${all(place)}/${id}/deny`)).status, 200);
	const list = async (query = '') => {
		const { body } = await place.http.get<Paginated>(`${all(place)}?${query}`);
		return body.data.map(({ id }) => id);
	};
	t.deepEqual(await list(), [second, fourth, third, first]);
	const narrowed: Readonly<Record<string, readonly string[]>> = {
		'status=pending': [second, fourth],
		'status=denied': [third, first],
		'type=operation_approval': [second],
		'type=access_request&tenant=beta': [fourth, third],
		'element=approvals': [second],
		'element=none': [],
		'requesting_user=ann': [second, first],
		'resource=account': [second],
		'per_page=1&page=3': [third],
	};
	for (const [query, ids] of Object.entries(narrowed)) t.deepEqual(await list(query), ids, query);
	const { body } = await place.http.get<Paginated>(all(place));
	t.is(body.total_count, 4);
	t.like(body.data[0], {
		type: 'operation_approval',
		tenant_key: 'acme',
		element_key: 'approvals',
		element_name: 'Approvals',
		requesting_user_key: 'ann',
		resource_key: 'account',
		resource_instance_key: 'main',
	});
	t.like(body.data[1], { type: 'access_request', tenant_key: 'beta', element_key: 'requests', role_key: 'viewer' });
});

journey('an administrator’s approval assigns the requested role in the same revision', async (t, place) => {
	await setTheScene(place);
	const role = await askRole(place, 'ann', 'acme');
	const operation = await askOperation(place, await bearing(place, 'ann'));
	const ledger = await openLedger(t, place);
	const said = { reviewer_comment: 'Only to read.', role: 'viewer' };
	const done = await ledger.wrote(await place.http.put(`${all(place)}/${role}/approve`, said));
	t.like(done, {
		type: 'access_request',
		status: 'approved',
		reviewer_user_id: null,
		reviewer_comment: 'Only to read.',
	});
	t.truthy(done['reviewed_at']);
	t.deepEqual(await held(place, 'ann'), [['viewer', 'acme']]);
	t.deepEqual(await newestChanges(place), [`create role_assignment ann#viewer@acme`, `update element_request ${role}`]);
	t.deepEqual(await ledger.kept(await place.http.put(`${all(place)}/${role}/approve`)), done);
	const approved = await ledger.wrote(await place.http.put(`${all(place)}/${operation}/approve`));
	t.like(approved, { type: 'operation_approval', status: 'approved' });
	t.truthy((approved['access_request_details'] as Loose)['expires_at'], 'limited by the element');
	t.deepEqual(await held(place, 'ann'), [
		['viewer', 'acme'],
		['_Approved_', 'account:main'],
	]);
	await ledger.balanced();
});

journey('a decision is rejected if it is invalid, impossible, or contradicts an earlier decision', async (t, place) => {
	await setTheScene(place);
	const { http } = place;
	const [role, operation] = [
		await askRole(place, 'ann', 'acme'),
		await askOperation(place, await bearing(place, 'ann')),
	];
	const one = (id: string, move: string) => `${all(place)}/${id}/${move}`;
	fails(t, await http.put(one(role, 'approve'), { role: 'auditor' }), 404, 'auditor');
	fails(t, await http.put(one(operation, 'approve'), { role: 'editor' }), 400, 'editor');
	fails(t, await http.put(one(operation.replace(/.$/, 'z'), 'approve')), 404);
	t.is((await http.put(one(role, 'approve'), { rule: 'viewer' })).status, 422);
	t.is((await http.put(one(role, 'deny'), { role: 'viewer' })).status, 422);
	const before = await place.revision();
	t.is((await http.put(one(role, 'deny'), { reviewer_comment: 'No.' })).status, 200);
	t.is((await http.put(one(role, 'deny'))).status, 200, 'the same decision again');
	t.is(await place.revision(), before + 1);
	fails(t, await http.put(one(role, 'approve')), 409, 'denied');
	t.deepEqual(await held(place, 'ann'), []);
	await http.delete(`${place.facts}/tenants/acme/users/ann`);
	fails(t, await http.put(one(operation, 'approve')), 409, 'member');
});

// @rest

import type { ExecutionContext } from 'ava';
import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Paginated, shape } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Invites for future users, with the roles that these users will get. */

const journey = onEachStore();
const nobody = '00000000-0000-4000-8000-000000000000';

interface Setting {
	readonly role_id: string;
	readonly other_role_id: string;
	readonly tenant_id: string;
}

/** Creates two roles and a tenant for invites. */
async function setting({ http, schema, facts }: Place): Promise<Setting> {
	const made = async (path: string, key: string) => String((await http.post(path, { key, name: key })).body['id']);
	return {
		role_id: await made(`${schema}/roles`, 'editor'),
		other_role_id: await made(`${schema}/roles`, 'viewer'),
		tenant_id: await made(`${facts}/tenants`, 'acme'),
	};
}

const ines = { key: 'auth0|ines', email: 'Ines@example.com', first_name: 'Ines', last_name: 'Roe' };
const approval = { key: ines.key, email: ines.email, attributes: { department: 'sales' } };

/** Returns a place's role assignments as `user#role@tenant`. */
async function heldIn({ http, facts }: Place): Promise<readonly string[]> {
	const { body } = await http.get<readonly Loose[]>(`${facts}/role_assignments`);
	return body.map(({ user, role, tenant }) => `${user}#${role}@${tenant}`);
}

journey('an invite can be created, read under its names, updated and deleted', async (t, place) => {
	const { http, facts } = place;
	const { role_id, other_role_id, tenant_id } = await setting(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/user_invites`;
	const body = { ...ines, status: 'pending', role_id, tenant_id, resource_instance_id: null };
	const made = await ledger.wrote(await http.post(path, body));
	t.like(made, { ...body, environment_id: place.id, project_id: place.project_id });
	for (const name of [encodeURIComponent(ines.key), String(made['id']), String(made['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), made, name);
	}
	fails(t, await http.post(path, { ...body, email: 'other@example.com' }), 409, ines.key);

	const one = `${path}/${made['id']}`;
	for (const nothing of [{}, { first_name: 'Ines' }, { role_id, email: null }, { key: 'other', nonsense: null }]) {
		t.deepEqual(await ledger.kept(await http.patch(one, nothing)), made, JSON.stringify(nothing));
	}
	fails(t, await http.patch(one, { condition: 'x' }), 422, 'condition');
	const later = '2999-01-01T00:00:00Z';
	const ending = await ledger.wrote(await http.patch(one, { invite_expires_at: later }));
	t.is(Date.parse(String(ending['invite_expires_at'])), Date.parse(later));
	fails(t, await http.patch(one, { invite_expires_at: '2020-01-01T00:00:00Z' }), 422, 'invite_expires_at');
	fails(t, await http.patch(one, { expires_at: later }), 422, 'expires_at');
	t.is((await ledger.wrote(await http.patch(one, { invite_expires_at: null })))['invite_expires_at'], undefined);
	const changed = await ledger.wrote(await http.patch(one, { role_id: other_role_id, last_name: null }));
	t.deepEqual({ ...changed, updated_at: null }, { ...made, role_id: other_role_id, last_name: null, updated_at: null });
	await ledger.wrote(await http.delete(one), 204);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, one, method === 'PATCH' ? {} : undefined), 404, "could not find 'UserInvite'");
	}
	await ledger.balanced();
});

journey('an invite must refer to existing objects', async (t, place) => {
	const { http, facts } = place;
	const { role_id, tenant_id } = await setting(place);
	const made = await http.post(`${facts}/user_invites`, { ...ines, role_id, tenant_id });
	const revision = await place.revision();
	for (const field of ['role_id', 'tenant_id', 'resource_instance_id']) {
		const body = { ...ines, key: 'other', role_id, tenant_id, [field]: nobody };
		fails(t, await http.post(`${facts}/user_invites`, body), 404, nobody);
		fails(t, await http.patch(`${facts}/user_invites/${made.body['id']}`, { [field]: nobody }), 404, nobody);
		fails(t, await http.post(`${facts}/user_invites`, { ...body, [field]: 'editor' }), 422, field);
	}
	t.is(await place.revision(), revision);
});

journey('an approved invite becomes a user with the role', async (t, place) => {
	const { http, facts } = place;
	const { role_id, tenant_id } = await setting(place);
	const ledger = await openLedger(t, place);
	const made = await ledger.wrote(await http.post(`${facts}/user_invites`, { ...ines, role_id, tenant_id }));
	const approve = `${facts}/user_invites/${made['id']}/approve`;
	t.deepEqual(await heldIn(place), []);

	fails(t, await http.post(approve, { ...approval, email: 'mallory@example.com' }), 400, 'mallory@example.com');
	t.is((await http.get(`${facts}/users`)).body['total_count'], 0);
	const user = await ledger.wrote(await http.post(approve, { ...approval, email: 'ines@EXAMPLE.com' }));
	t.like(user, {
		key: ines.key,
		email: 'ines@EXAMPLE.com',
		first_name: 'Ines',
		last_name: 'Roe',
		attributes: approval.attributes,
		roles: [{ role: 'editor', tenant: 'acme' }],
	});
	t.deepEqual((await http.get(`${facts}/users/${encodeURIComponent(ines.key)}`)).body, user);
	t.deepEqual(await heldIn(place), [`${ines.key}#editor@acme`]);
	t.is((await http.get(`${facts}/user_invites/${made['id']}`)).body['status'], 'approved');
	fails(t, await http.post(approve, approval), 400, 'already been approved');
	await ledger.wrote(await http.delete(`${facts}/user_invites/${made['id']}`), 204);
	t.is((await http.get(`${facts}/users`)).body['total_count'], 1, 'the user remains');
	await ledger.balanced();
});

journey('an invite to a resource instance becomes a role on it, and is deleted with it', async (t, place) => {
	const { http, schema, facts } = place;
	const { role_id: tenant_role_id, tenant_id } = await setting(place);
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: {} });
	const role = await http.post(`${schema}/resources/document/roles`, { key: 'reader', name: 'Reader' });
	const instances = `${facts}/resource_instances`;
	const invited = async (key: string) => {
		const made = await http.post(instances, { key, resource: 'document', tenant: 'acme' });
		return { ...ines, role_id: role.body['id'], tenant_id, resource_instance_id: made.body['id'] };
	};
	const budget = await invited('budget');
	fails(t, await http.post(`${facts}/user_invites`, { ...budget, resource_instance_id: null }), 404, 'Role');
	const made = await http.post(`${facts}/user_invites`, budget);
	t.is((await http.post(`${facts}/user_invites/${made.body['id']}/approve`, approval)).status, 200);
	const held = await http.get<readonly Loose[]>(`${facts}/role_assignments?user=${encodeURIComponent(ines.key)}`);
	t.like(held.body, [{ role: 'reader', tenant: 'acme', resource_instance: 'document:budget' }]);

	// A tenant role applies in the whole tenant.
	const wide = { ...(await invited('plan')), key: 'wide', role_id: tenant_role_id };
	await http.post(`${facts}/user_invites`, wide);
	await http.post(`${facts}/user_invites/wide/approve`, { key: 'wide', email: ines.email });
	const wider = await http.get<readonly Loose[]>(`${facts}/role_assignments?user=wide`);
	t.like(wider.body, [{ role: 'editor', tenant: 'acme', resource_instance: null }]);

	t.is((await http.delete(`${instances}/document:budget`)).status, 204);
	t.is((await http.get(`${facts}/user_invites/${made.body['id']}`)).status, 404);
});

journey('an approval that cannot be completed changes nothing', async (t, place) => {
	const { http, facts } = place;
	const { role_id, tenant_id } = await setting(place);
	await http.post(`${facts}/users`, { key: ines.key, first_name: 'Another' });
	const made = await http.post(`${facts}/user_invites`, { ...ines, role_id, tenant_id });
	const approve = `${facts}/user_invites/${made.body['id']}/approve`;
	const revision = await place.revision();
	fails(t, await http.post(approve, approval), 409, ines.key);
	t.is(await place.revision(), revision);
	t.is((await http.get(`${facts}/user_invites/${made.body['id']}`)).body['status'], 'pending');
	t.deepEqual(await heldIn(place), []);
	t.is((await http.get(`${facts}/users/${encodeURIComponent(ines.key)}`)).body['first_name'], 'Another');
	// The same person can still join under a different user key.
	t.is((await http.post(approve, { ...approval, key: 'ines-2' })).status, 200);
	t.deepEqual(await heldIn(place), ['ines-2#editor@acme']);
});

journey('only one of several concurrent approvals creates the user', async (t, place) => {
	const { http, facts } = place;
	const { role_id, tenant_id } = await setting(place);
	const made = await http.post(`${facts}/user_invites`, { ...ines, role_id, tenant_id });
	const approve = `${facts}/user_invites/${made.body['id']}/approve`;
	const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
	const answers = await Promise.all(keys.map((key) => http.post(approve, { ...approval, key })));
	t.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400, 400]);
	t.is((await heldIn(place)).length, 1);
});

journey('invites can be listed in pages, by role, tenant and search text', async (t, place) => {
	const { http, schema, facts } = place;
	const { role_id, other_role_id, tenant_id } = await setting(place);
	const list = `${facts}/user_invites`;
	// A role with the same key and no invites must not interfere.
	await http.post(`${schema}/resources`, { key: 'doc', name: 'D', actions: {}, roles: { viewer: { name: 'V' } } });
	const { body: other } = await http.post(`${facts}/tenants`, { key: 'other', name: 'Other' });
	for (const [key, role, tenant] of [
		['ann', role_id, tenant_id],
		['ben', other_role_id, tenant_id],
		['cy', role_id, other['id']],
	]) {
		await http.post(list, { key, email: `${key}@example.com`, first_name: 'X', role_id: role, tenant_id: tenant });
	}
	const lists: Readonly<Record<string, readonly string[]>> = {
		'': ['ann', 'ben', 'cy'],
		'?role=editor': ['ann', 'cy'],
		'?role=viewer': ['ben'],
		'?role=viewer&role=editor&tenant=acme': ['ann', 'ben'],
		[`?role=${role_id}&tenant=acme`]: ['ann'],
		'?tenant=nothing': [],
		'?role=nothing': [],
		'?search=BEN@': ['ben'],
		'?search=x': ['ann', 'ben', 'cy'],
		'?search=c*': ['cy'],
	};
	for (const [query, keys] of Object.entries(lists)) {
		const counts = { total_count: keys.length, page_count: keys.length > 0 ? 1 : 0 };
		t.deepEqual(shape((await http.get<Paginated>(list + query)).body), { data: keys, ...counts }, query);
	}
	const second = await http.get<Paginated>(`${list}?per_page=2&page=2`);
	t.deepEqual(shape(second.body), { data: ['cy'], total_count: 3, page_count: 2 });
});

journey('an invite is deleted together with its role or tenant', async (t, place) => {
	await goes(t, place, (setting) => `${place.schema}/roles/${setting.role_id}`);
	await goes(t, place, (setting) => `${place.facts}/tenants/${setting.tenant_id}`);
});

async function goes(t: ExecutionContext, place: Place, target: (setting: Setting) => string): Promise<void> {
	const { http, schema, facts } = place;
	const made = await setting(place);
	await http.post(`${facts}/user_invites`, { ...ines, role_id: made.role_id, tenant_id: made.tenant_id });
	t.is((await http.get(`${facts}/user_invites`)).body['total_count'], 1);
	t.is((await http.delete(target(made))).status, 204);
	t.is((await http.get(`${facts}/user_invites`)).body['total_count'], 0);
	const [last] = await place.store.database
		.knex('changes')
		.where({ environment_id: place.id, kind: 'user_invite' })
		.orderBy('revision', 'desc');
	t.like(last, { operation: 'delete', key: ines.key }, 'and the change log contains this');
	for (const path of [`${schema}/roles/editor`, `${schema}/roles/viewer`, `${facts}/tenants/acme`]) {
		await http.delete(path);
	}
}

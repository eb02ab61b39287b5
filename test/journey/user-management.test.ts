// @rest

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Client, client, type Loose } from '../support/client.js';
import { declareNever } from '../support/declare-never.js';
import { onEachStore } from '../support/each-store.js';
import { bearing, browsing, configure, origin } from '../support/element.js';
import { factId } from '../support/fact-id.js';
import { fails, problemPlaces } from '../support/failure.js';
import { creating } from '../support/furnished.js';
import { openLedger } from '../support/ledger.js';
import type { Paginated } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';

/** Element users manage users within their level. */

const journey = onEachStore();

const element = {
	key: 'people',
	name: 'People',
	elements_type: 'user_management',
	settings: { default_role: 'staff' },
	roles_to_levels: {
		LEVEL_1: ['owner', 'document#keeper'],
		LEVEL_2: ['manager', 'document#editor'],
		LEVEL_3: ['lead'],
		LEVEL_4: ['staff', 'document#reader'],
		HIDDEN: ['ghost'],
	},
};

/**
 * Members of the tenant `acme`, each with a tenant role. The role of `una` has no level, and `bob` is in the tenant
 * `beta`.
 */
const cast = { olga: 'owner', max: 'manager', lea: 'lead', sam: 'staff', tim: 'staff', hid: 'ghost', una: 'plain' };

async function setTheScene(place: Place): Promise<void> {
	const { http, schema, facts, elements } = place;
	const made = creating(http);
	for (const key of new Set(Object.values(cast))) await made(`${schema}/roles`, { key, name: key });
	for (const resource of ['document', 'folder']) {
		await made(`${schema}/resources`, { key: resource, name: resource, actions: { read: {} } });
		for (const key of ['keeper', 'editor', 'reader']) {
			await made(`${schema}/resources/${resource}/roles`, { key, name: key });
		}
	}
	for (const key of ['acme', 'beta']) await made(`${facts}/tenants`, { key, name: key });
	for (const [key, role] of Object.entries(cast)) {
		await made(`${facts}/users`, { key, email: `${key}@example.com`, role_assignments: [{ role, tenant: 'acme' }] });
	}
	await made(`${facts}/users`, { key: 'bob', role_assignments: [{ role: 'staff', tenant: 'beta' }] });
	for (const [key, tenant] of [
		['plan', 'acme'],
		['memo', 'acme'],
		['secret', 'beta'],
	]) {
		await made(`${facts}/resource_instances`, { key, resource: 'document', tenant });
	}
	await made(`${elements}/config`, element);
	// A user whose levels are all HIDDEN could not sign in.
	await made(`${elements}/config`, { ...element, key: 'others', roles_to_levels: { LEVEL_1: ['ghost'] } });
}

const holds = ({ http, facts }: Place, user: string, role: string, instance: string) =>
	http.post(`${facts}/role_assignments`, { user, role, resource_instance: `document:${instance}`, tenant: 'acme' });

const dataOf = ({ elements }: Place, key = 'people') => `${elements}/config/${key}/data`;

/** Returns the listed user or role keys. */
function keysIn(body: unknown): readonly unknown[] {
	const items = Array.isArray(body) ? body : ((body as Paginated).data as readonly Loose[]);
	return items.map((item: Loose) => item['key']);
}

/** Returns the only tenant of the only listed user. */
function onlyTenant({ data: [user = {}] }: Paginated): Loose {
	const [tenant = {}, ...others] = user['associated_tenants'] as readonly Loose[];
	return others.length === 0 ? tenant : {};
}

/** Returns a user's roles in `acme`, as `role` or `role@instance`. */
async function rolesOf({ http, facts }: Place, user: string): Promise<readonly string[]> {
	const { body } = await http.get<readonly Loose[]>(`${facts}/role_assignments?user=${user}&per_page=100`);
	return body.flatMap(({ role, tenant, resource_instance }) =>
		tenant === 'acme' ? [resource_instance ? `${role}@${resource_instance}` : String(role)] : [],
	);
}

/** Operations, each with the status for owner, manager, viewer, staff, hidden and unconfigured users. */
const operations: readonly (readonly [
	what: string,
	method: string,
	path: string,
	body: object | undefined,
	statuses: readonly number[],
])[] = [
	['see users', 'GET', 'users', undefined, [200, 200, 200, 404, 404, 404]],
	['see roles', 'GET', 'roles', undefined, [200, 200, 200, 404, 404, 404]],
	['see decisions', 'GET', 'audit_logs', undefined, [200, 200, 200, 404, 404, 404]],
	['add somebody', 'POST', 'users', { key: 'new' }, [200, 200, 403, 404, 404, 404]],
	['add an owner', 'POST', 'users', { key: 'new', role: 'owner' }, [200, 403, 403, 404, 404, 404]],
	['add a manager', 'POST', 'users', { key: 'new', role: 'manager' }, [200, 200, 403, 404, 404, 404]],
	['add with a hidden role', 'POST', 'users', { key: 'new', role: 'ghost' }, [200, 403, 403, 404, 404, 404]],
	['add with a role without a level', 'POST', 'users', { key: 'new', role: 'plain' }, [200, 403, 403, 404, 404, 404]],
	['remove staff', 'DELETE', 'users/tim', undefined, [204, 204, 403, 404, 404, 404]],
	['remove an owner', 'DELETE', 'users/olga', undefined, [204, 403, 403, 404, 404, 404]],
	['make an owner', 'POST', 'users/tim/roles', { role: 'owner' }, [200, 403, 403, 404, 404, 404]],
	['make a manager', 'POST', 'users/tim/roles', { role: 'manager' }, [200, 200, 403, 404, 404, 404]],
	['make a viewer', 'POST', 'users/tim/roles', { role: 'lead' }, [200, 200, 403, 404, 404, 404]],
	['give a hidden role', 'POST', 'users/tim/roles', { role: 'ghost' }, [200, 403, 403, 404, 404, 404]],
	['give a role without a level', 'POST', 'users/tim/roles', { role: 'plain' }, [200, 403, 403, 404, 404, 404]],
	['give an owner a role', 'POST', 'users/olga/roles', { role: 'staff' }, [200, 200, 403, 404, 404, 404]],
	['take a staff role', 'DELETE', 'users/tim/roles', { role: 'staff' }, [204, 204, 403, 404, 404, 404]],
	['take an owner role', 'DELETE', 'users/olga/roles', { role: 'owner' }, [204, 403, 403, 404, 404, 404]],
	['take a role without a level', 'DELETE', 'users/una/roles', { role: 'plain' }, [204, 403, 403, 404, 404, 404]],
	['take a role not held', 'DELETE', 'users/tim/roles', { role: 'lead' }, [404, 404, 403, 404, 404, 404]],
];
const actors = ['olga', 'max', 'lea', 'sam', 'hid', 'una'];

journey('each level allows exactly its operations', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	const signedIn = new Map<string, Client>();
	for (const actor of actors) signedIn.set(actor, await bearing(place, actor, 'acme'));
	const restore = async () => {
		const { body } = await http.get<Paginated>(`${facts}/users?per_page=100`);
		if (keysIn(body).includes('new')) await http.delete(`${facts}/users/new`);
		for (const [user, role] of Object.entries(cast)) {
			await http.put(`${facts}/users/${user}`, { role_assignments: [{ role, tenant: 'acme' }] });
		}
	};
	for (const [what, method, path, body, statuses] of operations) {
		for (const [index, actor] of actors.entries()) {
			const before = await place.revision();
			// If an earlier operation removed the user, the user signs in again.
			const session = signedIn.get(actor) ?? (await bearing(place, actor, 'acme'));
			const answer = await session.send<Loose>(method, `${dataOf(place)}/${path}`, body);
			t.is(answer.status, statuses[index] ?? 0, `${actor}: ${what}: ${JSON.stringify(answer.body)}`);
			if (answer.status === 404 && index > 2) fails(t, answer, 404, "'ElementsConfig'");
			if (answer.status >= 400) t.is(await place.revision(), before, `${actor}: ${what}`);
			if (method === 'GET' || answer.status >= 400) continue;
			await restore();
			if (path === 'users/olga') signedIn.delete('olga');
		}
	}
});

journey('users can be added, listed with their details in the tenant, assigned roles and removed', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const olga = await bearing(place, 'olga', 'acme');
	const data = dataOf(place);
	const made = { key: 'ann', email: 'ann@example.com', first_name: 'Ann', attributes: { team: 'red' } };
	const added = await ledger.wrote(await olga.post(`${data}/users`, made));
	const here = (roles: readonly string[]) => ({
		roles: roles.map((role) => ({ role, tenant: 'acme' })),
		associated_tenants: [{ tenant: 'acme', roles, status: 'active', resource_instance_roles: [] }],
	});
	t.like(added, { ...made, last_name: null, environment_id: place.id });
	t.deepEqual({ roles: added['roles'], associated_tenants: added['associated_tenants'] }, here(['staff']));
	t.deepEqual(await rolesOf(place, 'ann'), ['staff'], 'the default role');
	// Bob comes from a different tenant. He stays unchanged, and the response reveals nothing about that tenant.
	const bob = await ledger.wrote(
		await olga.post(`${data}/users`, { key: 'bob', email: 'other@example.com', role: 'lead' }),
	);
	t.like(bob, { email: null, ...here(['lead']) });
	t.deepEqual(await ledger.kept(await olga.post(`${data}/users`, { key: 'bob', role: 'lead' })), bob, 'again');
	// Conditions compare the defined attributes in every tenant, so the owner of a single tenant must not set them.
	await ledger.wrote(await http.post(`${place.schema}/users/attributes`, { key: 'clearance', type: 'string' }));
	const claiming = { key: 'eve@example.com', role: 'staff', attributes: { clearance: 'top' } };
	fails(t, await olga.post(`${data}/users`, claiming), 403, 'clearance');
	await ledger.wrote(await http.patch(`${place.elements}/config/people`, { email_notifications: true }));
	fails(t, await olga.post(`${data}/users`, claiming), 403, 'clearance');
	await ledger.wrote(await http.patch(`${place.elements}/config/people`, { email_notifications: false }));
	const given = await ledger.wrote(await olga.post(`${data}/users/ann/roles`, { role: 'manager' }));
	t.like(given, { user: 'ann', role: 'manager', tenant: 'acme', resource_instance: null });
	fails(t, await olga.post(`${data}/users/ann/roles`, { role: 'manager' }), 409);
	const [sooner, later] = ['2998-01-01T00:00:00Z', '2999-01-01T00:00:00Z'];
	const ending = (expires_at: string) => olga.post(`${data}/users/ann/roles`, { role: 'lead', expires_at });
	const lent = await ledger.wrote(await ending(sooner));
	t.is(Date.parse(String(lent['expires_at'])), Date.parse(sooner));
	fails(t, await ending(sooner), 409);
	t.is((await ledger.wrote(await ending(later)))['id'], lent['id'], 'the later expiry wins');
	await ledger.wrote(await olga.delete(`${data}/users/ann/roles`, { role: 'lead' }), 204);
	await ledger.wrote(await olga.delete(`${data}/users/${given['user_id']}/roles`, { role: given['role_id'] }), 204);
	fails(t, await olga.delete(`${data}/users/ann/roles`, { role: 'manager' }), 404, 'RoleAssignment');

	const guest = { key: 'gus@example.com', role: 'staff', expires_at: later };
	await ledger.wrote(await olga.post(`${data}/users`, guest));
	const [held] = (await http.get<readonly Loose[]>(`${place.facts}/role_assignments?user=${guest.key}`)).body;
	t.is(Date.parse(String(held?.['expires_at'])), Date.parse(later));
	await ledger.wrote(await olga.delete(`${data}/users/${guest.key}`), 204);
	await ledger.wrote(await http.patch(`${place.elements}/config/people`, { settings: {} }));
	t.deepEqual(problemPlaces(await olga.post(`${data}/users`, { key: 'gus', expires_at: later })), ['body.expires_at']);

	const list = async (query: string) => {
		const { body } = await olga.get<Paginated>(`${data}/users?${query}`);
		return [keysIn(body), body.total_count, body.page_count];
	};
	const all = [...Object.keys(cast), 'bob', 'ann'];
	t.deepEqual(await list(''), [all, 9, 1]);
	t.deepEqual(await list('per_page=4&page=3'), [['ann'], 9, 3]);
	t.deepEqual(await list('page=7'), [[], 9, 1]);
	t.deepEqual(await list('search=ANN'), [['ann'], 1, 1]);
	t.deepEqual(await list('search=nobody'), [[], 0, 0]);
	const shown = await olga.get<Paginated>(`${data}/users?search=bob`);
	t.deepEqual(shown.body.data, [bob], 'without roles in the other tenant');

	await ledger.wrote(await olga.delete(`${data}/users/bob`), 204);
	t.deepEqual((await http.get(`${facts}/users/bob`)).body['roles'], [{ role: 'staff', tenant: 'beta' }]);
	fails(t, await olga.delete(`${data}/users/bob`), 404, 'User');
	await ledger.balanced();
	const { body: log } = await http.get<Paginated>(`/v2/projects/${place.project}/envs/${place.key}/changes?per_page=1`);
	t.deepEqual(log.data[0]?.['actor'], { id: await factId(place, 'users/olga'), name: null });
});

journey('roles are listed with their levels, and hidden roles only for owners', async (t, place) => {
	await setTheScene(place);
	const listed = async (user: string, query = '') => {
		const answer = await (await bearing(place, user, 'acme')).get<readonly Loose[]>(`${dataOf(place)}/roles?${query}`);
		return answer.body.map(({ key, permission_level }) => `${key} ${permission_level}`);
	};
	const shown = ['owner LEVEL_1', 'manager LEVEL_2', 'lead LEVEL_3', 'staff LEVEL_4'];
	t.deepEqual(await listed('olga'), [...shown, 'ghost HIDDEN', 'plain UNCONFIGURED']);
	for (const user of ['max', 'lea']) t.deepEqual(await listed(user), shown);
	t.deepEqual(await listed('max', 'search=a&per_page=2&page=2'), ['staff LEVEL_4']);
	t.deepEqual(await listed('olga', 'resource_instance_id=document:plan'), [
		'keeper LEVEL_1',
		'editor LEVEL_2',
		'reader LEVEL_4',
	]);
});

journey('on an instance, the levels and roles of the instance apply', async (t, place) => {
	await setTheScene(place);
	const { http, elements } = place;
	await http.patch(`${elements}/config/people`, {
		settings: { resource: 'document', default_role: 'document#reader' },
	});
	await holds(place, 'sam', 'keeper', 'plan');
	await holds(place, 'tim', 'editor', 'plan');
	const [sam, tim, lea] = [
		await bearing(place, 'sam', 'acme'),
		await bearing(place, 'tim', 'acme'),
		await bearing(place, 'lea', 'acme'),
	];
	const users = `${dataOf(place)}/users`;
	const plan = '?resource_instance_id=document:plan';
	t.deepEqual(problemPlaces(await sam.get(users)), ['query.resource_instance_id'], 'an instance is required');
	t.deepEqual(keysIn((await sam.get(`${users}${plan}`)).body), ['sam', 'tim']);
	t.deepEqual(keysIn((await lea.get(`${users}?resource_instance_id=plan`)).body), ['sam', 'tim'], 'by the tenant');
	for (const other of ['memo', 'secret', 'nothing']) {
		fails(t, await sam.get(`${users}?resource_instance_id=document:${other}`), 404);
	}
	t.is((await tim.post(`${users}${plan}`, { key: 'ann' })).status, 200);
	t.deepEqual(await rolesOf(place, 'ann'), ['reader@document:plan']);
	const inBody = { resource_instance_id: 'document:plan' };
	t.is((await tim.post(`${users}/ann/roles`, { role: 'editor', ...inBody })).status, 200);
	fails(t, await tim.post(`${users}/ann/roles${plan}`, { role: 'keeper' }), 403);
	fails(t, await tim.post(`${users}/ann/roles${plan}`, { role: 'staff' }), 404, 'Role');
	fails(t, await tim.post(`${users}/ann/roles${plan}`, { role: 'folder#editor' }), 404, 'Role');
	fails(t, await tim.post(`${users}/ann/roles${plan}`, { role: 'editor', resource_instance_id: 'memo' }), 400, 'memo');
	fails(t, await tim.post(`${users}/ann/roles`, { role: 'editor', resource_instance_id: 'memo' }), 404);
	fails(t, await tim.delete(`${users}/sam${plan}`), 403, 'owner');
	fails(t, await tim.delete(`${users}/sam/roles${plan}`, { role: 'keeper' }), 403);
	t.is((await sam.post(`${users}/ann/roles${plan}`, { role: 'document#keeper' })).status, 200);
	const { body } = await sam.get<Paginated>(`${users}${plan}&search=ann`);
	t.like(onlyTenant(body), {
		roles: [],
		resource_instance_roles: ['reader', 'editor', 'keeper'].map((role) => ({
			resource_instance: 'plan',
			resource: 'document',
			role,
		})),
	});
	fails(t, await tim.delete(`${users}/ann/roles${plan}`, { role: 'editor' }), 403, 'owner');
	t.is((await sam.delete(`${users}/ann${plan}`)).status, 204);
	t.deepEqual(await rolesOf(place, 'ann'), []);
	fails(t, await sam.delete(`${users}/lea${plan}`), 404, 'User');
	await http.patch(`${elements}/config/people`, { settings: { resource: 'document' } });
	t.deepEqual(problemPlaces(await sam.post(`${users}${plan}`, { key: 'ann' })), ['body.role']);
});

journey('a conditional role gives no level', async (t, place) => {
	await setTheScene(place);
	const { http, elements, facts } = place;
	await http.patch(`${elements}/config/people`, { settings: { resource: 'document' } });
	const condition = await declareNever(place, 'document/roles/keeper');
	const held = { user: 'sam', role: 'keeper', resource_instance: 'document:plan' };
	t.is((await http.post(`${facts}/role_assignments`, { ...held, condition })).status, 200);
	const users = `${dataOf(place)}/users?resource_instance_id=document:plan`;
	const sam = await bearing(place, 'sam', 'acme');
	fails(t, await sam.get(users), 404, 'ElementsConfig');
	t.is((await http.post(`${facts}/role_assignments`, held)).status, 200);
	t.is((await sam.get(users)).status, 200);
});

journey('a manager cannot remove a user who may own the element or an instance under a condition', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	const condition = await declareNever(place, 'document/roles/keeper');
	const held = { user: 'tim', role: 'keeper', resource_instance: 'document:plan' };
	t.is((await http.post(`${facts}/role_assignments`, { ...held, condition })).status, 200);
	const users = `${dataOf(place)}/users`;
	const onPlan = '?resource_instance_id=document:plan';
	const max = await bearing(place, 'max', 'acme');
	const { body } = await max.get<Paginated>(`${users}${onPlan}&search=tim`);
	t.like(onlyTenant(body), { resource_instance_roles: [{ role: 'keeper', condition: { set: 'never', values: {} } }] });
	fails(t, await max.delete(`${users}/tim`), 403, 'owner');
	fails(t, await max.delete(`${users}/tim${onPlan}`), 403, 'owner');
	t.is((await (await bearing(place, 'olga', 'acme')).delete(`${users}/tim`)).status, 204);
	t.deepEqual(await rolesOf(place, 'tim'), []);
});

journey('a manager cannot remove a user who owns an instance in the tenant', async (t, place) => {
	await setTheScene(place);
	await holds(place, 'tim', 'keeper', 'plan');
	const max = await bearing(place, 'max', 'acme');
	fails(t, await max.delete(`${dataOf(place)}/users/tim`), 403, 'owner');
	t.is((await max.delete(`${dataOf(place)}/users/tim/roles`, { role: 'staff' })).status, 403);
	t.is((await (await bearing(place, 'olga', 'acme')).delete(`${dataOf(place)}/users/tim`)).status, 204);
	t.deepEqual(await rolesOf(place, 'tim'), []);
});

journey('no user can access a different tenant, environment or element', async (t, place, { project, url, store }) => {
	await setTheScene(place);
	const elsewhere = await newPlace({ url, store }, project);
	await setTheScene(elsewhere);
	const olga = await bearing(place, 'olga', 'acme');
	const users = `${dataOf(place)}/users`;
	const before = await place.revision();
	const theirs = await factId(elsewhere, 'users/tim');
	for (const user of ['bob', 'nobody', theirs]) {
		fails(t, await olga.delete(`${users}/${user}`), 404, 'User');
		fails(t, await olga.post(`${users}/${user}/roles`, { role: 'staff' }), 404, 'User');
		fails(t, await olga.delete(`${users}/${user}/roles`, { role: 'staff' }), 404, 'User');
	}
	const role = String((await elsewhere.http.get(`${elsewhere.schema}/roles/staff`)).body['id']);
	fails(t, await olga.post(`${users}/tim/roles`, { role }), 404, 'Role');
	fails(t, await olga.post(users, { key: 'ann', role: 'nothing' }), 404, 'Role');
	fails(t, await olga.get(`${dataOf(elsewhere)}/users`), 404, 'Environment');
	fails(t, await olga.get(`${dataOf(place, 'nothing')}/users`), 404, 'ElementsConfig');
	fails(t, await olga.get(`${dataOf(place, 'others')}/users`), 404, 'ElementsConfig');
	for (const http of [client(url), place.http]) fails(t, await http.get(users), 401);
	const wrong: readonly (readonly [body: object, at: string])[] = [
		[{}, 'body.key'],
		[{ key: 'a b' }, 'body.key'],
		[{ key: 'ann', email: 'no' }, 'body.email'],
		[{ key: 'ann', tenant: 'beta' }, 'body.tenant'],
		[{ key: 'ann', role_assignments: [{ role: 'owner', tenant: 'beta' }] }, 'body.role_assignments'],
	];
	for (const [body, at] of wrong) t.deepEqual(problemPlaces(await olga.post(users, body)), [at], JSON.stringify(body));
	t.deepEqual(problemPlaces(await olga.post(`${users}/tim/roles`, { role: 'staff', tenant: 'beta' })), ['body.tenant']);
	t.deepEqual(problemPlaces(await olga.get(`${users}?per_page=101`)), ['query.per_page']);
	t.is(await place.revision(), before);
	const requests = { ...element, key: 'requests', elements_type: 'approval_flow', settings: {} };
	await place.http.post(`${place.elements}/config`, requests);
	fails(t, await olga.get(`${dataOf(place, 'requests')}/users`), 400, 'approval_flow');
	const log = await olga.get(`${dataOf(place, 'requests')}/audit_logs?page=2`);
	t.deepEqual(log.body, { data: [], total_count: 0, page_count: 0, pagination_count: 0 });
});

journey('removing a user ends the user’s session, and a write with a cookie requires an origin', async (t, place) => {
	await setTheScene(place);
	await configure(place, { settings: { elements_origins: [origin] } });
	const users = `${dataOf(place)}/users`;
	const [max, olga] = [await bearing(place, 'max', 'acme'), await browsing(place, 'olga', 'acme')];
	fails(t, await olga.delete(`${users}/max`), 403, 'elements_origins');
	t.is((await max.get(users)).status, 200);
	t.is((await olga.delete(`${users}/max`, undefined, { headers: { origin } })).status, 204);
	fails(t, await max.get(users), 401);
});

journey('a level that was just removed has no effect', async (t, place) => {
	await setTheScene(place);
	const { http, facts } = place;
	const max = await bearing(place, 'max', 'acme');
	const users = `${dataOf(place)}/users`;
	t.is((await max.post(`${users}/tim/roles`, { role: 'lead' })).status, 200);
	await http.post(`${facts}/tenants/acme/users`, { key: 'max' });
	await http.delete(`${facts}/role_assignments`, { user: 'max', role: 'manager', tenant: 'acme' });
	fails(t, await max.delete(`${users}/tim/roles`, { role: 'lead' }), 404, 'ElementsConfig');
	fails(t, await max.get(users), 404, 'ElementsConfig');
});

/** Enables invites for an element and token checks in the environment. Returns a signing function. */
async function inviting(place: Place): Promise<(claims: Loose) => Promise<string>> {
	const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
	const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' };
	await place.http.patch(`${place.elements}/config/people`, { email_notifications: true });
	await configure(place, { jwks: { jwks: { keys: [jwk] } } });
	return (claims) =>
		new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).setExpirationTime('5m').sign(privateKey);
}

journey('an element with notifications sends invites, and the invited users approve them', async (t, place) => {
	await setTheScene(place);
	const { http, schema, facts, url } = place;
	const token = await inviting(place);
	const ledger = await openLedger(t, place);
	const olga = await bearing(place, 'olga', 'acme');
	const users = `${dataOf(place)}/users`;
	const body = { key: 'ines@example.com', first_name: 'Ines', role: 'lead', attributes: { team: 'red' } };
	const invite = await ledger.wrote(await olga.post(users, body));
	t.like(invite, {
		key: 'ines@example.com',
		email: 'ines@example.com',
		first_name: 'Ines',
		status: 'pending',
		tenant_id: await factId(place, 'tenants/acme'),
		resource_instance_id: null,
	});
	const week = 7 * 24 * 3_600_000;
	const lifetime = ({ invite_expires_at, updated_at }: Loose) =>
		Date.parse(String(invite_expires_at)) - Date.parse(String(updated_at));
	t.is(lifetime(invite), week);
	const renewed = await ledger.wrote(await olga.post(users, body));
	t.is(renewed['id'], invite['id'], 'the same invite again, for another week');
	t.is(lifetime(renewed), week);
	t.is((await http.get(`${facts}/users/ines@example.com`)).status, 404);
	const { body: list } = await olga.get<Paginated>(`${users}?per_page=3&page=3`);
	t.deepEqual([keysIn(list), list.total_count, list.page_count], [['una', 'ines@example.com'], 8, 3]);
	t.like(list.data[1], {
		roles: [],
		associated_tenants: [{ tenant: 'acme', roles: ['lead'], status: 'pending', resource_instance_roles: [] }],
	});

	const path = `/v2/auth/${place.id}/user_invites/${invite['id']}/approve`;
	const approve = async (claims: Loose, sent: object = {}) =>
		client(url, await token(claims)).post(path, { email: 'Ines@example.com', ...sent });
	await http.post(`${schema}/users/attributes`, { key: 'clearance', type: 'string' });
	const refused: readonly (readonly [claims: Loose, sent: object, status: number, says: string])[] = [
		[{ sub: 'mallory' }, {}, 403, 'not belong to the'],
		[{ sub: 'mallory', email: 'mallory@example.com' }, {}, 403, 'not belong to the'],
		[{ sub: 'mallory', email: 'ines@example.com', email_verified: false }, {}, 403, 'not belong to the'],
		[{ sub: 'mallory', email: 'ines@example.com', email_verified: 'false' }, {}, 403, 'not belong to the'],
		[{ sub: 'in\0es' }, {}, 401, 'sign in again'],
		[{ sub: 'ines', email: 'ines@example.com' }, { email: 'other@example.com' }, 400, 'other@example.com'],
		[{ sub: 'i n', email: 'ines@example.com' }, {}, 400, 'i n'],
		[{ sub: 'ines', email: 'ines@example.com' }, { attributes: { clearance: 'top' } }, 403, 'clearance'],
		[{ name: 'ines@example.com' }, {}, 401, 'sign in again'],
	];
	const before = await place.revision();
	for (const [claims, sent, status, says] of refused) fails(t, await approve(claims, sent), status, says);
	for (const secret of [undefined, 'x', place.secret]) {
		fails(t, await client(url, secret).post(path, { email: 'ines@example.com' }), 401, 'sign in again');
	}
	const claims = { uid: 'ines', email: 'INES@example.com' };
	const own = { user_key_claim: 'uid', attributes: { language: 'pt', team: 'blue' } };
	for (const code of ['nothing', 'ines@example.com', place.id]) {
		const other = client(url, await token(claims));
		fails(
			t,
			await other.post(path.replace(String(invite['id']), code), { email: 'a@b.de', ...own }),
			404,
			'UserInvite',
		);
	}
	t.deepEqual(problemPlaces(await client(url, await token(claims)).post(path, { role: 'owner' })), [
		'body.email',
		'body.role',
	]);
	t.is(await place.revision(), before);
	const approved = await approve(claims, own);
	t.is(approved.revision, before + 1);
	t.like(approved.body, {
		key: 'ines',
		first_name: 'Ines',
		email: 'ines@example.com',
		attributes: { language: 'pt', team: 'red' },
		roles: [{ role: 'lead', tenant: 'acme' }],
	});
	t.deepEqual(await rolesOf(place, 'ines'), ['lead']);
	fails(t, await approve(claims, own), 400, 'already');
	t.is(
		(await http.get(`${facts}/user_invites/${invite['id']}`)).body['invite_expires_at'],
		undefined,
		'an approved invite does not expire',
	);
	const { body: changes } = await http.get<Paginated>(
		`/v2/projects/${place.project}/envs/${place.key}/changes?kind=user_invite&per_page=1`,
	);
	t.like(changes.data[0], { operation: 'update', actor: { id: approved.body['id'] } }, 'the user did not exist before');
});

journey('tenants can invite the same user independently, and invites can be withdrawn', async (t, place) => {
	await setTheScene(place);
	const { http, facts, url, elements } = place;
	const token = await inviting(place);
	await http.post(`${facts}/role_assignments`, { user: 'bob', role: 'owner', tenant: 'beta' });
	const [olga, max, bob] = [
		await bearing(place, 'olga', 'acme'),
		await bearing(place, 'max', 'acme'),
		await bearing(place, 'bob', 'beta'),
	];
	const users = `${dataOf(place)}/users`;
	const ines = { key: 'ines', email: 'ines@example.com' };
	t.deepEqual(problemPlaces(await olga.post(users, { key: 'ines' })), ['body.email']);
	fails(t, await max.post(users, { ...ines, role: 'owner' }), 403);
	const [first, second] = [await olga.post(users, { ...ines, role: 'owner' }), await bob.post(users, ines)];
	t.deepEqual([first.body['key'], second.body['key']], ['ines', 'ines']);
	t.not(first.body['id'], second.body['id']);
	fails(t, await max.post(users, ines), 403, 'owner');
	fails(t, await max.delete(`${users}/ines`), 403, 'owner');
	const approve = async (invite: Loose, sub: string) =>
		client(url, await token({ sub })).post(`/v2/auth/${place.id}/user_invites/${invite['id']}/approve`, {
			email: 'ines@example.com',
		});
	t.is((await approve(second.body, 'ines')).status, 200);
	t.is((await approve(first.body, 'ines')).status, 200, 'the user exists by then');
	t.deepEqual((await http.get(`${facts}/users/ines`)).body['roles'], [
		{ role: 'staff', tenant: 'beta' },
		{ role: 'owner', tenant: 'acme' },
	]);
	// A member gets the role immediately. A user in a different tenant is invited like everyone else.
	t.like((await olga.post(users, { key: 'tim', role: 'lead' })).body, { key: 'tim', status: undefined });
	// Leaving a tenant withdraws a user's invites to the tenant's instances, but not invites to other tenants.
	const plan = { resource_instance_id: 'document:plan' };
	t.is((await olga.post(users, { key: 'pia', email: 'pia@example.com' })).body['status'], 'pending');
	await olga.post(users, { key: 'pia', email: 'pia@example.com', role: 'reader', ...plan });
	await bob.post(users, { key: 'pia', email: 'pia@example.com' });
	const invitesOf = async (user: string) =>
		(await http.get<Paginated>(`${facts}/user_invites?search=${user}`)).body.total_count;
	t.is(await invitesOf('pia'), 3);
	await http.post(`${facts}/users`, { key: 'pia', role_assignments: [{ role: 'staff', tenant: 'acme' }] });
	t.is((await olga.delete(`${users}/pia`)).status, 204);
	t.is(await invitesOf('pia'), 1);
	// An expired invite has no effect, even before it is swept.
	const old = await olga.post(users, { key: 'otto', email: 'otto@example.com' });
	const stored = () => place.store.database.knex('user_invites').where({ id: old.body['id'] });
	await stored().update({ expires_at: new Date(0) });
	t.is(await invitesOf('otto'), 0);
	fails(t, await approve(old.body, 'otto'), 404, 'UserInvite');
	fails(t, await olga.delete(`${users}/otto`), 404, 'User');
	const anew = await olga.post(users, { key: 'otto', email: 'otto@example.com' });
	t.not(anew.body['id'], old.body['id']);
	t.deepEqual(await stored(), []);
	t.is((await olga.delete(`${users}/otto`)).status, 204);
	t.is((await olga.post(users, { key: 'bob', email: 'bob@example.com' })).body['status'], 'pending');
	t.is((await max.delete(`${users}/bob`)).status, 204);
	fails(t, await max.delete(`${users}/bob`), 404, 'User');
	const again = await olga.post(users, { key: 'kim', email: 'kim@example.com' });
	t.is(
		(await http.post(`${facts}/user_invites/${again.body['id']}/approve`, { ...ines, email: 'kim@example.com' }))
			.status,
		200,
		'by the application',
	);
	await http.patch(`${elements}/config/people`, { settings: {} });
	t.deepEqual(problemPlaces(await olga.post(users, { ...ines, key: 'leo' })), ['body.role']);
	await olga.post(users, { ...ines, key: 'leo', role: 'staff' });
	await http.delete(`${elements}/people`);
	t.is((await http.get<Paginated>(`${facts}/user_invites?search=leo`)).body.total_count, 1, 'invites remain');
});

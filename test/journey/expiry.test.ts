// @rest

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApi } from '../../src/compose/api.js';
import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { createLogger } from '../../src/log.js';
import { newestChanges } from '../support/changes.js';
import { type Answer, type Client, client, type Loose } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import type { Listed } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';
import { addResourceRole } from '../support/relation.js';
import { facts, type Stack, schema } from '../support/stack.js';
import { type Cleanup, temporary } from '../support/temporary.js';

/** Grants that expire: roles, group members and relationships with `expires_at`. */

const journey = onEachStore();

/** Creates a document, a folder, a tenant role, and the users ann and ben. */
async function furnish({ http, schema, facts }: Pick<Place, 'http' | 'schema' | 'facts'>): Promise<void> {
	for (const key of ['document', 'folder']) {
		await http.post(`${schema}/resources`, { key, name: key, actions: { read: {} } });
	}
	await http.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	await http.post(`${schema}/resources/document/relations`, {
		key: 'parent',
		name: 'Parent',
		subject_resource: 'folder',
	});
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const key of ['ann', 'ben']) await http.post(`${facts}/users`, { key });
	for (const [resource, key] of [
		['document', 'budget'],
		['folder', 'plans'],
	]) {
		await http.post(`${facts}/resource_instances`, { key, resource, tenant: 'acme' });
	}
}

/**
 * Expires the grants that end at `expires_at`, or all grants with an expiry. The clock cannot be changed, because the
 * API uses the database's clock.
 */
async function letTimePass({ store, id }: Pick<Place, 'store' | 'id'>, expires_at?: string): Promise<void> {
	for (const table of ['role_assignments', 'relationship_tuples']) {
		const rows = store.database.knex(table).where({ environment_id: id }).whereNotNull('expires_at');
		if (expires_at !== undefined) rows.where({ expires_at });
		await rows.update({ expires_at: new Date(0) });
	}
}

const inTime = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const [sooner, later] = ['2998-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z'];

const grants: readonly (readonly [title: string, path: string, body: Loose])[] = [
	['a role in a tenant', 'role_assignments', { user: 'ann', role: 'reader', tenant: 'acme' }],
	['a role on an instance', 'role_assignments', { user: 'ann', role: 'viewer', resource_instance: 'document:budget' }],
	['a relationship', 'relationship_tuples', { subject: 'folder:plans', relation: 'parent', object: 'document:budget' }],
];

for (const [title, path, body] of grants) {
	journey(`${title} keeps the later expiry, and no expiry counts as latest`, async (t, place) => {
		await furnish(place);
		await addResourceRole(place, 'document', 'viewer');
		const list = `${place.facts}/${path}`;
		const { http } = place;
		const stored = async () => (await http.get<Listed>(list)).body.map((row) => row['expires_at']);
		const given = await http.post(list, { ...body, expires_at: '2998-01-01T01:00:00+01:00' });
		t.is(given.status, 200);
		t.is(given.body['expires_at'], sooner);
		t.deepEqual(await stored(), [sooner]);
		for (const same of [sooner, '2997-01-01T00:00:00Z']) {
			fails(t, await http.post(list, { ...body, expires_at: same }), 409, '');
		}
		const extended = await http.post(list, { ...body, expires_at: later });
		t.is(extended.status, 200);
		t.is(extended.body['id'], given.body['id']);
		t.is(extended.revision, Number(given.revision) + 1);
		t.deepEqual(await stored(), [later]);
		t.true((await newestChanges(place))[0]?.startsWith('update '));
		const bulk = path === 'role_assignments' ? [body, body] : { operations: [body, body] };
		const forGood = await http.post(`${list}/bulk`, bulk);
		t.is(forGood.status, 200);
		if (path === 'role_assignments') t.is(forGood.body['assignments_created'], 1);
		t.deepEqual(await stored(), [undefined]);
		fails(t, await http.post(list, { ...body, expires_at: later }), 409, '');
		t.is((await http.post(`${list}/bulk`, bulk)).revision, forGood.revision, 'permanent grants remain');
	});

	journey(`${title} disappears from the lists when it expires, and can be created again`, async (t, place) => {
		await furnish(place);
		await addResourceRole(place, 'document', 'viewer');
		const list = `${place.facts}/${path}`;
		const { http } = place;
		const stored = async () => (await http.get<Listed>(list)).body;
		const given = await http.post(list, { ...body, expires_at: later });
		t.is(given.status, 200);
		t.is((await stored()).length, 1);
		await letTimePass(place);
		t.deepEqual(await stored(), []);
		fails(t, await http.delete(list, body), 404, '');
		if (path === 'role_assignments') {
			t.deepEqual((await http.get<Loose>(`${place.facts}/users/ann`)).body['roles'], []);
			const members = await http.get<{ data: Listed }>(`${place.facts}/tenants/acme/users`);
			t.deepEqual(members.body.data, []);
		}
		t.is(await place.revision(), Number(given.revision), 'nothing was written');
		const again = await http.post(list, body);
		t.is(again.status, 200);
		t.is(again.body['expires_at'], undefined);
		t.is((await http.get<Listed>(list)).body.length, 1);
	});

	journey(`${title} requires a future expiry (422)`, async (t, { http, facts }) => {
		const list = `${facts}/${path}`;
		for (const wrong of [inTime(-1_000), 'tomorrow', '2999-01-01T00:00:00', 5]) {
			fails(t, await http.post(list, { ...body, expires_at: wrong }), 422, 'expires_at');
			const bulk = path === 'role_assignments' ? [body, { ...body, expires_at: wrong }] : undefined;
			const operations = { operations: [body, { ...body, expires_at: wrong }] };
			fails(t, await http.post(`${list}/bulk`, bulk ?? operations), 422, 'expires_at');
		}
	});
}

journey('a new user may have expiring roles, and a replaced user has exactly the given roles', async (t, place) => {
	await furnish(place);
	const { http, facts } = place;
	const role = { role: 'reader', tenant: 'acme' };
	const stored = async () => {
		const { body } = await http.get<Listed>(`${facts}/role_assignments?user=cy`);
		return body.map(({ expires_at }) => expires_at);
	};
	await http.post(`${facts}/users`, { key: 'cy', role_assignments: [{ ...role, expires_at: later }] });
	t.deepEqual(await stored(), [later]);
	for (const expires_at of [sooner, later, null]) {
		const put = await http.put(`${facts}/users/cy`, { role_assignments: [{ ...role, expires_at }] });
		t.is(put.status, 200);
		t.deepEqual(await stored(), [expires_at ?? undefined]);
		const same = await http.put(`${facts}/users/cy`, { role_assignments: [{ ...role, expires_at }] });
		t.is(same.revision, put.revision);
	}
	const past = { key: 'dee', role_assignments: [role, { ...role, expires_at: inTime(-1_000) }] };
	fails(t, await http.post(`${facts}/users`, past), 422, 'expires_at');
	const given = await http.post(`${facts}/users/ann/roles`, { ...role, expires_at: later });
	t.is(given.status, 200);
});

journey('members, roles and nested groups expire', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	await addResourceRole(place, 'document', 'viewer');
	for (const key of ['staff', 'board']) {
		await http.post(`${schema}/groups`, { group_instance_key: key, group_tenant: 'acme' });
	}
	const staff = `${schema}/groups/group:staff`;
	const users = async () => (await http.get<{ data: Listed }>(`${staff}/users`)).body.data.map(({ key }) => key);
	t.is((await http.put(`${staff}/users/ann`, { tenant: 'acme', expires_at: sooner })).status, 200);
	t.is((await http.put(`${staff}/users/ben`, { tenant: 'acme', expires_at: later })).status, 200);
	t.deepEqual(await users(), ['ann', 'ben']);
	const role = { role: 'viewer', resource: 'document', resource_instance: 'budget', tenant: 'acme' };
	t.is((await http.post(`${staff}/roles`, { ...role, expires_at: sooner })).status, 200);
	t.is((await http.put(`${staff}/assign_group`, { group_instance_key: 'group:board', expires_at: later })).status, 200);
	await letTimePass(place, sooner);
	t.deepEqual(await users(), ['ben']);
	const read = (await http.get<Loose>(staff)).body;
	t.deepEqual(read['assigned_roles'], []);
	t.is((read['users'] as unknown[]).length, 1);
	const tuples = (await http.get<Listed>(`${facts}/relationship_tuples`)).body;
	t.deepEqual(
		tuples.map(({ subject, object, expires_at }) => [subject, object, expires_at]),
		[['group:board', 'group:staff', later]],
	);
	t.is((await http.post(`${staff}/roles`, { ...role, expires_at: sooner })).status, 200);
	fails(t, await http.post(`${staff}/roles`, { ...role, expires_at: sooner }), 409, 'viewer');
	t.is((await http.post(`${staff}/roles`, role)).status, 200);
	fails(t, await http.post(`${staff}/roles`, role), 409, 'viewer');
});

journey('an approval ends at the requested time or earlier', async (t, place) => {
	await furnish(place);
	const { http, facts, elements } = place;
	await http.post(`${place.schema}/roles`, { key: 'owner', name: 'Owner' });
	await http.post(`${facts}/role_assignments`, { user: 'ben', role: 'owner', tenant: 'acme' });
	await http.post(`${facts}/tenants/acme/users`, { key: 'ann' });
	const config = { name: 'Element', settings: {}, roles_to_levels: {} };
	const members = { key: 'members', elements_type: 'user_management', roles_to_levels: { LEVEL_1: ['owner'] } };
	await http.post(`${elements}/config`, { ...config, ...members });
	const settings = { user_management_element: 'members' };
	await http.post(`${elements}/config`, { ...config, key: 'requests', elements_type: 'approval_flow', settings });
	const as = (user: string) => `${facts}/access_requests/requests/user/${user}/tenant/acme`;
	const ask = async (expires_at: string | null = null) => {
		const details = { tenant: 'acme', role: 'reader', expires_at };
		const asked = await http.post(as('ann'), { access_request_details: details });
		t.is(asked.status, 200);
		t.is((asked.body['access_request_details'] as Loose)['expires_at'], expires_at ?? undefined);
		return `${as('ben')}/${String(asked.body['id'])}`;
	};
	const given = async () => {
		const { body } = await http.get<Listed>(`${facts}/role_assignments?user=ann`);
		for (const { role, tenant } of body) await http.delete(`${facts}/role_assignments`, { user: 'ann', role, tenant });
		return body.map(({ expires_at }) => expires_at);
	};

	t.is((await http.put(`${await ask(later)}/approve`)).status, 200);
	t.deepEqual(await given(), [later], 'as requested');
	const shorter = await http.put<Loose>(`${await ask(later)}/approve`, { expires_at: sooner });
	t.is((shorter.body['access_request_details'] as Loose)['expires_at'], sooner);
	t.deepEqual(await given(), [sooner], 'a reviewer shortens the duration');
	t.is((await http.put(`${await ask()}/approve`, { expires_at: sooner })).status, 200);
	t.deepEqual(await given(), [sooner], 'also for a permanent request');
	const request = await ask(sooner);
	fails(t, await http.put(`${request}/approve`, { expires_at: later }), 400, later);
	fails(t, await http.patch(`${request}/reviewer`, { expires_at: later }), 400, later);
	t.is((await http.patch(`${request}/reviewer`, { expires_at: '2997-01-01T00:00:00Z' })).status, 200);
	t.is((await http.put(`${request}/approve`)).status, 200);
	t.deepEqual(await given(), ['2997-01-01T00:00:00.000Z'], 'a reviewer shortens the duration before the approval');
	fails(t, await http.patch(`${request}/reviewer`, { expires_at: '2996-01-01T00:00:00Z' }), 409, 'approved');
	const past = { tenant: 'acme', role: 'reader', expires_at: inTime(-1_000) };
	fails(t, await http.post(as('ann'), { access_request_details: past }), 422, 'expires_at');

	for (const wrong of [0, -1, true, 'a day', 315_360_001]) {
		const body = { settings: { ...settings, max_duration: wrong } };
		fails(t, await http.patch(`${elements}/config/requests`, body), 422, 'max_duration');
	}
	const capped = { settings: { ...settings, max_duration: 86_400 } };
	t.is((await http.patch(`${elements}/config/requests`, capped)).status, 200);
	for (const wish of [later, null]) {
		const before = Date.now();
		t.is((await http.put(`${await ask(wish)}/approve`)).status, 200);
		const [end] = await given();
		const latest = Date.now() + 86_400_000;
		t.true(
			Date.parse(String(end)) >= before + 86_400_000 && Date.parse(String(end)) <= latest,
			'the element limits the duration',
		);
	}
	const ended = await ask(later);
	await place.store.database
		.knex('element_requests')
		.where({ environment_id: place.id, status: 'pending' })
		.update({ expires_at: new Date(0) });
	fails(t, await http.put(`${ended}/approve`), 409, 'ended');
	t.deepEqual(await given(), []);
});

journey('a document contains expiries, and an import skips expired grants', async (t, place, management) => {
	await furnish(place);
	await addResourceRole(place, 'document', 'viewer');
	const other = await newPlace(management, management.project);
	for (const [, path, body] of grants) {
		await place.http.post(`${place.facts}/${path}`, { ...body, expires_at: later });
	}
	const exported = (one: Place) => one.http.get<Exported>(`/v2/projects/${one.project}/envs/${one.key}/export`);
	const { body: document } = await exported(place);
	const { role_assignments, relationship_tuples } = document.facts;
	const expiries = [...role_assignments, ...relationship_tuples].map(({ expires_at }) => expires_at);
	t.deepEqual(expiries, [later, later, later]);
	const importInto = (body: unknown, strategy = 'fail') =>
		other.http.post<Loose>(
			`/v2/projects/${other.project}/envs/${other.key}/import?conflict_strategy=${strategy}`,
			body,
		);
	const at = (expires_at: string | undefined) => ({
		...document,
		facts: {
			...document.facts,
			role_assignments: role_assignments.map((one) => ({ ...one, expires_at })),
			relationship_tuples: relationship_tuples.map((one) => ({ ...one, expires_at })),
		},
	});
	const past = await importInto(at(inTime(-1_000)));
	t.is(past.status, 200);
	t.is(past.body['expired'], 3);
	t.deepEqual((await exported(other)).body.facts.role_assignments, []);
	t.is((await importInto(document)).body['expired'], 0);
	t.deepEqual((await exported(other)).body.facts, document.facts);
	t.is((await importInto(at(sooner))).status, 409);
	for (const expires_at of [sooner, undefined, later]) {
		t.is((await importInto(at(expires_at), 'overwrite')).status, 200);
		t.deepEqual((await exported(other)).body.facts.role_assignments[0]?.['expires_at'], expires_at);
		t.is((await importInto(at(expires_at), 'overwrite')).body['total'], 0);
	}
	t.is((await importInto(at(inTime(-1_000)), 'replace')).body['expired'], 3);
	t.deepEqual((await exported(other)).body.facts.relationship_tuples, []);
	fails(t, await importInto(at('tomorrow')), 422, 'expires_at');
});

interface Exported {
	readonly facts: Readonly<Record<'role_assignments' | 'relationship_tuples', Listed>>;
}

/** Returns a decision point's decisions about ann from every listing and check, in words. */
async function answers(pdp: Client): Promise<readonly string[]> {
	const found: string[] = [];
	const resource = { type: 'document', key: 'budget', tenant: 'acme' };
	const ask = { user: 'ann', action: 'read', resource };
	if ((await pdp.post<Loose>('/allowed', ask)).body['allow'] === true) found.push('allowed');
	const bulk = await pdp.post<{ allow: Listed }>('/allowed/bulk', [ask]);
	if (bulk.body.allow[0]?.['allow'] === true) found.push('bulk');
	const permissions = await pdp.post<Record<string, { permissions: string[] }>>('/user-permissions', { user: 'ann' });
	found.push(...Object.keys(permissions.body).map((object) => `permissions ${object}`));
	const users = await pdp.post<{ users: object }>('/authorized_users', { action: 'read', resource });
	found.push(...Object.keys(users.body.users).map((user) => `authorized ${user}`));
	const tenants = await pdp.post<readonly { key: string }[]>('/user-tenants', { user: 'ann' });
	found.push(...tenants.body.map(({ key }) => `tenant ${key}`));
	const local = await pdp.get<Listed>('/local/role_assignments');
	found.push(...local.body.map(({ user, role }) => `assigned ${user} ${role}`));
	return found;
}

/** An expiring grant, with the decisions during and after it. */
interface Ending {
	readonly title: string;
	readonly give: (http: Client, expires_at: string) => Promise<Answer<Loose>>;
	readonly during: readonly string[];
	readonly after: readonly string[];
}

const inTop = ['permissions folder:top', 'tenant acme', 'assigned ann viewer'];
const endings: readonly Ending[] = [
	{
		title: 'a role in a tenant',
		give: (http, expires_at) =>
			http.post(`${facts}/role_assignments`, { user: 'ann', role: 'reader', tenant: 'acme', expires_at }),
		during: ['allowed', 'bulk', 'permissions __tenant:acme', 'authorized ann', 'tenant acme', 'assigned ann reader'],
		after: [],
	},
	{
		title: 'a role on an instance',
		give: (http, expires_at) => {
			const role = { user: 'ann', role: 'viewer', resource_instance: 'document:budget', expires_at };
			return http.post(`${facts}/role_assignments`, role);
		},
		during: ['allowed', 'bulk', 'permissions document:budget', 'authorized ann', 'tenant acme', 'assigned ann viewer'],
		after: [],
	},
	{
		title: 'a relationship on a derivation path in a cycle',
		give: async (http, expires_at) => {
			await http.post(`${facts}/role_assignments`, { user: 'ann', role: 'viewer', resource_instance: 'folder:top' });
			const inFolder = { relation: 'parent', object: 'document:budget', subject: 'folder:plans' };
			await http.post(`${facts}/relationship_tuples`, inFolder);
			const inTop = { subject: 'folder:top', relation: 'parent', object: 'folder:plans', expires_at };
			return http.post(`${facts}/relationship_tuples`, inTop);
		},
		during: [
			'allowed',
			'bulk',
			'permissions document:budget',
			'permissions folder:plans',
			'permissions folder:top',
			'authorized ann',
			'tenant acme',
			'assigned ann viewer',
		],
		after: inTop,
	},
];

onEachStack('a grant ends without a write, at every decision point', async (t, stack) => {
	const { environment: http, config, api, keys } = stack;
	await furnish({ http, schema, facts });
	await http.post(`${facts}/resource_instances`, { key: 'top', resource: 'folder', tenant: 'acme' });
	const above = { key: 'parent', name: 'Parent', subject_resource: 'folder' };
	await http.post(`${schema}/resources/folder/relations`, above);
	const viewer = { key: 'viewer', name: 'Viewer', permissions: ['read'] };
	const users_with_role = [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }];
	await http.post(`${schema}/resources/folder/roles`, viewer);
	for (const resource of ['folder', 'document']) {
		const path = `${schema}/resources/${resource}/roles`;
		if (resource === 'document') await http.post(path, viewer);
		t.is((await http.patch(`${path}/viewer`, { granted_to: { users_with_role } })).status, 200);
	}
	let now = new Date();
	const clock = { now: () => now };
	const points = await Promise.all(
		[temporary(t), temporary(t)].map((data_directory) => {
			const own = { ...config, data_directory };
			return startDecisionPoint(own, createLogger('silent'), api.listening.url, keys.environment, { clock });
		}),
	);
	for (const point of points) t.teardown(() => point.stop());
	const clients = points.map(({ listening }) => client(listening.url, keys.environment));
	for (const [index, { title, give, during, after }] of endings.entries()) {
		const [end, extended] = [1, 2].map((hours) => new Date(Date.parse(later) + (2 * index + hours) * 3_600_000));
		for (const until of [end, extended]) {
			const expires_at = until?.toISOString() ?? '';
			const given = await give(http, expires_at);
			t.is(given.status, 200, title);
			t.is(given.body['expires_at'], expires_at);
			for (const { replica } of points) await replica.reached(given.revision ?? 0);
			now = new Date(Date.parse(expires_at) - 1);
			for (const point of clients) t.deepEqual(await answers(point), during, title);
			now = new Date(expires_at);
			for (const point of clients) t.deepEqual(await answers(point), after, title);
			for (const { replica } of points) t.is(replica.current()?.revision, given.revision, 'nothing was written');
		}
	}
	const started = await startDecisionPoint(
		{ ...config, data_directory: temporary(t) },
		createLogger('silent'),
		api.listening.url,
		keys.environment,
		{ clock },
	);
	t.teardown(() => started.stop());
	await started.replica.reached(points[0]?.replica.current()?.revision ?? 0);
	const fresh = client(started.listening.url, keys.environment);
	t.deepEqual(await answers(fresh), inTop, 'a snapshot gives the same results');
	now = new Date(now.getTime() - 1);
	t.deepEqual(await answers(fresh), endings.at(-1)?.during);
});

async function environmentId({ environment: http }: Stack): Promise<string> {
	return String((await http.get<Loose>('/v2/api-key/scope')).body['environment_id']);
}

/** Starts a second API process on a stack's database that sweeps continuously. */
async function sweepingApi(t: Cleanup, { config }: Stack): Promise<void> {
	const data_directory = temporary(t);
	// All processes on a database share the server key.
	copyFileSync(join(config.data_directory, 'server.key'), join(data_directory, 'server.key'));
	const api = await startApi({ ...config, data_directory }, createLogger('silent'), { sweepPause: 20 });
	t.teardown(() => api.stop());
}

onEachStack('an expired grant is swept once, with a log entry without an author', async (t, stack, kind) => {
	if (kind === 'embedded') {
		t.pass('one process alone has an embedded database');
		return;
	}
	const { environment: http } = stack;
	await furnish({ http, schema, facts });
	const users = Array.from({ length: 1_100 }, (_, index) => ({ user: `u${index}`, role: 'reader', tenant: 'acme' }));
	const given = await http.post(
		`${facts}/role_assignments/bulk?missing_user_policy=create`,
		users.map((one) => ({ ...one, expires_at: later })),
	);
	t.is(given.status, 200);
	t.is((await http.post(`${facts}/role_assignments`, { ...users[0], user: 'ann' })).status, 200);
	const { store } = stack.api;
	await letTimePass({ store, id: await environmentId(stack) });
	await sweepingApi(t, stack);
	await sweepingApi(t, stack);
	const log = '/v2/projects/default/envs/dev/changes?kind=role_assignment&operation=delete&per_page=100';
	const deletes = async () => (await http.get<{ data: Listed; total_count: number }>(log)).body;
	await eventually(deletes, (seen) => seen.total_count === users.length);
	// No row is deleted twice, even after both processes have swept many times.
	await sleep(200);
	const { data, total_count } = await deletes();
	t.is(total_count, users.length);
	t.deepEqual([...new Set(data.map(({ actor }) => actor))], [null]);
	const list = await http.get<{ data: Listed; total_count: number }>(
		`${facts}/role_assignments?include_total_count=true`,
	);
	t.is(list.body.total_count, 1, 'permanent grants remain');
});

// @rest

import { newestChanges } from '../support/changes.js';
import type { Loose } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Listed, Paginated } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';
import { addResourceRole } from '../support/relation.js';

/** Resource roles assigned on instances. */

const journey = onEachStore();

/**
 * Creates a tenant role `editor` and a document role `editor`, the instance document:budget in acme, and the users ann
 * and ben.
 */
async function furnish(place: Place) {
	const { http, schema, facts } = place;
	for (const key of ['document', 'folder']) {
		await http.post(`${schema}/resources`, { key, name: key, actions: { read: {} } });
	}
	const tenantRole = { key: 'editor', name: 'Editor', permissions: ['document:read'] };
	const role_id = (await http.post(`${schema}/roles`, tenantRole)).body['id'];
	const resource_role_id = await addResourceRole(place, 'document', 'editor');
	await addResourceRole(place, 'document', 'reader');
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const key of ['ann', 'ben']) await http.post(`${facts}/users`, { key });
	const budget = { key: 'budget', resource: 'document', tenant: 'acme', attributes: { private: true } };
	const instance_id = (await http.post(`${facts}/resource_instances`, budget)).body['id'];
	return { role_id, resource_role_id, instance_id };
}

const named = (items: Listed) =>
	items.map(({ user, role, tenant, resource_instance }) => `${user}#${role}@${resource_instance ?? tenant}`);
const onBudget = { user: 'ann', role: 'editor', resource_instance: 'document:budget' };

journey('a role on an instance refers to the instance and its tenant by key and by id', async (t, place) => {
	const { http, facts } = place;
	const { resource_role_id, role_id, instance_id } = await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments`;
	const given = await ledger.wrote(await http.post(path, onBudget));
	const { body: acme } = await http.get(`${facts}/tenants/acme`);
	t.like(given, { ...onBudget, tenant: 'acme', role_id: resource_role_id, tenant_id: acme['id'] });
	t.is(given['resource_instance_id'], instance_id);
	t.deepEqual(await newestChanges(place), ['create role_assignment ann#editor@document:budget']);
	t.deepEqual(await ledger.read(await http.get<unknown>(path)), [given]);
	fails(t, await http.post(path, { ...onBudget, tenant: 'acme' }), 409, 'document:budget');

	const ids = { role: resource_role_id, resource_instance: String(instance_id).replaceAll('-', '') };
	for (const same of [onBudget, { ...onBudget, ...ids }, { ...onBudget, ...ids, tenant: acme['id'] }]) {
		await ledger.wrote(await http.delete(path, same), 204);
		fails(t, await http.delete(path, onBudget), 404, 'ann#editor@document:budget');
		t.like(await ledger.wrote(await http.post(path, same)), { ...onBudget, tenant: 'acme' });
	}
	t.like(await ledger.wrote(await http.delete(`${path}?return_deleted=true`, onBudget)), {
		...onBudget,
		tenant: 'acme',
	});

	const refused: readonly (readonly [change: object, status: number, named: string])[] = [
		[{ role: role_id }, 404, String(role_id)],
		[{ role: 'chief' }, 404, 'chief'],
		[{ tenant: 'nowhere' }, 404, 'nowhere'],
		[{ tenant: 'default' }, 400, 'document:budget'],
		[{ resource_instance: 'document:new' }, 404, 'document:new'],
		[{ resource_instance: 'new', tenant: 'acme' }, 404, 'new'],
		[{ resource_instance: null }, 422, 'tenant'],
		[{ resource_instance: null, tenant: 'acme', role: resource_role_id }, 404, String(resource_role_id)],
	];
	for (const [change, status, text] of refused) {
		for (const method of ['POST', 'DELETE']) {
			const answer = await http.send(method, path, { ...onBudget, ...change });
			fails(t, answer, status, text);
			if (status === 400) t.is((answer.body as Loose)['error_code'], 'MISMATCH_RESOURCE_INSTANCES_TENANTS');
		}
	}
	await ledger.balanced();
});

journey('assigning a role on a missing instance in a tenant creates the instance', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments`;
	const onNew = { ...onBudget, resource_instance: 'document:new', tenant: 'acme' };
	t.like(await ledger.wrote(await http.post(path, onNew)), onNew);
	t.deepEqual(await newestChanges(place), [
		'create resource_instance document:new',
		'create role_assignment ann#editor@document:new',
	]);
	fails(t, await http.post(path, { ...onNew, resource_instance: 'report:new' }), 404, 'report');
	fails(t, await http.post(path, { ...onNew, resource_instance: 'folder:new' }), 404, 'editor');
	fails(t, await http.delete(path, { ...onNew, resource_instance: 'document:other' }), 404, 'document:other');

	const many = ['a', 'b', 'a'].map((key) => ({ ...onNew, resource_instance: `document:${key}` }));
	const torn = [...many, { ...onNew, tenant: 'default', resource_instance: 'document:a' }];
	fails(t, await http.post(`${path}/bulk`, torn), 400, 'document:a');
	t.deepEqual(await ledger.wrote(await http.post(`${path}/bulk`, many)), { assignments_created: 2 });
	t.deepEqual(await ledger.kept(await http.post(`${path}/bulk`, many)), { assignments_created: 0 });
	const strangers = [{ ...onNew, user: 'cy', resource_instance: 'document:c' }];
	const ignored = await http.post(`${path}/bulk?missing_user_policy=ignore`, strangers);
	t.deepEqual(await ledger.kept(ignored), { assignments_created: 0 }, 'the instance is not created');
	const made = await http.post(`${path}/bulk?missing_user_policy=create`, strangers);
	t.deepEqual(await ledger.wrote(made), { assignments_created: 1 });
	t.deepEqual(await ledger.wrote(await http.delete(`${path}/bulk`, [...many, ...strangers])), {
		assignments_removed: 3,
	});
	const { body: instances } = await http.get<Listed>(`${facts}/resource_instances`);
	t.deepEqual(instances.map(({ key }) => key).toSorted(), ['a', 'b', 'budget', 'c', 'new']);
	await ledger.balanced();
});

journey('roles in a tenant and on an instance are distinct, and filters distinguish them', async (t, place) => {
	const { http, facts } = place;
	const { role_id, resource_role_id, instance_id } = await furnish(place);
	const path = `${facts}/role_assignments`;
	const all = ['ann#editor@acme', 'ann#editor@document:budget', 'ben#reader@document:plan', 'ben#editor@default'];
	await http.post(path, { user: 'ann', role: 'editor', tenant: 'acme' });
	await http.post(path, onBudget);
	await http.post(path, { user: 'ben', role: 'reader', resource_instance: 'document:plan', tenant: 'default' });
	await http.post(path, { user: 'ben', role: 'editor', tenant: 'default' });
	const pick = (...places: readonly number[]) => places.map((index) => all[index]);
	const found: Readonly<Record<string, readonly unknown[]>> = {
		'': all,
		'role=editor': pick(0, 1, 3),
		[`role=${role_id}`]: pick(0, 3),
		[`role=${resource_role_id}`]: pick(1),
		'tenant=acme': pick(0, 1),
		'resource=document': pick(1, 2),
		'resource=folder': [],
		'resource=document&user=ben': pick(2),
		'resource_instance=document:budget': pick(1),
		[`resource_instance=${instance_id}&resource_instance=document:plan`]: pick(1, 2),
		'resource_instance=document:nothing': [],
		'resource_instance=document:budget&tenant=acme': pick(1),
		'resource_instance=document:budget&tenant=default': [],
	};
	for (const [query, expected] of Object.entries(found)) {
		t.deepEqual(named((await http.get<Listed>(`${path}?${query}`)).body), expected, query);
	}
	const { data } = (await http.get<Paginated>(`${path}/detailed`)).body;
	t.deepEqual(data.map(({ resource_instance }) => resource_instance)[1], {
		id: instance_id,
		key: 'budget',
		resource: 'document',
		attributes: { private: true },
	});
	t.is(data[0]?.['resource_instance'], null);
	t.like(data[1]?.['role'], { id: resource_role_id, key: 'editor', permissions: [] });
	t.like(data[0]?.['role'], { id: role_id, key: 'editor', permissions: ['document:read'] });
	t.is((await http.delete(path, { user: 'ann', role: 'editor', tenant: 'acme' })).status, 204);
	t.deepEqual(named((await http.get<Listed>(path)).body), pick(1, 2, 3), 'one role is removed, the other role remains');
});

journey('a user is returned with tenant roles, and with roles on instances on request', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/users`;
	const role_assignments = [
		{ role: 'editor', tenant: 'default' },
		{ role: 'editor', resource_instance: 'document:budget' },
		{ role: 'reader', tenant: 'acme', resource_instance: 'document:new' },
	];
	const cy = (await http.post(path, { key: 'cy', role_assignments })).body;
	const here = { tenant: 'default', roles: ['editor'], status: 'active', resource_instance_roles: [] };
	const there = { tenant: 'acme', roles: [], status: 'active', resource_instance_roles: [] };
	t.like(cy, { roles: [{ role: 'editor', tenant: 'default' }], associated_tenants: [here, there] });
	t.deepEqual((await http.get(`${path}/cy`)).body, cy);
	const withRoles = {
		...cy,
		associated_tenants: [
			here,
			{
				...there,
				resource_instance_roles: [
					{ resource: 'document', resource_instance: 'budget', role: 'editor' },
					{ resource: 'document', resource_instance: 'new', role: 'reader' },
				],
			},
		],
	};
	const everyone = 'include_resource_instance_roles=true';
	const page = async (query: string) => (await http.get<Paginated>(`${facts}/${query}`)).body.data;
	t.deepEqual(await page('users?search=cy'), [cy]);
	t.deepEqual(await page(`users?search=cy&${everyone}`), [withRoles]);
	t.deepEqual(await page('tenants/acme/users'), [cy], 'a user with a role on an instance belongs to its tenant');
	t.deepEqual(await page(`tenants/acme/users?${everyone}`), [withRoles]);
	t.deepEqual(await page('users?role=reader'), []);
	t.deepEqual(await page(`users?role=reader&${everyone}`), [withRoles]);
	t.deepEqual(await page('tenants/acme/users?role=editor'), []);
	t.deepEqual(await page(`tenants/acme/users?role=editor&${everyone}`), [withRoles]);
	t.deepEqual(await page(`tenants/default/users?role=reader&${everyone}`), []);
});

journey('roles on instances are assigned, removed, replaced, and deleted with their objects', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const held = async () => named((await http.get<Listed>(`${facts}/role_assignments`)).body);
	const path = `${facts}/users/ann`;
	const { user: _, ...role } = onBudget;
	t.like(await ledger.wrote(await http.post(`${path}/roles`, { ...role, tenant: null })), {
		...onBudget,
		tenant: 'acme',
	});
	fails(t, await http.delete(`${path}/roles`, { ...role, tenant: 'default' }), 400, 'document:budget');
	const taken = await http.delete(`${path}/roles?return_deleted=true`, { ...role, tenant: 'acme' });
	t.like(await ledger.wrote(taken), { ...onBudget, tenant: 'acme' });

	const both = [{ role: 'editor', tenant: 'acme' }, role];
	await ledger.wrote(await http.put(path, { role_assignments: both }));
	await ledger.kept(await http.put(path, { role_assignments: both }));
	await ledger.kept(await http.put(path, {}));
	t.deepEqual(await held(), ['ann#editor@acme', 'ann#editor@document:budget']);
	await ledger.wrote(await http.put(path, { role_assignments: [{ role: 'editor', tenant: 'acme' }] }));
	t.deepEqual(await held(), ['ann#editor@acme'], 'the sent roles are the complete set');
	await ledger.wrote(await http.put(`${facts}/bulk/users`, { operations: [{ key: 'ann', role_assignments: [role] }] }));
	t.deepEqual(await held(), ['ann#editor@document:budget']);

	await ledger.wrote(await http.delete(`${facts}/tenants/acme/users/ann`), 204);
	t.deepEqual(await held(), [], 'leaving a tenant removes roles on its instances');
	await ledger.wrote(await http.put(path, { role_assignments: both }));
	await ledger.wrote(await http.delete(path), 204);
	t.deepEqual(await newestChanges(place), [
		'delete role_assignment ann#editor@acme',
		'delete role_assignment ann#editor@document:budget',
		'delete user ann',
	]);
	await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann' }));
	t.deepEqual(await held(), [], 'a new user with the same key has no roles');
	await ledger.balanced();
});

onEachStack(`roles on instances do not affect decisions by tenant roles`, async (t, stack) => {
	const { store, listening } = stack.api;
	const { body: scope } =
		await stack.environment.get<Record<'environment_id' | 'project_id' | 'organization_id', string>>(
			'/v2/api-key/scope',
		);
	const at = { url: listening.url, store };
	const spare = await newPlace(at, stack.organization);
	const place: Place = {
		...spare,
		id: scope.environment_id,
		project_id: scope.project_id,
		key: 'dev',
		http: stack.environment,
		schema: '/v2/schema/default/dev',
		facts: '/v2/facts/default/dev',
	};
	await furnish(place);
	const path = `${place.facts}/role_assignments`;
	const inAcme = { user: 'ann', role: 'editor', tenant: 'acme' };
	const may = async (user: string) => {
		const resource = { type: 'document', tenant: 'acme' };
		return (await stack.pdp.post('/allowed', { user: { key: user }, action: 'read', resource })).body['allow'];
	};
	const steps: readonly (readonly [title: string, method: string, path: string, body: unknown, allowed: boolean])[] = [
		['on an instance alone', 'POST', path, onBudget, false],
		['in the tenant as well', 'POST', path, inAcme, true],
		['no longer on the instance', 'DELETE', path, onBudget, true],
		['on the instance again', 'POST', path, onBudget, true],
		['no longer in the tenant', 'DELETE', path, inAcme, false],
		['in the tenant again', 'POST', path, inAcme, true],
		['the instance is deleted', 'DELETE', `${place.facts}/resource_instances/document:budget`, undefined, true],
		['after leaving the tenant', 'DELETE', `${place.facts}/tenants/acme/users/ann`, undefined, false],
	];
	for (const [title, method, where, body, allowed] of steps) {
		const { status, revision } = await stack.environment.send(method, where, body);
		t.true(status < 300, title);
		await stack.reached(revision);
		t.is(await may('ann'), allowed, title);
		t.false(await may('ben'));
	}
});

import test from 'ava';
import { documentBytes } from '../../compiler/index.js';
import type { Model, Patch } from '../../compiler/model.js';
import { conditionSetsIn } from '../../src/pdp/facts/condition-sets.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import type { Client } from '../support/client.js';
import { allowedChecks, everyCheck, readCaseModel, serving } from './cases.js';
import { acme, acmeWithMuch, policyWasm, resource, step } from './environment.js';

/** Listings over HTTP contain exactly what single checks allow. */

type Entries = Readonly<Record<string, Entry>>;
interface Entry {
	readonly tenant: { readonly key: string; readonly attributes: object };
	readonly resource?: { readonly type: string; readonly key: string; readonly attributes: object };
	readonly permissions: readonly string[];
	readonly roles: readonly string[];
}
interface Users {
	readonly resource: string;
	readonly tenant: string;
	readonly users: Readonly<Record<string, readonly { user: string; tenant: string; resource: string; role: string }[]>>;
}

const cases = ['006-user-permissions', '007-folders-and-documents', '008-cycles'];

for (const name of cases) {
	test(`listings contain exactly what checks allow: ${name}`, async (t) => {
		const model = await readCaseModel(name);
		const served = await serving(t, model);
		const allowed = await allowedChecks(served, model);
		t.true(allowed.size > 0);
		const byUser = new Map<string, Entries>();
		for (const user of [...model.facts.users, 'nobody']) {
			byUser.set(user, (await served.http.post<Entries>('/user-permissions', { user })).body);
		}
		const byResource = new Map<string, Users>();
		const byAllTenants = new Map<string, readonly string[]>();
		for (const check of everyCheck(model)) {
			const { user, action, resource: object } = check;
			const question = JSON.stringify({ action, resource: object });
			const listed =
				byResource.get(question) ?? (await served.http.post<Users>('/authorized_users', JSON.parse(question))).body;
			byResource.set(question, listed);
			const is = allowed.has(JSON.stringify(check));
			t.is(Object.hasOwn(listed.users, user), is, `${user} ${question}`);
			t.true((listed.users[user] ?? [{}]).length > 0, 'every listed user has a granting assignment');
			const { tenant, ...everywhere } = object;
			const anywhere = JSON.stringify({ user, action, resource: everywhere });
			const tenants = byAllTenants.get(anywhere) ?? (await allowedTenants(served.http, JSON.parse(anywhere)));
			byAllTenants.set(anywhere, tenants);
			t.is(tenants.includes(tenant), is, `${tenant}: ${anywhere}`);
			const id = object.key === undefined ? `__tenant:${object.tenant}` : `${object.type}:${object.key}`;
			const entry = byUser.get(user)?.[id];
			// For instances, permissions by tenant roles are listed only if the user also has a role on the instance.
			if (object.key === undefined) t.is(entry?.permissions.includes(`${object.type}:${action}`) ?? false, is);
			else if (entry?.tenant.key === object.tenant) t.is(entry.permissions.includes(`${object.type}:${action}`), is);
		}
		t.deepEqual(Object.keys(byUser.get('nobody') ?? {}), []);
	});
}

for (const name of ['007-folders-and-documents', '008-cycles']) {
	test(`when listed by name or type, an instance appears if any check on it is allowed: ${name}`, async (t) => {
		const model = await readCaseModel(name);
		const { schema, facts } = model;
		const served = await serving(t, model);
		const allowed = await allowedChecks(served, model);
		const types = schema.resources.map(({ key }) => key);
		const names = facts.instances.map(({ type, key }) => `${type}:${key}`);
		const listed = async (user: string, filter: object) =>
			(await served.http.post<Entries>('/user-permissions', { user, ...filter })).body;
		for (const user of [...facts.users, 'nobody']) {
			const held = await listed(user, {});
			const expected: Record<string, readonly string[]> = {};
			for (const { type, key, tenant } of facts.instances) {
				const permissions = schema.resources
					.flatMap((of) => (of.key === type ? of.actions : []))
					.filter((action) =>
						allowed.has(JSON.stringify({ user, action: action.key, resource: { type, key, tenant } })),
					)
					.map((action) => `${type}:${action.key}`)
					.sort();
				if (permissions.length > 0 || `${type}:${key}` in held) expected[`${type}:${key}`] = permissions;
			}
			const shown = async (filter: object) =>
				Object.fromEntries(
					Object.entries(await listed(user, filter)).map(([id, { permissions }]) => [id, permissions]),
				);
			t.deepEqual(await shown({ resource_types: types }), expected, `${user}: by type`);
			t.deepEqual(await shown({ resources: names }), expected, `${user}: by name`);
			t.deepEqual(await shown({ resources: names, resource_types: types }), expected, `${user}: by both`);
			const { instances } = facts;
			const bare = await shown({ resources: instances.map(({ key }) => key), resource_types: types });
			t.deepEqual(bare, expected, `${user}: by bare key`);
			for (const { key: tenant } of facts.tenants) {
				const inTenant = new Set(instances.flatMap((one) => (one.tenant === tenant ? [`${one.type}:${one.key}`] : [])));
				const some = Object.fromEntries(Object.entries(expected).filter(([id]) => inTenant.has(id)));
				t.deepEqual(await shown({ resource_types: types, tenants: [tenant] }), some, `${user}: in ${tenant}`);
			}
		}
	});
}

/** Returns the keys of the tenants that allow a check. */
async function allowedTenants(http: Client, check: object): Promise<readonly string[]> {
	const { body } = await http.post<{ allowed_tenants: { tenant: { key: string } }[] }>('/allowed/all-tenants', check);
	return body.allowed_tenants.map(({ tenant }) => tenant.key);
}

const acmeTenant = { key: 'acme', attributes: {} };

test('lists instances with an assigned or derived role', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const { body, revision } = await http.post<Entries>('/user-permissions', { user: 'dan' });
	t.is(revision, 7);
	t.deepEqual(body, {
		'folder:deep': {
			tenant: acmeTenant,
			resource: { type: 'folder', key: 'deep', attributes: {} },
			permissions: ['folder:list', 'folder:share'],
			roles: ['editor'],
		},
		'my-doc:d1': {
			tenant: acmeTenant,
			resource: { type: 'my-doc', key: 'd1', attributes: {} },
			permissions: ['my-doc:read'],
			roles: ['reader-1'],
		},
	});
	const bob = await http.post<Entries>('/user-permissions', { user: 'bob' });
	t.deepEqual(
		Object.entries(bob.body).map(([id, { roles }]) => [id, ...roles]),
		[
			['folder:deep', 'viewer'],
			['folder:middle', 'viewer'],
			['folder:other', 'viewer'],
			['folder:top', 'viewer'],
			['my-doc:d1', 'reader-1'],
			['my-doc:d2', 'reader-1'],
		],
	);
	t.deepEqual(Object.keys((await http.post('/user-permissions', { user: 'eve' })).body), ['__tenant:acme']);
});

const filters: readonly (readonly [object, readonly string[]])[] = [
	[{ tenants: ['beta'] }, ['folder:other', 'my-doc:d2']],
	[{ tenants: ['__tenant:beta', 'none'] }, ['folder:other', 'my-doc:d2']],
	[{ tenants: [] }, ['folder:deep', 'folder:middle', 'folder:other', 'folder:top', 'my-doc:d1', 'my-doc:d2']],
	[{ resource_types: ['my-doc'] }, ['my-doc:d1', 'my-doc:d2']],
	[{ resource_types: ['my-doc', '__tenant'] }, ['my-doc:d1', 'my-doc:d2']],
	[{ resource_types: ['__tenant'] }, []],
	[{ resources: ['my-doc:d1', 'folder:top', 'account:a1'] }, ['folder:top', 'my-doc:d1']],
	[{ resources: ['d2', 'top'] }, ['folder:top', 'my-doc:d2']],
	[{ resources: ['__tenant:acme'] }, []],
	[{ resources: ['d1', 'd2'], tenants: ['acme'] }, ['my-doc:d1']],
	[{ resources: ['d1'], resource_types: ['folder'] }, []],
];

test('filters in a request limit the listed instances', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	for (const [filter, expected] of filters) {
		const { body } = await http.post('/user-permissions', { user: 'bob', ...filter });
		t.deepEqual(Object.keys(body), expected, JSON.stringify(filter));
	}
});

test('repeated filter values cost no more than a single value', async (t) => {
	// Combining every name with every type would take a hundred million steps.
	const { http } = await serving(t, acme, { budget: 1_000 });
	const often = (text: string) => Array.from({ length: 10_000 }, () => text);
	const filter = { resources: often('plan'), resource_types: often('document'), tenants: often('acme') };
	t.deepEqual(
		await http.post('/user-permissions', { user: 'ann', ...filter }).then(({ status, body }) => [status, body]),
		[200, {}],
	);
});

test('authorized users are listed with the assignments that grant access', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const ask = async (action: string, object: unknown) =>
		(await http.post<Users>('/authorized_users', { action, resource: object })).body;
	const at = { tenant: 'acme' } as const;
	const d1 = { type: 'my-doc', key: 'd1', tenant: 'acme' };
	t.deepEqual(await ask('read', d1), {
		resource: 'my-doc:d1',
		tenant: 'acme',
		users: {
			ann: [{ user: 'ann', ...at, resource: 'account:a1', role: 'account#owner' }],
			bob: [{ user: 'bob', ...at, resource: 'folder:top', role: 'folder#viewer' }],
			cleo: [{ user: 'cleo', ...at, resource: 'folder:deep', role: 'folder#editor' }],
			dan: [{ user: 'dan', ...at, resource: 'my-doc:d1', role: 'my-doc#reader-1' }],
			eve: [{ user: 'eve', ...at, resource: '__tenant:acme', role: 'admin' }],
		},
	});
	t.deepEqual(Object.keys((await ask('write', d1)).users), ['ann', 'cleo'], 'a role on the document stops dan’s');
	t.deepEqual(await ask('read', { type: 'my-doc', tenant: 'acme' }), {
		resource: 'my-doc:*',
		tenant: 'acme',
		users: { eve: [{ user: 'eve', ...at, resource: '__tenant:acme', role: 'admin' }] },
	});
	t.deepEqual(await ask('read', 'my-doc:d1'), { resource: 'my-doc:d1', tenant: 'default', users: {} });
	t.deepEqual(await ask('read', 'my-doc'), { resource: 'my-doc:*', tenant: 'default', users: {} });
	t.deepEqual(await ask('read', { ...d1, tenant: 'beta' }), { resource: 'my-doc:d1', tenant: 'beta', users: {} });
	t.deepEqual(Object.keys((await ask('read', { ...d1, key: 'none' })).users), ['eve']);
	t.deepEqual(Object.keys((await ask('read', { ...d1, key: '' })).users), ['eve'], 'an empty key counts as absent');
});

test('a rule based on resource roles is listed like a role, with the assignments of the required roles', async (t) => {
	const model = await readCaseModel('010-resource-roles');
	const holds = { array_superset: ['viewer', 'approver'] };
	const lacks = { not: { array_contains: 'blocked' } };
	const conditions = { allOf: [{ 'user.resource_roles': holds }, { 'user.resource_roles': lacks }] };
	const condition_sets = model.schema.condition_sets.map((set) =>
		set.key === 'approving-viewers' ? { ...set, selects: { conditions } } : set,
	);
	const { http } = await serving(t, { ...model, schema: { ...model.schema, condition_sets } });
	const d1 = { type: 'document', key: 'd1', tenant: 'acme' };
	const listed = await http.post<Users>('/authorized_users', { action: 'sign', resource: d1 });
	const on = (user: string, resource: string, role: string) => ({ user, tenant: 'acme', resource, role });
	t.deepEqual(listed.body.users, {
		ann: [on('ann', 'document:d1', 'document#approver'), on('ann', 'folder:top', 'folder#viewer')],
		cal: [on('cal', 'document:d1', 'document#approver'), on('cal', 'document:d1', 'document#viewer')],
	});
	const signs = async (user: string) => {
		const { body } = await http.post<Entries>('/user-permissions', { user });
		return body['document:d1']?.permissions.includes('document:sign');
	};
	t.deepEqual([await signs('ann'), await signs('ben'), await signs('cal')], [true, false, true]);
	const cloud = await serving(t, { ...model, schema: { ...model.schema, condition_sets } }, { mode: 'cloud' });
	const there = await cloud.http.post<Users>('/authorized_users', { action: 'sign', resource: d1 });
	t.deepEqual(there.body.users, {}, 'a decision point in the cloud evaluates no conditions');
});

test('the facts index evaluates rules based on resource roles without the policy', async (t) => {
	const model = await readCaseModel('010-resource-roles');
	const { schema } = FactsIndex.read(documentBytes(model));
	const [payers, ...others] = conditionSetsIn(schema).rulesLikeRoles('purchase-order', 'pay');
	t.deepEqual([[...(payers?.required ?? [])].sort(), others], [['in', 'some'], []]);
	t.deepEqual(
		[[], ['in'], ['viewer']].map((roles) => payers?.grants(new Set(roles))),
		[false, true, false],
	);
	t.deepEqual(conditionSetsIn(schema).rulesLikeRoles('document', 'sign'), [], 'the set also compares a level');
	t.deepEqual(conditionSetsIn(schema).rulesLikeRoles('document', 'read'), [], 'the set requires no role');
	const lacks = { not: { anyOf: [{ 'user.resource_roles': { array_contains: 'in' } }] } };
	const conditions = { allOf: [{ 'user.resource_roles': { array_contains: 'some' } }, lacks] };
	const condition_sets = model.schema.condition_sets.map((set) =>
		set.key === 'payers' ? { ...set, selects: { conditions } } : set,
	);
	const changed = FactsIndex.read(documentBytes({ ...model, schema: { ...model.schema, condition_sets } }));
	const [rule] = conditionSetsIn(changed.schema).rulesLikeRoles('purchase-order', 'pay');
	t.deepEqual([...(rule?.required ?? [])], ['some']);
	t.deepEqual(
		[['some'], ['some', 'in'], ['in']].map((roles) => rule?.grants(new Set(roles))),
		[true, false, false],
	);
});

test('a user’s tenants are the tenants in which the user has any role', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const expected = { ann: ['acme'], bob: ['acme', 'beta'], eve: ['acme'], nobody: [], __proto__: [] };
	for (const [user, tenants] of Object.entries(expected)) {
		const { body, revision } = await http.post<{ key: string; attributes: object }[]>('/user-tenants', { user });
		t.is(revision, 7);
		t.deepEqual(
			body,
			tenants.map((key) => ({ key, attributes: {} })),
			user,
		);
	}
});

const rows = [
	{ user: 'ann', role: 'owner', tenant: 'acme', resource_instance: 'account:a1' },
	{ user: 'bob', role: 'viewer', tenant: 'acme', resource_instance: 'folder:top' },
	{ user: 'bob', role: 'viewer', tenant: 'beta', resource_instance: 'folder:other' },
	{ user: 'cleo', role: 'editor', tenant: 'acme', resource_instance: 'folder:deep' },
	{ user: 'dan', role: 'editor', tenant: 'acme', resource_instance: 'folder:deep' },
	{ user: 'dan', role: 'reader-1', tenant: 'acme', resource_instance: 'my-doc:d1' },
	{ user: 'eve', role: 'admin', tenant: 'acme' },
];

const pages: readonly (readonly [query: string, rows: readonly number[]])[] = [
	['', [0, 1, 2, 3, 4, 5, 6]],
	['?user=bob', [1, 2]],
	['?user=', [0, 1, 2, 3, 4, 5, 6]],
	['?user=nobody', []],
	['?role=editor', [3, 4]],
	['?role=viewer&tenant=beta', [2]],
	['?resource=folder', [1, 2, 3, 4]],
	['?resource=__tenant', [6]],
	['?resource_instance=folder:deep', [3, 4]],
	['?resource_instance=deep&user=dan', [4]],
	['?resource_instance=__tenant:acme', [6]],
	['?per_page=3', [0, 1, 2]],
	['?per_page=3&page=2', [3, 4, 5]],
	['?per_page=3&page=3', [6]],
	['?per_page=3&page=4', []],
	['?per_page=1&page=6', [5]],
	['?per_page=1&page=2&role=viewer', [2]],
	['?unknown=1', [0, 1, 2, 3, 4, 5, 6]],
];

test('lists role assignments with filters and pages', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	for (const [query, expected] of pages) {
		const { status, body, revision } = await http.get(`/local/role_assignments${query}`);
		t.deepEqual([status, revision], [200, 7]);
		t.deepEqual(
			body as unknown,
			expected.map((index) => rows[index]),
			query,
		);
	}
	for (const wrong of ['page=0', 'page=x', 'page=1.5', 'per_page=0', 'per_page=101', 'per_page=-1', 'user=a&user=b']) {
		const refused = await http.get<{ detail: { loc: unknown }[] }>(`/local/role_assignments?${wrong}`);
		t.is(refused.status, 422, wrong);
		t.deepEqual(refused.body.detail[0]?.loc, ['query', wrong.split('=')[0]], wrong);
	}
	t.is((await http.get('/local/role_assignments', { headers: { authorization: 'Bearer x' } })).status, 403);
});

test('deltas and new policies update the listings', async (t) => {
	const model = await readCaseModel('007-folders-and-documents');
	const { feed, replica, http } = await serving(t, model);
	const users = async () =>
		Object.keys(
			(
				await http.post<Users>('/authorized_users', {
					action: 'read',
					resource: { type: 'my-doc', key: 'd1', tenant: 'acme' },
				})
			).body.users,
		);
	t.deepEqual(await users(), ['ann', 'bob', 'cleo', 'dan', 'eve']);
	const remove: readonly Patch[] = [{ op: 'remove', path: ['regolith', 'facts', 'relations', 'my-doc:d1'] }];
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches: remove }) });
	await replica.reached(8);
	t.deepEqual(await users(), ['dan', 'eve']);
	t.deepEqual(Object.keys((await http.post('/user-permissions', { user: 'cleo' })).body), ['folder:deep']);
	const wider = {
		...model,
		schema: { ...model.schema, resources: [...model.schema.resources, resource('more', ['see'])] },
	};
	const restore: readonly Patch[] = [
		{ op: 'upsert', path: ['regolith', 'facts', 'relations', 'my-doc:d1', 'parent', 'folder:deep'], value: null },
		{ op: 'upsert', path: ['regolith', 'schema', 'actions', 'more'], value: { see: null } },
	];
	const policy = { base: 8, revision: 9, patches: restore, wasm: await policyWasm(wider) };
	feed.publish({ revision: 9, snapshot: Buffer.from(''), step: await step(policy) });
	await replica.reached(9);
	t.deepEqual(await users(), ['ann', 'bob', 'cleo', 'dan', 'eve']);
});

test('a rejected policy leaves the listings unchanged', async (t) => {
	const { feed, replica, http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const patches: readonly Patch[] = [{ op: 'remove', path: ['regolith', 'facts', 'user_roles'] }];
	const wrong = await step({ base: 7, revision: 8, patches, wasm: Buffer.from('no module') });
	feed.publish({ revision: 8, snapshot: Buffer.from('no bundle'), step: wrong });
	while (replica.state.kind !== 'stale') await new Promise((done) => setTimeout(done, 5));
	const { body, revision } = await http.get<unknown[]>('/local/role_assignments');
	t.deepEqual([body.length, revision], [rows.length, 7]);
});

/** Returns a model in which a user has a role on many instances, and many users have a role on the same instance. */
function crowd(): Model {
	const many = Array.from({ length: 1_500 }, (_, index) => `n${index}`);
	const documents = { ...resource('document', ['read', 'write']), roles: [grantingRole('reader', ['read'])] };
	return {
		schema: { ...acmeWithMuch.schema, resources: [documents], roles: [] },
		facts: {
			user_attributes: [],
			instance_attributes: [],
			users: ['ann', ...many],
			tenants: [{ key: 'acme', attributes: {} }],
			role_assignments: [],
			instances: ['hub', ...many].map((key) => ({ type: 'document', key, tenant: 'acme' })),
			instance_assignments: many.flatMap((key) => [
				{ user: 'ann', role: 'reader', type: 'document', instance: key },
				{ user: key, role: 'reader', type: 'document', instance: 'hub' },
			]),
			relationships: [],
		},
	};
}

function grantingRole(key: string, permissions: readonly string[]) {
	return {
		key,
		name: key,
		description: null,
		permissions,
		extends: [],
		derivations: [],
		no_direct_roles_on_object: false,
	};
}

test('long listings are complete and have one revision despite concurrent writes', async (t) => {
	const { feed, replica, http } = await serving(t, crowd());
	const permitted = http.post<Entries>('/user-permissions', { user: 'ann' });
	const authorized = http.post<Users>('/authorized_users', {
		action: 'read',
		resource: { type: 'document', key: 'hub', tenant: 'acme' },
	});
	const patches: readonly Patch[] = [{ op: 'remove', path: ['regolith', 'facts', 'user_roles'] }];
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches }) });
	await replica.reached(8);
	for (const { answer, size } of [
		{ answer: await permitted, size: Object.keys((await permitted).body).length },
		{ answer: await authorized, size: Object.keys((await authorized).body.users).length },
	]) {
		t.is(answer.status, 200);
		t.is(size, answer.revision === 7 ? 1_500 : 0);
	}
});

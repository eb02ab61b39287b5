import test from 'ava';
import { documentBytes } from '../../compiler/index.js';
import { decide } from '../../src/pdp/decide/decide.js';
import { Engine, type EngineInput } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { allowedChecks, everyCheck, readCaseModel, serving } from './cases.js';
import { policyWasm, quiet } from './environment.js';

/** Condition sets at a decision point: input that callers control, listings, and cloud checks without conditions. */

const name = '009-condition-sets';
const d1 = { type: 'document', key: 'd1', tenant: 'acme' };

interface Explained {
	readonly allow: boolean;
	readonly debug: {
		readonly request: { readonly user: { readonly attributes: unknown } };
		readonly abac?: { readonly code: string; readonly allowing_rules?: unknown };
		readonly rbac?: object;
	};
}

interface Case {
	readonly title: string;
	readonly asked: object;
	readonly allow: boolean;
	/** The code in the response's section about conditions. */
	readonly code: string;
}

const cases: readonly Case[] = [
	{
		title: 'a stored attribute and a stored role',
		asked: { user: 'ann', action: 'sign', resource: d1 },
		allow: true,
		code: 'allow',
	},
	{
		title: 'sent attributes for an unknown user and instance',
		asked: {
			user: { key: 'new', attributes: { title: 'manager' } },
			action: 'edit',
			resource: { ...d1, key: 'd9', attributes: { status: 'draft' } },
		},
		allow: true,
		code: 'allow',
	},
	{
		title: 'sent attributes override stored attributes',
		asked: { user: { key: 'ann', attributes: { title: null } }, action: 'edit', resource: d1 },
		allow: false,
		code: 'no_matching_rules',
	},
	{
		title: 'roles sent by the client are ignored',
		asked: {
			user: { key: 'new', roles: ['admin'], attributes: { roles: ['admin'], key: 'ann', tenants: ['acme'] } },
			action: 'sign',
			resource: d1,
			context: { roles: ['admin'], user: { roles: ['admin'] } },
			roles: ['admin'],
		},
		allow: false,
		code: 'no_matching_rules',
	},
	{
		title: 'a client cannot turn an edge decision point into a cloud decision point, or disable conditions',
		asked: {
			user: 'ann',
			action: 'sign',
			resource: d1,
			context: { pdp_type: 'cloud', enable_abac_user_permissions: false },
			conditions: false,
		},
		allow: true,
		code: 'allow',
	},
	{
		title: 'a tenant different from the instance’s tenant',
		asked: { user: 'cleo', action: 'edit', resource: { ...d1, tenant: 'beta' } },
		allow: false,
		code: 'tenant_mismatch',
	},
	{
		title: 'a tenant that does not exist',
		asked: { user: 'cleo', action: 'edit', resource: { ...d1, tenant: 'none', attributes: { status: 'draft' } } },
		allow: false,
		code: 'no_such_tenant',
	},
];

test('conditions read stored attributes and attributes sent with the check', async (t) => {
	const { http } = await serving(t, await readCaseModel(name));
	for (const { title, asked, allow, code } of cases) {
		const { body } = await http.post<Explained>('/allowed', { ...asked, use_debugger: true });
		t.is(body.allow, allow, title);
		t.is(body.debug.abac?.code, code, title);
	}
});

test('an explanation shows stored values, but no values sent by the caller', async (t) => {
	const { http } = await serving(t, await readCaseModel(name));
	const user = { key: 'ann', email: 'ann@example.com', attributes: { roles: ['owner'], tenants: [], key: 'bob' } };
	const asked = { user, action: 'sign', resource: d1, use_debugger: true };
	const { debug } = (await http.post<Explained>('/allowed', asked)).body;
	t.deepEqual(debug.request.user.attributes, {
		key: 'ann',
		roles: ['admin'],
		tenants: ['acme'],
		email: 'ann@example.com',
		level: 5,
		title: 'manager',
	});
	t.deepEqual(debug.abac?.allowing_rules, [{ role: 'admin', resourceset: 'drafts' }]);
	t.is(debug.rbac, undefined);
});

test('a decision point in cloud mode never evaluates conditions', async (t) => {
	const { http } = await serving(t, await readCaseModel(name), { mode: 'cloud' });
	for (const context of [{}, { pdp_type: 'edge' }, { pdp_type: null }, null]) {
		const asked = { user: 'ann', action: 'sign', resource: d1, context, use_debugger: true };
		const { body } = await http.post<Explained>('/allowed', asked);
		t.false(body.allow);
		t.is(body.debug.abac?.code, 'cloud_pdp_not_supporting_abac');
	}
	const flags = { context: { enable_abac_user_permissions: true, enable_abac_authorized_users: true } };
	t.deepEqual((await http.post('/authorized_users', { action: 'sign', resource: d1, ...flags })).body['users'], {});
	const listed = await http.post('/user-permissions', { user: 'bob', resource_types: ['document'], ...flags });
	t.deepEqual(listed.body, {});
	t.true((await http.post('/allowed', { user: 'ann', action: 'read', resource: d1 })).body['allow'] as boolean);
});

interface Users {
	readonly users: Readonly<Record<string, readonly object[]>>;
}
type Entries = Readonly<Record<string, { readonly permissions: string[]; readonly tenant: { readonly key: string } }>>;

for (const { title, flags, mode } of [
	{ title: 'with conditions', flags: true, mode: 'edge' },
	{ title: 'without conditions', flags: false, mode: 'cloud' },
] as const) {
	test(`listings contain exactly what checks allow, ${title}`, async (t) => {
		const model = await readCaseModel(name);
		const listing = await serving(t, model);
		const allowed = await allowedChecks(await serving(t, model, { mode }), model);
		t.true(allowed.size > 3);
		const context = flags ? { enable_abac_user_permissions: true, enable_abac_authorized_users: true } : {};
		const resource_types = [...model.schema.resources.map(({ key }) => key), '__tenant'];
		const answers = new Map<string, unknown>();
		const ask = async <T>(path: string, question: object): Promise<T> => {
			const id = JSON.stringify([path, question]);
			if (!answers.has(id)) answers.set(id, (await listing.http.post(path, question)).body);
			return answers.get(id) as T;
		};
		for (const check of everyCheck(model)) {
			const { user, action, resource } = check;
			const said = JSON.stringify(check);
			const is = allowed.has(said);
			const { users } = await ask<Users>('/authorized_users', { action, resource, context });
			t.is(Object.hasOwn(users, user), is && user !== 'nobody', said);
			const entries = await ask<Entries>('/user-permissions', { user, resource_types, context });
			const id = resource.key === undefined ? `__tenant:${resource.tenant}` : `${resource.type}:${resource.key}`;
			const entry = Object.hasOwn(entries, id) ? entries[id] : undefined;
			const stored = model.facts.instances.find(({ type, key }) => type === resource.type && key === resource.key);
			if (entry !== undefined && entry.tenant.key === resource.tenant) {
				t.is(entry.permissions.includes(`${resource.type}:${action}`), is, said);
			} else if (stored?.tenant === resource.tenant) {
				t.false(is, said);
			}
		}
	});
}

test('conditions apply in a user’s tenants, and in all tenants for an unknown user', async (t) => {
	const { http } = await serving(t, await readCaseModel(name));
	const resource = { type: 'folder', attributes: { open: true } };
	for (const [user, expected] of [
		['ann', ['acme']],
		['new', ['acme', 'beta']],
		['cleo', ['acme']],
		['__proto__', []],
	] as const) {
		const { body } = await http.post<{ allowed_tenants: { tenant: { key: string } }[] }>('/allowed/all-tenants', {
			user,
			action: 'read',
			resource,
		});
		t.deepEqual(
			body.allowed_tenants.map(({ tenant }) => tenant.key),
			expected,
			user,
		);
	}
});

test('users who are allowed only by conditions are listed without assignments', async (t) => {
	const { http } = await serving(t, await readCaseModel(name));
	const d2 = { type: 'document', key: 'd2', tenant: 'acme' };
	const ask = async (context: object) =>
		(await http.post<Users>('/authorized_users', { action: 'edit', resource: d2, context })).body.users;
	const cleo = [{ user: 'cleo', tenant: 'acme', resource: 'document:d2', role: 'document#author' }];
	t.deepEqual(await ask({}), { cleo });
	t.deepEqual(await ask({ enable_abac_authorized_users: true }), { ann: [], cleo });
	t.deepEqual(await ask({ enable_abac_authorized_users: 'true' }), { cleo });
});

test('all instances of a type are listed only if the request contains the type and enables conditions', async (t) => {
	const { http } = await serving(t, await readCaseModel(name));
	const ask = async (more: object) =>
		Object.keys((await http.post('/user-permissions', { user: 'ann', ...more })).body).sort();
	const context = { enable_abac_user_permissions: true };
	t.deepEqual(await ask({ context, resource_types: ['document'] }), ['document:d1', 'document:d2']);
	t.deepEqual(await ask({ context, resource_types: ['document'], tenants: ['beta'] }), []);
	t.deepEqual(await ask({ context, resource_types: ['folder', '__tenant'] }), ['__tenant:acme', 'folder:f1']);
	t.deepEqual(await ask({ context }), ['__tenant:acme']);
	t.deepEqual(await ask({ resource_types: ['folder'] }), []);
	const byRoles = await http.post<Entries>('/user-permissions', { user: 'ann', resource_types: ['document'] });
	t.deepEqual(
		Object.entries(byRoles.body).map(([id, { permissions }]) => [id, permissions]),
		[
			['document:d1', ['document:read']],
			['document:d2', ['document:read']],
		],
		'permissions through a tenant role',
	);
	t.deepEqual((await http.post('/user-permissions', { user: 'ann', context, resource_types: ['document'] })).body, {
		'document:d1': {
			tenant: { key: 'acme', attributes: {} },
			resource: { type: 'document', key: 'd1', attributes: { status: 'draft' } },
			permissions: ['document:edit', 'document:read', 'document:sign'],
			roles: [],
		},
		'document:d2': {
			tenant: { key: 'acme', attributes: {} },
			resource: { type: 'document', key: 'd2', attributes: { secret: true, status: 'draft' } },
			permissions: ['document:edit', 'document:read', 'document:sign'],
			roles: [],
		},
	});
});

test('a check contains the times that its conditions compare, and the result is the same as if the policy computed them', async (t) => {
	const model = await readCaseModel('011-times-and-related-instances');
	const bytes = documentBytes(model);
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(model)), bytes);
	const sent: EngineInput[] = [];
	const spy = {
		code(input: EngineInput) {
			sent.push(input);
			return engine.code(input);
		},
		evaluate: () => null,
	};
	const context = { engine: spy, facts: FactsIndex.read(bytes), revision: 7, policyRevision: 7, log: quiet };
	const allowed = { calculated: 0, added: 0 };
	for (const { user, ...check } of everyCheck(model)) {
		for (const time of [1795512600000, 1796808600000.5, -1]) {
			const { key, ...resource } = check.resource;
			const input = { action: check.action, resource: key === undefined ? resource : { ...resource, key }, time };
			const { allow } = decide({ ...context, time }, { user: { key: user }, ...input }, false);
			t.is(allow, engine.code({ user: { key: user }, ...input }) === 'allow', JSON.stringify({ user, ...input }));
			allowed[sent.at(-1)?.before === undefined ? 'calculated' : 'added'] += Number(allow);
		}
	}
	t.true(allowed.added > 0, JSON.stringify(allowed));
	const last = sent.findLast(({ before }) => before !== undefined);
	for (const text of Object.values(last?.before ?? {})) t.regex(text, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
});

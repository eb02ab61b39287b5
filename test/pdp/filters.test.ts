/** Data filters over HTTP: responses, limits, invalid requests, key pages, and the decision log. */
import test, { type ExecutionContext } from 'ava';
import type { Json, Model } from '../../compiler/model.js';
import { createApplication, listen } from '../../src/http/server.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { client } from '../support/client.js';
import { serving } from './cases.js';
import { acme, quiet, resource, snapshot } from './environment.js';
import { key as apiKey } from './served.js';

const expiry = Date.UTC(2100, 0, 1);
const set = (key: string, type: 'userset' | 'resourceset', conditions: Json) => {
	const of = type === 'userset' ? null : 'document';
	return { key, name: key, description: null, type, resource: of, parent: null, selects: { conditions } } as const;
};
const named = (key: string) => ({ key, name: key, description: null });
const role = { permissions: ['read'], extends: [], no_direct_roles_on_object: false };

/**
 * Ann reads documents in `acme` through a tenant role, and ben reads some documents through assignments and a folder.
 * Users with a high level, such as cleo, read drafts that they own, and drafts without an owner.
 */
const model: Model = {
	schema: {
		...acme.schema,
		resources: [
			{
				...resource('document', ['read', 'sign', 'share', 'renew', 'move']),
				roles: [
					{
						...named('reader'),
						...role,
						derivations: [{ relation: 'parent', role: 'keeper', no_direct_roles_on_object: false }],
					},
				],
				relations: [{ ...named('parent'), subject: 'folder' }],
			},
			{ ...resource('folder', ['read']), roles: [{ ...named('keeper'), ...role, derivations: [] }] },
		],
		roles: [{ ...named('viewer'), permissions: [{ resource: 'document', action: 'read' }], extends: [] }],
		condition_sets: [
			set('leveled', 'userset', { 'user.level': { 'greater-than': 2 } }),
			set('own drafts', 'resourceset', {
				allOf: [
					{ 'resource.status': { equals: 'draft' } },
					{ not: { 'resource.owner': { 'not-equals': { ref: 'user.key' } } } },
				],
			}),
			set('in open folders', 'resourceset', {
				'resource.folder': { object_match: { match: { open: { equals: true } }, fk_resource_type: 'folder' } },
			}),
			set('new', 'resourceset', { 'resource.created_at': { 'within-last': 'P30D' } }),
			set('local', 'resourceset', { 'resource.address.city': { equals: 'Bonn' } }),
			set('matched', 'resourceset', { 'resource.name': { 'starts-with': 'plan' } }),
		],
		set_rules: [
			{ user_set: 'leveled', resource_set: 'in open folders', resource: 'document', action: 'share' },
			{ user_set: 'leveled', resource_set: 'new', resource: 'document', action: 'renew' },
			{ user_set: 'leveled', resource_set: 'local', resource: 'document', action: 'move' },
			{ user_set: 'leveled', resource_set: 'own drafts', resource: 'document', action: 'read' },
			{ user_set: 'leveled', resource_set: 'matched', resource: 'document', action: 'sign' },
		],
	},
	facts: {
		...acme.facts,
		users: ['ann', 'ben', 'cleo', 'idle'],
		role_assignments: [{ user: 'ann', role: 'viewer', tenant: 'acme', expires_at: expiry }],
		user_attributes: [{ user: 'cleo', attributes: { level: 3 } }],
		instances: [
			...['d1', 'd2', 'd3'].map((key) => ({ type: 'document', key, tenant: 'acme' })),
			{ type: 'document', key: 'd4', tenant: 'default' },
			{ type: 'folder', key: 'f1', tenant: 'acme' },
		],
		instance_assignments: [
			{ user: 'ben', role: 'reader', type: 'document', instance: 'd1' },
			{ user: 'ben', role: 'keeper', type: 'folder', instance: 'f1' },
			{ user: 'ben', role: 'reader', type: 'document', instance: 'd4' },
		],
		relationships: ['d2', 'd3'].map((instance) => ({
			type: 'document',
			instance,
			relation: 'parent',
			subject_type: 'folder',
			subject: 'f1',
		})),
	},
};

/** The model with an additional rule for `read`, whose condition compares the check time. */
const timed: Model = {
	...model,
	schema: {
		...model.schema,
		set_rules: [
			...(model.schema.set_rules ?? []),
			{ user_set: 'leveled', resource_set: 'new', resource: 'document', action: 'read' },
		],
	},
};

const ask = (user: unknown, action = 'read', more: object = {}) => ({
	user,
	action,
	resource: { type: 'document', ...more },
});
const compare = (column: object, operator: string, value: unknown, name: string) => {
	return { kind: 'comparison', column, operator, operand: { value }, name };
};
const tenantIs = (tenant: string) => compare({ kind: 'tenant' }, 'equals', tenant, 'roles');
const all = (...parts: object[]) => ({ kind: 'all', parts });
const any = (...parts: object[]) => ({ kind: 'any', parts });
const attribute = (...path: string[]) => ({ kind: 'attribute', path });
const keys = (...found: string[]) => compare({ kind: 'key' }, 'in', found, 'roles');
const draftsOf = (owner: string) => {
	const other = compare(attribute('owner'), 'not-equals', owner, 'own drafts');
	const status = compare(attribute('status'), 'equals', 'draft', 'own drafts');
	const guard = { kind: 'not', part: { ...other, kind: 'mistyped' } };
	return all(status, { kind: 'not', part: other }, guard);
};

/** Filter requests with the expected conditions. Without a condition, the filter denies all rows. */
const filters: readonly (readonly [title: string, body: object, condition?: object])[] = [
	['a role in a tenant', ask('ann'), tenantIs('acme')],
	['a role in the tenant of the request', ask('ann', 'read', { tenant: 'acme' }), tenantIs('acme')],
	['no role in the tenant of the request', ask('ann', 'read', { tenant: 'default' })],
	[
		'roles on instances, assigned and derived',
		ask('ben'),
		any(
			all(tenantIs('default'), compare({ kind: 'key' }, 'equals', 'd4', 'roles')),
			all(tenantIs('acme'), keys('d1', 'd2', 'd3')),
		),
	],
	[
		'roles on instances of a tenant',
		ask('ben', 'read', { tenant: 'acme' }),
		all(tenantIs('acme'), keys('d1', 'd2', 'd3')),
	],
	['condition sets', ask('cleo', 'read', { tenant: 'acme' }), { ...all(tenantIs('acme'), ...draftsOf('cleo').parts) }],
	[
		'condition sets in every tenant',
		ask({ key: 'new', attributes: { level: 9 } }),
		all(compare({ kind: 'tenant' }, 'in', ['acme', 'default'], 'roles'), ...draftsOf('new').parts),
	],
	[
		'an attribute that is known for every row',
		ask('cleo', 'read', { tenant: 'acme', attributes: { status: 'draft', owner: 'cleo' } }),
		tenantIs('acme'),
	],
	['an attribute that no row satisfies', ask('cleo', 'read', { attributes: { status: 'final' } })],
	['a user without grants', ask('idle')],
	['a set of users', ask({ set: 'folder:f1#keeper' }), all(tenantIs('acme'), keys('d2', 'd3'))],
	[
		'a set of users with a role on a document',
		ask({ set: 'document:d4#reader' }),
		all(tenantIs('default'), compare({ kind: 'key' }, 'equals', 'd4', 'roles')),
	],
];

for (const [title, body, condition] of filters) {
	test(`calculates the filter for ${title}`, async (t) => {
		const { http } = await serving(t, model);
		const answer = await http.post('/filter', body);
		t.is(answer.status, 200);
		t.is(answer.headers.get('x-revision'), '7');
		// Condition sets may read all the user's roles, so any role's expiry counts.
		const expires = 'user' in body && body.user === 'ann' ? new Date(expiry).toISOString() : null;
		const type = condition === undefined ? 'always_deny' : 'conditional';
		t.deepEqual(answer.body, { type, ...(condition && { condition }), revision: 7, valid_until: expires } as never);
	});
}

test('a filter that compares the check time is valid only at that time', async (t) => {
	const time = Date.UTC(2026, 0, 31);
	const { http } = await serving(t, model, { clock: { now: () => new Date(time) } });
	const created = { ...compare(attribute('created_at'), 'within-last', 'P30D', 'new'), now: time };
	t.like((await http.post('/filter', ask('cleo', 'renew', { tenant: 'acme' }))).body, {
		condition: all(tenantIs('acme'), created),
		valid_until: new Date(time).toISOString(),
	});
});

test('the grants of a filter are explained with the same wording as a check', async (t) => {
	const { http } = await serving(t, model);
	const branches = async (user: unknown) =>
		(
			await http.post<{ debug: { branches: readonly object[] } }>('/filter', ask(user), {
				headers: { 'x-debug': 'true' },
			})
		).body.debug.branches;
	t.deepEqual(await branches('ann'), [
		{
			model: 'rbac',
			allowing_role: 'viewer',
			reason: 'user `ann` holds `viewer` in the tenant, which grants `document:read`',
			condition: tenantIs('acme'),
		},
	]);
	const reason = 'user `ben` holds `reader` on the instance, which grants `document:read`';
	const derived = { type: 'role_derivation', role: 'folder#keeper', relation: 'parent' };
	const ofBen = await branches('ben');
	t.like(ofBen[0], {
		model: 'rebac',
		allowing_role: 'document#reader',
		reason,
		sources: [{ type: 'role_assignment' }],
	});
	t.deepEqual(ofBen[1], {
		model: 'rebac',
		allowing_role: 'document#reader',
		reason,
		sources: [derived],
		condition: all(tenantIs('acme'), keys('d2', 'd3')),
	});
	t.like((await branches({ set: 'document:d1#reader' }))[0], {
		reason: 'user `document:d1#reader` holds `reader` on the instance, which grants `document:read`',
		sources: [{ type: 'role_assignment' }],
	});
	t.like((await branches({ set: 'folder:f1#keeper' }))[0], { sources: [derived] });
	t.like((await branches('cleo'))[0], {
		model: 'abac',
		allowing_rule: { userset: 'leveled', resourceset: 'own drafts' },
		reason: 'a condition set rule grants `document:read`',
	});
});

const denials: readonly (readonly [code: string, body: object])[] = [
	['no_such_resource', { user: 'ann', action: 'read', resource: 'invoice' }],
	['no_such_action', ask('ann', 'fly')],
	['no_such_tenant', ask('ann', 'read', { tenant: 'none' })],
	['user_not_synced', ask('nobody', 'sign')],
	['no_user_roles', ask('idle', 'sign', { tenant: 'acme' })],
	['no_permission', ask('ann', 'sign')],
];

for (const [code, body] of denials) {
	test(`explains a filter that denies everything with the code ${code}`, async (t) => {
		const { http } = await serving(t, model);
		const answer = await http.post('/filter', body, { headers: { 'x-debug': 'true' } });
		t.like(answer.body, { type: 'always_deny', debug: { code, branches: [] } });
		t.is((await http.post('/filter', body)).body['debug'], undefined);
	});
}

const problems: readonly (readonly [title: string, path: string, body: object, loc: string, message: RegExp])[] = [
	[
		'a resource key',
		'/filter',
		ask('ann', 'read', { key: 'd1' }),
		'body.resource.key',
		/for a single instance, use \/allowed/,
	],
	[
		'a resource key in the short form',
		'/filter',
		{ user: 'ann', action: 'read', resource: 'document:d1' },
		'body.resource.key',
		/for a single instance, use \/allowed/,
	],
	[
		'a resource key, in the permit-datafilter format',
		'/filter_resources',
		ask('ann', 'read', { key: 'd1' }),
		'body.resource.key',
		/for a single instance, use \/allowed/,
	],
	// An empty tenant is `default` in a check, so it must not be every tenant.
	['an empty tenant', '/filter', ask('cleo', 'read', { tenant: '' }), 'body.resource.tenant', /must be a tenant key/],
	[
		'too many keys',
		'/filter',
		{ ...ask('ben'), max_keys: 3 },
		'body',
		/^the filter has 4 keys .*`POST \/filter\/keys`$/,
	],
	['a max_keys that is too large', '/filter', { ...ask('ben'), max_keys: 50_001 }, 'body.max_keys', /50000/],
	['a page limit that is too large', '/filter/keys', { ...ask('ben'), limit: 50_001 }, 'body.limit', /50000/],
	[
		'a condition on related instances',
		'/filter',
		ask('cleo', 'share'),
		'body',
		/^`filter` cannot express the condition `in open folders`: it reads related instances by `fk_resource_type`$/,
	],
	[
		'a condition that the format cannot express',
		'/filter_resources',
		ask('cleo', 'sign', { tenant: 'acme' }),
		'body',
		/^`permit-datafilter` cannot express the condition `matched`: it has no search in strings$/,
	],
];

for (const [title, path, body, loc, message] of problems) {
	test(`rejects a filter request with ${title}`, async (t) => {
		const { http } = await serving(t, model);
		const answer = await http.post<{ detail: readonly { loc: readonly string[]; msg: string }[] }>(path, body);
		t.is(answer.status, 422);
		const [problem] = answer.body.detail;
		t.is(problem?.loc.join('.'), loc);
		t.regex(problem?.msg ?? '', message);
	});
}

test('the keys of a filter are paged at one revision', async (t) => {
	const { http, feed, replica } = await serving(t, model);
	interface Page {
		readonly rest: { readonly type: string };
		readonly keys: readonly { readonly key: string; readonly tenant: string }[];
		readonly next: string | null;
		readonly detail?: string;
	}
	const page = (cursor: string | null, query: object = ask('ben')) =>
		http.post<Page>('/filter/keys', { ...query, limit: 3, cursor });
	const first = await page(null);
	t.deepEqual(
		first.body.keys,
		['d1', 'd2', 'd3'].map((key) => ({ tenant: 'acme', key })),
	);
	t.is(first.body.rest.type, 'always_deny');
	const second = await page(first.body.next);
	t.deepEqual([second.body.keys, second.body.next], [[{ tenant: 'default', key: 'd4' }], null]);
	const foreign = await page(first.body.next, ask('ann'));
	t.is(foreign.status, 400);
	t.regex(String(foreign.body.detail), /^cursor belongs to a different request/);
	feed.publish({ revision: 8, snapshot: await snapshot({ revision: 8, model }) });
	await replica.reached(8);
	const changed = await page(first.body.next);
	t.is(changed.status, 409);
	t.regex(String(changed.body.detail), /^the revision has changed from 7 to 8 since the first page/);
	const { rest } = (await http.post<{ rest: object }>('/filter/keys', ask('ann'))).body;
	t.deepEqual(rest, { type: 'conditional', condition: tenantIs('acme') });
});

test('all pages of a filter that compares the check time are valid at the time of the first page', async (t) => {
	let time = Date.UTC(2026, 0, 31);
	const { http } = await serving(t, timed, { clock: { now: () => new Date(time) } });
	const page = (cursor: string | null) =>
		http.post<{ keys: readonly object[]; next: string | null }>('/filter/keys', { ...ask('ben'), limit: 3, cursor });
	const first = await page(null);
	t.is(first.status, 200);
	t.like(first.body, { keys: { length: 3 }, valid_until: new Date(time).toISOString() });
	time += 1;
	const second = await page(first.body.next);
	t.is(second.status, 200);
	t.deepEqual(second.body.keys, [{ tenant: 'default', key: 'd4' }]);
});

const forgedPlaces = ['', '{', '[]', '["",7,-1,"d1"]', '["",7,0.5,"d1"]', '["",7,4102444800001,"d1"]'];

for (const place of forgedPlaces) {
	test(`a forged cursor is rejected: ${place}`, async (t) => {
		const { http } = await serving(t, model, { clock: { now: () => new Date(expiry) } });
		const page = (cursor: string | null) =>
			http.post<{ next: string; detail: unknown }>('/filter/keys', { ...ask('ben'), limit: 3, cursor });
		const digest = Buffer.from((await page(null)).body.next, 'base64url').subarray(0, 16);
		const forged = await page(Buffer.concat([digest, Buffer.from(place)]).toString('base64url'));
		t.is(forged.status, 400);
		t.regex(String(forged.body.detail), /^cursor is malformed/);
	});
}

const plan = (user: string, actions: readonly string[], attr: object = {}) => {
	return { principal: { id: user, roles: [] }, actions, resource: { kind: 'document', attr } };
};

/** Serves the model with the Compile API. */
async function servingCompile(t: ExecutionContext) {
	const { http, replica } = await serving(t, model);
	const { dataApi } = createDecisionPoint({ replica, apiKey, log: quiet });
	const application = createApplication({ ...dataApi, onUnexpected: (error) => t.fail(String(error)) });
	const listening = await listen(application, '127.0.0.1', 0);
	t.teardown(() => listening.close(0));
	const data = client(listening.url, apiKey);
	const compile = (target: string, input: object, options: object = {}) =>
		data.post<{ message: string }>(
			'/v1/compile/regolith/check/allow',
			{ input, options },
			{ headers: { accept: `application/vnd.opa.${target}+json` } },
		);
	return { http, compile };
}

test('the Compile API rejects a nested attribute without a column', async (t) => {
	const { compile } = await servingCompile(t);
	for (const [target, dialect] of [
		['ucast.all', 'all'],
		['sql.postgresql', 'postgresql'],
	] as const) {
		const refused = await compile(target, ask('cleo', 'move'));
		t.is(refused.status, 422);
		t.regex(refused.body.message, /`address\.city`/);
		const targetSQLTableMappings = { [dialect]: { resource: { 'address.city': 'city' } } };
		const answer = await compile(target, ask('cleo', 'move'), { targetSQLTableMappings });
		t.is(answer.status, 200);
		t.regex(JSON.stringify(answer.body), /city/);
	}
});

test('filters in formats without `valid_until` return it in a header', async (t) => {
	const { http, compile } = await servingCompile(t);
	for (const [user, expires] of [
		['ann', new Date(expiry).toISOString()],
		['ben', null],
	] as const) {
		for (const answer of [
			await http.post('/filter_resources', ask(user)),
			await http.post('/api/plan/resources', plan(user, ['read'])),
			await compile('ucast.all', ask(user)),
		]) {
			t.is(answer.status, 200, JSON.stringify(answer.body));
			t.is(answer.headers.get('x-valid-until'), expires);
		}
	}
	const time = Date.now();
	const several = await http.post('/api/plan/resources', plan('ann', ['read', 'renew']));
	const until = Date.parse(several.headers.get('x-valid-until') ?? '');
	t.true(until >= time && until < expiry, `${until}`);
});

for (const tenant of [5, '', null, ['acme'], true]) {
	test(`a Cerbos request with an invalid tenant key is rejected: ${JSON.stringify(tenant)}`, async (t) => {
		const { http } = await serving(t, model);
		const checked = { kind: 'document', id: 'd1', attr: { tenant } };
		for (const [path, body] of [
			['plan', plan('cleo', ['read'], { tenant })],
			['check', { ...plan('cleo', []), resources: [{ resource: checked, actions: ['read'] }] }],
		] as const) {
			const answer = await http.post<{ message: string }>(`/api/${path}/resources`, body);
			t.is(answer.status, 422);
			t.regex(answer.body.message, /attr\.tenant.*must be a tenant key/);
		}
	});
}

test('a filter in the permit-datafilter format contains no lists', async (t) => {
	const { http } = await serving(t, model);
	const eq = (variable: string, value: string) => {
		return { expression: { operator: 'eq', operands: [{ variable: `input.resource.${variable}` }, { value }] } };
	};
	const operands = ['d1', 'd2', 'd3'].map((key) => eq('key', key));
	const answer = await http.post('/filter_resources', ask('ben', 'read', { tenant: 'acme' }));
	const either = { expression: { operator: 'or', operands } };
	const condition = { expression: { operator: 'and', operands: [eq('tenant', 'acme'), either] } };
	t.deepEqual(answer.body, { type: 'conditional', condition } as never);
	t.deepEqual((await http.post('/filter_resources', ask('idle'))).body, { type: 'always_deny' } as never);
});

test('filters are logged as decisions of kind filter, and decision points in cloud mode evaluate no conditions', async (t) => {
	const logged: unknown[] = [];
	const decisions = {
		add: (input: object, code: string, _: number, index: unknown, __: unknown, kind = 'check') =>
			logged.push([(input as { resource: object }).resource, code, index, kind]),
	};
	const { http } = await serving(t, model, { decisions, mode: 'cloud' });
	t.is((await http.post('/filter', ask('cleo'))).body['type'], 'always_deny');
	await http.post('/filter', ask('ann', 'read', { tenant: 'acme' }));
	await http.post('/allowed', ask('ann', 'read', { tenant: 'acme' }));
	t.deepEqual(logged, [
		[{ type: 'document', tenant: '' }, 'always_deny', undefined, 'filter'],
		[{ type: 'document', tenant: 'acme' }, 'conditional', undefined, 'filter'],
		[{ type: 'document', tenant: 'acme' }, 'allow', undefined, 'check'],
	]);
});

test('while a policy is pending, filters include computed roles with a blocked excluded role', async (t) => {
	const plain = { ...role, permissions: [], derivations: [] };
	const source = { relation: 'parent', role: 'blocked', no_direct_roles_on_object: true };
	const roles = [
		{ ...named('viewer'), ...plain },
		{ ...named('blocked'), ...plain, derivations: [source] },
		{ ...named('reader'), ...plain, computed: { allOf: ['viewer', { not: 'blocked' }] } },
	];
	const strangers = { not: { 'user.resource_roles': { array_contains: 'reader' } } };
	const schema = {
		...acme.schema,
		resources: [
			{
				...resource('document', ['read', 'share']),
				roles,
				relations: [{ ...named('parent'), subject: 'folder' }],
			},
			{ ...resource('folder', []), roles: [{ ...named('blocked'), ...plain }] },
		],
		roles: [],
		condition_sets: [
			{ ...set('strangers', 'userset', strangers), resource: 'document' },
			set('all', 'resourceset', { 'resource.key': { 'not-equals': '' } }),
		],
		set_rules: [{ user_set: 'strangers', resource_set: 'all', resource: 'document', action: 'read' }],
	};
	const related = { relation: 'parent', subject_type: 'folder', subject: 'f' };
	const facts = {
		...acme.facts,
		role_assignments: [],
		instances: [
			...['d1', 'd2'].map((key) => ({ type: 'document', key, tenant: 'acme' })),
			{ type: 'folder', key: 'f', tenant: 'acme' },
		],
		instance_assignments: [
			{ user: 'ann', role: 'viewer', type: 'document', instance: 'd1' },
			{ user: 'ann', role: 'blocked', type: 'folder', instance: 'f' },
		],
		relationships: [{ type: 'document', instance: 'd1', ...related }],
	};
	const sharing = { user_set: 'strangers', resource_set: 'all', resource: 'document', action: 'share' };
	const newer = { ...schema, set_rules: [...schema.set_rules, sharing] };
	const { http } = await serving(t, { schema: newer, facts, in_force: schema });
	const decided = await http.post('/allowed', {
		user: 'ann',
		action: 'read',
		resource: { type: 'document', key: 'd1', tenant: 'acme' },
	});
	t.false(decided.body['allow'], 'ann is a reader: her own role on the document blocks the derivation');
	const filtered = await http.post('/filter', {
		user: 'ann',
		action: 'read',
		resource: { type: 'document', tenant: 'acme' },
	});
	t.is(filtered.status, 200, JSON.stringify(filtered.body));
	t.true(JSON.stringify(filtered.body).includes('d1'), JSON.stringify(filtered.body));
});

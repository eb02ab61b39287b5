import test, { type ExecutionContext } from 'ava';
import type { Model, Relation, ResourceRole } from '../../compiler/model.js';
import { contextualProblems } from '../../src/pdp/decide/contextual-problems.js';
import { unsupportedTuples } from '../../src/pdp/decide/contextual-roles.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { policyWasm, resource, snapshot } from './environment.js';
import { type Served, serve } from './served.js';

/** Checks with contextual facts, over HTTP. */

function role(key: string, permissions: readonly string[], parent: string | null = null): ResourceRole {
	const derivations = parent === null ? [] : [{ relation: 'parent', role: parent, no_direct_roles_on_object: false }];
	return { key, name: key, description: null, permissions, extends: [], derivations, no_direct_roles_on_object: false };
}

function relation(key: string, subject: string): Relation {
	return { key, name: key, description: null, subject };
}

const set = { description: null, parent: null };
const conditions = {
	allOf: [
		{ 'user.resource_roles': { array_contains: 'viewer' } },
		{ not: { 'user.resource_roles': { array_contains: 'blocked' } } },
	],
};

/** Viewers of a folder view its documents, and viewers who are not blocked sign documents. */
const shelves: Model = {
	contextual_facts: true,
	schema: {
		condition_sets: [
			{ ...set, key: 'signers', name: 'Signers', type: 'userset', resource: 'document', selects: { conditions } },
			{ ...set, key: 'all', name: 'All', type: 'resourceset', resource: 'document', selects: { resource: 'document' } },
		],
		set_rules: [{ user_set: 'signers', resource_set: 'all', resource: 'document', action: 'sign' }],
		resources: [
			{
				...resource('document', ['read', 'sign']),
				roles: [role('viewer', ['read'], 'viewer'), role('blocked', [])],
				relations: [relation('parent', 'folder'), relation('neighbour', 'document')],
			},
			{
				...resource('folder', []),
				roles: [role('viewer', [], 'viewer')],
				relations: [relation('parent', 'folder')],
			},
			{
				...resource('note', ['read']),
				roles: [{ ...role('reader', ['read'], 'viewer'), no_direct_roles_on_object: true }],
				relations: [relation('parent', 'folder'), relation('sibling', 'note')],
			},
		],
		roles: [],
	},
	facts: {
		users: ['ann', 'ben'],
		user_attributes: [],
		tenants: [
			{ key: 'acme', attributes: {} },
			{ key: 'beta', attributes: {} },
		],
		role_assignments: [],
		instances: [
			{ type: 'document', key: 'd1', tenant: 'acme' },
			{ type: 'document', key: 'd2', tenant: 'acme' },
			{ type: 'folder', key: 'f1', tenant: 'acme' },
			{ type: 'folder', key: 'f2', tenant: 'acme' },
			{ type: 'folder', key: 'f3', tenant: 'beta' },
			{ type: 'note', key: 'n1', tenant: 'acme' },
		],
		instance_attributes: [],
		instance_assignments: [{ user: 'ben', role: 'viewer', type: 'document', instance: 'd2' }],
		relationships: [{ type: 'document', instance: 'd1', relation: 'parent', subject_type: 'folder', subject: 'f1' }],
	},
};

test.before('build the policy', async () => {
	await policyWasm(shelves);
});

async function serveShelves(t: ExecutionContext, model = shelves): Promise<Served> {
	const served = await serve(t);
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model }) });
	await served.replica.reached(7);
	return served;
}

const reads = { user: 'ann', action: 'read', resource: { type: 'document', key: 'd1', tenant: 'acme' } };
const signs = { ...reads, user: 'ben', action: 'sign', resource: { ...reads.resource, key: 'd2' } };
const viewsFolder = { user: 'ann', role: 'viewer', resource_instance: 'folder:f1' };
const blocksBen = { user: 'ben', role: 'blocked', resource_instance: 'document:d2' };
const facts = { role_assignments: [viewsFolder, blocksBen] };

test('contextual facts can add or remove access, for one check only', async (t) => {
	const { http } = await serveShelves(t);
	const allow = async (body: object) => (await http.post('/allowed', body)).body['allow'];
	t.false(await allow(reads));
	t.true(await allow({ ...reads, contextual_facts: facts }));
	t.false(await allow(reads));
	t.true(await allow(signs));
	t.false(await allow({ ...signs, contextual_facts: facts }));
	t.true(await allow({ ...signs, contextual_facts: null }));
	t.true(await allow({ ...signs, contextual_facts: {} }));
	const bulk = [reads, { ...reads, contextual_facts: facts }, { ...signs, contextual_facts: facts }, signs];
	const { body } = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', bulk);
	t.deepEqual(
		body.allow.map((one) => one.allow),
		[false, true, false, true],
	);
	const inAll = await http.post('/allowed/all-tenants', { ...reads, contextual_facts: facts });
	t.like(inAll.body, { allowed_tenants: [{ tenant: { key: 'acme' }, allow: true }] });
});

const parent = (subject: string, object: string) => ({ subject, relation: 'parent', object });

test('contextual relationships derive roles, in any order', async (t) => {
	const { http } = await serveShelves(t);
	const role_assignments = [{ user: 'ann', role: 'viewer', resource_instance: 'folder:f2' }];
	const relationship_tuples = [parent('folder:f1', 'document:d2'), parent('folder:f2', 'folder:f1')];
	const given = { role_assignments, relationship_tuples };
	for (const [key, contextual_facts, allow] of [
		['d1', given, true],
		['d2', given, true],
		['d2', { role_assignments, relationship_tuples: relationship_tuples.slice(1) }, false],
		['d1', { role_assignments }, false],
		['d1', { relationship_tuples }, false],
	] as const) {
		const { status, body } = await http.post('/allowed', {
			...reads,
			resource: { ...reads.resource, key },
			contextual_facts,
		});
		t.deepEqual([status, body['allow']], [200, allow], JSON.stringify([key, contextual_facts]));
	}
	const { body } = await http.post('/allowed', {
		...reads,
		resource: { ...reads.resource, key: 'd2' },
		contextual_facts: given,
		use_debugger: true,
	});
	const source = { type: 'role_derivation', role: 'folder:f1#viewer', resource: 'folder:f1', relation: 'parent' };
	t.like(body, { debug: { rebac: { allowing_roles: [{ sources: [{ ...source, contextual: true }] }] } } });
});

test('contextual facts are read only from their own field', async (t) => {
	const { http } = await serveShelves(t);
	const holdings = { document: { viewer: { 'document:d1': null } } };
	const user = { key: 'ann', holdings, contextual_facts: facts, attributes: { holdings, contextual_facts: facts } };
	const context = { holdings, contextual_facts: facts, user: { holdings } };
	for (const sent of [{ user }, { context }, { resource: { ...reads.resource, attributes: context } }, { holdings }]) {
		const { status, body } = await http.post('/allowed', { ...reads, ...sent });
		t.deepEqual([status, body['allow']], [200, false], JSON.stringify(sent));
	}
});

test('contextual computed roles, and contextual relationships that derive roles from them, are rejected', (t) => {
	const derivation = { relation: 'parent', resource: 'document', no_direct_roles_on_object: false };
	const data = {
		facts: { users: { ann: {} }, instances: { 'document:d1': 'acme', 'document:d2': 'acme' } },
		contextual_facts: { relations: { document: { parent: 'document' } } },
		schema: {
			actions: { document: {} },
			resource_roles: { document: { viewer: [], reader: [], watcher: [{ ...derivation, role: 'reader' }] } },
			computed_roles: { document: { reader: { allOf: ['viewer', { not: 'blocked' }] } } },
		},
	};
	const facts = FactsIndex.read(Buffer.from(JSON.stringify({ regolith: data })));
	const [d1, d2] = ['document:d1', 'document:d2'] as const;
	const role_assignments = [{ user: 'ann', role: 'reader', resource_instance: d1 }];
	t.like(contextualProblems(facts, { role_assignments }, ['body']), [
		{
			loc: ['body', 'role_assignments', 0, 'role'],
			msg: 'the role `reader` on `document` is computed from other roles and cannot be assigned: assign the other roles',
		},
	]);
	const tuples = [{ subject: d1, relation: 'parent', object: d2 }];
	t.like(unsupportedTuples(facts.schema, tuples, ['body']), [
		{ loc: ['body', 'relationship_tuples', 0, 'relation'], type: 'not_supported' },
	]);
});

const evaluation = {
	subject: { type: 'user', id: 'ann' },
	action: { name: 'read' },
	resource: { type: 'document', id: 'd1' },
};

test('AuthZEN evaluations accept contextual facts', async (t) => {
	const { http } = await serveShelves(t);
	const one = await http.post('/access/v1/evaluation', { ...evaluation, contextual_facts: facts });
	t.deepEqual(one.body, { decision: true });
	t.deepEqual((await http.post('/access/v1/evaluation', evaluation)).body, { decision: false });
	const alone = await http.post('/access/v1/evaluations', { ...evaluation, contextual_facts: facts });
	t.deepEqual(alone.body, { decision: true });
	const wrong = { role_assignments: [{ ...viewsFolder, role: 'owner' }] };
	const evaluations = [{}, { contextual_facts: facts }, { contextual_facts: wrong }, { contextual_facts: [] }];
	const several = await http.post<{ evaluations: object[] }>('/access/v1/evaluations', { ...evaluation, evaluations });
	t.like(several.body.evaluations, [
		{ decision: false },
		{ decision: true },
		{ decision: false, context: { error: { status: 400 } } },
		{ decision: false, context: { error: { status: 400 } } },
	]);
	const inherited = { ...evaluation, contextual_facts: facts, evaluations: [{}, { action: { name: 'sign' } }] };
	t.deepEqual((await http.post('/access/v1/evaluations', inherited)).body, {
		evaluations: [{ decision: true }, { decision: true }],
	});
});

test('listings and searches include contextual facts', async (t) => {
	const { http } = await serveShelves(t);
	const viewed = { roles: ['viewer'], permissions: ['document:read'] };
	const { body } = await http.post('/user-permissions', { user: 'ann', contextual_facts: facts });
	t.like(body, { 'document:d1': viewed, 'folder:f1': { roles: ['viewer'] } });
	t.deepEqual((await http.post('/user-permissions', { user: 'ann' })).body, {});
	for (const [kind, results] of [
		['resource', [{ type: 'document', id: 'd1' }]],
		['action', [{ name: 'read' }, { name: 'sign' }]],
	] as const) {
		const path = `/access/v1/search/${kind}`;
		t.deepEqual((await http.post(path, evaluation)).body, { results: [] }, kind);
		t.deepEqual((await http.post(path, { ...evaluation, contextual_facts: facts })).body, { results }, kind);
	}
});

test('the reasons mark contextual facts, and do not contain the stored roles', async (t) => {
	const { http } = await serveShelves(t);
	const given = { role_assignments: [{ user: 'ben', role: 'viewer', resource_instance: 'document:d1' }] };
	const sources = async (body: object) => {
		const { body: answer } = await http.post('/allowed', { ...body, use_debugger: true });
		t.notRegex(JSON.stringify(answer), /holdings/);
		t.like(answer, { debug: { rebac: { allow: true } } });
		return answer;
	};
	t.like(await sources({ ...reads, user: 'ben', contextual_facts: given }), {
		query: { contextual_facts: given },
		debug: { rebac: { allowing_roles: [{ sources: [{ role: 'document:d1#viewer', contextual: true }] }] } },
	});
	const stored = { role_assignments: [{ user: 'ben', role: 'viewer', resource_instance: 'document:d2' }] };
	const both = await sources({ ...reads, user: 'ben', resource: signs.resource, contextual_facts: stored });
	t.notRegex(JSON.stringify(both['debug']), /contextual/);
});

interface Refusal {
	readonly title: string;
	readonly path?: string;
	readonly body: unknown;
	readonly status?: number;
	readonly detail: RegExp;
}

const checkWith = (given: unknown) => ({ ...reads, contextual_facts: given });
const assigning = (given: object) => checkWith({ role_assignments: [{ ...viewsFolder, ...given }] });
const relating = (tuple: object) => checkWith({ relationship_tuples: [tuple] });
const wanted = { action: 'read', resource: reads.resource, contextual_facts: facts };
const rows = { user: 'ann', action: 'read', resource: 'document', contextual_facts: facts };
const url = { user: 'ann', http_method: 'get', url: 'https://example.com', tenant: 'acme', contextual_facts: facts };

const refusals: readonly Refusal[] = [
	{ title: 'an unknown user', body: assigning({ user: 'eve' }), detail: /role_assignments.*user.*'User'.*'eve'/ },
	{ title: 'an unknown role', body: assigning({ role: 'owner' }), detail: /role_assignments.*role.*'Role'.*'owner'/ },
	{ title: 'a role of a different type', body: assigning({ role: 'blocked' }), detail: /'Role'.*'blocked'/ },
	{ title: 'an inherited name', body: assigning({ role: '__proto__' }), detail: /'Role'.*'__proto__'/ },
	{
		title: 'an unknown instance',
		body: assigning({ resource_instance: 'folder:f9' }),
		detail: /resource_instance.*'ResourceInstance'.*'folder:f9'/,
	},
	{ title: 'an unknown field', body: assigning({ expires_at: '2030-01-01T00:00:00Z' }), detail: /expires_at/ },
	{ title: 'a missing field', body: checkWith({ role_assignments: [{ user: 'ann' }] }), detail: /role/ },
	{ title: 'an unknown kind of fact', body: checkWith({ roles: [] }), detail: /roles/ },
	{
		title: 'too many facts',
		body: checkWith({ role_assignments: Array.from({ length: 21 }, () => viewsFolder) }),
		detail: /at most 20 contextual facts/,
	},
	{
		title: 'too many facts together',
		body: checkWith({
			role_assignments: Array.from({ length: 11 }, () => viewsFolder),
			relationship_tuples: Array.from({ length: 10 }, () => parent('folder:f1', 'document:d1')),
		}),
		detail: /at most 20 contextual facts/,
	},
	{ title: 'an unknown subject', body: relating(parent('folder:f9', 'document:d1')), detail: /subject.*'folder:f9'/ },
	{ title: 'an unknown object', body: relating(parent('folder:f1', 'document:d9')), detail: /object.*'document:d9'/ },
	{
		title: 'an unknown relation',
		body: relating({ ...parent('folder:f1', 'document:d1'), relation: 'owner' }),
		detail: /relationship_tuples.*relation.*'Relation'.*'owner'/,
	},
	{
		title: 'a subject of the wrong type',
		body: relating(parent('document:d2', 'document:d1')),
		detail: /`document:d2`, cannot be the subject of the relation `parent` of `document`/,
	},
	{
		title: 'two tenants',
		body: relating(parent('folder:f3', 'document:d1')),
		detail: /in the tenant `beta`.*in `acme`/,
	},
	{
		title: 'a derivation that an assigned role blocks',
		body: relating(parent('folder:f1', 'note:n1')),
		detail: /relationships by `parent` are not supported.*no_direct_roles_on_object/,
	},
	{ title: 'text', body: checkWith('facts'), detail: /contextual_facts/ },
	{
		title: 'a bulk check',
		path: '/allowed/bulk',
		body: [reads, assigning({ role: 'owner' })],
		detail: /"body",1,"contextual_facts"/,
	},
	{
		title: 'attempts',
		body: { ...checkWith(facts), use_debugger: 'attempts' },
		detail: /attempts are not available/,
	},
	{ title: 'user tenants', path: '/user-tenants', body: { user: 'ann', contextual_facts: facts }, detail: /supported/ },
	{
		title: 'a listing with an unknown role',
		path: '/user-permissions',
		body: { user: 'ann', contextual_facts: { role_assignments: [{ ...viewsFolder, role: 'owner' }] } },
		detail: /'Role'.*'owner'/,
	},
	{ title: 'authorized users', path: '/authorized_users', body: wanted, detail: /supported/ },
	...['/filter', '/filter/keys', '/filter_resources'].map((path) => ({
		title: path,
		path,
		body: rows,
		detail: /not supported here/,
	})),
	{ title: 'a URL', path: '/allowed_url', body: url, detail: /supported/ },
	{
		title: 'a search for a subject',
		path: '/access/v1/search/subject',
		body: { ...evaluation, contextual_facts: facts },
		status: 400,
		detail: /supported/,
	},
	{
		title: 'an evaluation',
		path: '/access/v1/evaluation',
		body: { ...evaluation, contextual_facts: { role_assignments: [{ ...viewsFolder, role: 'owner' }] } },
		status: 400,
		detail: /'Role'.*'owner'/,
	},
];

test('rejects invalid and unsupported contextual facts, and states the reason', async (t) => {
	const { http } = await serveShelves(t);
	for (const { title, path = '/allowed', body, status = 422, detail } of refusals) {
		const answer = await http.post(path, body);
		t.is(answer.status, status, title);
		t.regex(JSON.stringify(answer.body), detail, title);
	}
});

test('rejects contextual facts in environments that do not allow them', async (t) => {
	const { http } = await serveShelves(t, { ...shelves, contextual_facts: false });
	for (const [path, body] of [
		['/allowed', checkWith(facts)],
		['/allowed', checkWith({})],
		['/allowed', { ...checkWith(facts), use_debugger: 'attempts' }],
		['/allowed/bulk', [reads, checkWith(facts)]],
		['/allowed/all-tenants', checkWith(facts)],
		['/user-permissions', { user: 'ann', contextual_facts: facts }],
		['/access/v1/evaluation', { ...evaluation, contextual_facts: facts }],
		['/access/v1/evaluations', { ...evaluation, contextual_facts: facts }],
	] as const) {
		const { status, body: answer } = await http.post(path, body);
		t.is(status, 403, path);
		t.regex(JSON.stringify(answer), /does not allow contextual facts/, path);
	}
	const listed = { ...evaluation, evaluations: [{ contextual_facts: facts }] };
	t.like((await http.post('/access/v1/evaluations', listed)).body, {
		evaluations: [{ decision: false, context: { error: { status: 403 } } }],
	});
	t.is((await http.post('/allowed', reads)).status, 200);
	t.is((await http.post('/allowed', { ...reads, contextual_facts: null })).status, 200);
});

import test, { type ExecutionContext } from 'ava';
import type { Model, ResourceRole } from '../../compiler/model.js';
import { policyWasm, resource, snapshot } from './environment.js';
import { type Served, serve } from './served.js';

/** Checks with contextual facts, over HTTP. */

function role(key: string, permissions: readonly string[], parent: string | null = null): ResourceRole {
	const derivations = parent === null ? [] : [{ relation: 'parent', role: parent, no_direct_roles_on_object: false }];
	return { key, name: key, description: null, permissions, extends: [], derivations, no_direct_roles_on_object: false };
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
				relations: [{ key: 'parent', name: 'Parent', description: null, subject: 'folder' }],
			},
			{ ...resource('folder', []), roles: [role('viewer', [])] },
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

test('contextual facts give and take access, for one check only', async (t) => {
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

test('contextual facts come only from their own field', async (t) => {
	const { http } = await serveShelves(t);
	const holdings = { document: { viewer: { 'document:d1': null } } };
	const user = { key: 'ann', holdings, contextual_facts: facts, attributes: { holdings, contextual_facts: facts } };
	const context = { holdings, contextual_facts: facts, user: { holdings } };
	for (const sent of [{ user }, { context }, { resource: { ...reads.resource, attributes: context } }, { holdings }]) {
		const { status, body } = await http.post('/allowed', { ...reads, ...sent });
		t.deepEqual([status, body['allow']], [200, false], JSON.stringify(sent));
	}
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
const listed = { user: 'ann', contextual_facts: facts };
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
	...['/user-permissions', '/user-tenants'].map((path) => ({ title: path, path, body: listed, detail: /supported/ })),
	{ title: 'authorized users', path: '/authorized_users', body: wanted, detail: /supported/ },
	...['/filter', '/filter/keys', '/filter_resources'].map((path) => ({
		title: path,
		path,
		body: rows,
		detail: /not supported here/,
	})),
	{ title: 'a URL', path: '/allowed_url', body: url, detail: /supported/ },
	...['subject', 'resource', 'action'].map((kind) => ({
		title: `a search for a ${kind}`,
		path: `/access/v1/search/${kind}`,
		body: { ...evaluation, contextual_facts: facts },
		status: 400,
		detail: /supported/,
	})),
	{
		title: 'an evaluation',
		path: '/access/v1/evaluation',
		body: { ...evaluation, contextual_facts: { role_assignments: [{ ...viewsFolder, role: 'owner' }] } },
		status: 400,
		detail: /'Role'.*'owner'/,
	},
];

test('refuses facts that it cannot evaluate, with their place', async (t) => {
	const { http } = await serveShelves(t);
	for (const { title, path = '/allowed', body, status = 422, detail } of refusals) {
		const answer = await http.post(path, body);
		t.is(answer.status, status, title);
		t.regex(JSON.stringify(answer.body), detail, title);
	}
});

test('refuses contextual facts where the environment does not allow them', async (t) => {
	const { http } = await serveShelves(t, { ...shelves, contextual_facts: false });
	for (const [path, body] of [
		['/allowed', checkWith(facts)],
		['/allowed', checkWith({})],
		['/allowed', { ...checkWith(facts), use_debugger: 'attempts' }],
		['/allowed/bulk', [reads, checkWith(facts)]],
		['/allowed/all-tenants', checkWith(facts)],
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

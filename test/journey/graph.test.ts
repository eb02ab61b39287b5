// @rest

import type { Graph } from '../../src/wire/facts/graph.js';
import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { askGraph, furnishGraph } from '../support/graph-world.js';
import { createSecret, newPlace } from '../support/management.js';

/** Connections: facts, schema, and the paths between objects. */

const journey = onEachStore();
const end = '2999-01-01T00:00:00.000Z';
const [plans, budget, eng] = ['instance:folder:plans', 'instance:document:budget', 'instance:group:eng'];

const ann = { id: 'user:ann', kind: 'user', key: 'ann', name: 'Ann Lee' };
const ben = { id: 'user:ben', kind: 'user', key: 'ben', name: 'ben@example.com' };
const acme = { id: 'tenant:acme', kind: 'tenant', key: 'acme', name: 'Acme Inc.' };
const group = { id: eng, kind: 'group', key: 'eng', type: 'group', tenant: 'acme' };
const folder = { id: plans, kind: 'instance', key: 'plans', type: 'folder', tenant: 'acme' };
const document = { id: budget, kind: 'instance', key: 'budget', type: 'document', tenant: 'acme' };

const led = { from: 'user:ann', to: 'tenant:acme', kind: 'role_assignment', role: 'lead', tenant: 'acme' };
const joined = { from: 'user:ann', to: eng, kind: 'group_membership', role: 'member', tenant: 'acme' };
const owned = { from: eng, to: plans, kind: 'relationship', relation: 'editor_group' };
const held = { from: plans, to: budget, kind: 'relationship', relation: 'parent' };
const viewed = {
	from: 'user:ben',
	to: budget,
	kind: 'role_assignment',
	role: 'viewer',
	tenant: 'acme',
	expires_at: end,
};

journey('the graph around an object contains the objects within the depth, and their connections', async (t, place) => {
	await furnishGraph(place, end);
	const revision = await place.revision();
	const near = await askGraph(place, { from: 'user:ann' });
	t.is(near.status, 200);
	t.deepEqual(near.body as unknown, {
		revision,
		nodes: [
			{ ...ann, depth: 0 },
			{ ...acme, depth: 1 },
			{ ...group, depth: 1, more: 1 },
		],
		edges: [led, joined],
		paths: [],
		truncated: false,
	});
	const far = await askGraph(place, { from: budget, depth: '3', mode: 'facts' });
	t.deepEqual(far.body as unknown, {
		revision,
		nodes: [
			{ ...document, depth: 0 },
			{ ...folder, depth: 1 },
			{ ...ben, depth: 1 },
			{ ...group, depth: 2 },
			{ ...ann, depth: 3, more: 1 },
		],
		edges: [held, viewed, owned, joined],
		paths: [],
		truncated: false,
	});
	const some = await askGraph(place, { from: budget, depth: '3', limit: '2' });
	t.deepEqual(some.body as unknown, {
		revision,
		nodes: [
			{ ...document, depth: 0, more: 1 },
			{ ...folder, depth: 1, more: 1 },
		],
		edges: [held],
		paths: [],
		truncated: true,
	});
	const alone = await askGraph(place, { from: 'user:cy' });
	t.deepEqual(alone.body.nodes as unknown, [{ id: 'user:cy', kind: 'user', key: 'cy', depth: 0 }]);
});

journey('the graph does not continue through a tenant, and expanding a node adds its neighbors', async (t, place) => {
	await furnishGraph(place, end);
	const { status } = await place.http.post(`${place.facts}/users/cy/roles`, { role: 'clerk', tenant: 'acme' });
	t.is(status, 200);
	const ids = ({ body }: { readonly body: { readonly nodes: readonly { readonly id: string }[] } }) =>
		body.nodes.map(({ id }) => id);
	const far = await askGraph(place, { from: 'user:ann', depth: '3' });
	t.deepEqual(ids(far), ['user:ann', 'tenant:acme', eng, plans, budget]);
	t.is(far.body.nodes[1]?.more, 1);
	t.false(far.body.truncated);
	t.deepEqual(ids(await askGraph(place, { from: 'tenant:acme' })), ['tenant:acme', 'user:ann', 'user:cy']);

	const expanded = await askGraph(place, { from: 'user:ann', expand: eng });
	t.deepEqual(ids(expanded), ['user:ann', 'tenant:acme', eng, plans]);
	t.deepEqual(expanded.body.edges.map(({ to }) => to).toSorted(), [eng, plans, 'tenant:acme'].toSorted());
	const query = `from=user:ann&expand=${eng}&expand=tenant:acme&expand=${encodeURIComponent(plans)}&expand=${budget}`;
	const { project, key } = place;
	const all = await place.http.get<Graph>(`/v2/projects/${project}/envs/${key}/graph?${query}`);
	t.deepEqual(ids(all), ['user:ann', 'tenant:acme', eng, plans, 'user:cy', budget, 'user:ben']);
	t.deepEqual(
		all.body.nodes.map(({ depth }) => depth),
		[0, 1, 1, 2, 2, 3, 4],
	);
	const unreached = await askGraph(place, { from: 'user:ann', expand: budget });
	t.deepEqual(ids(unreached), ['user:ann', 'tenant:acme', eng], 'the node is not in the graph');
	const schema = await askGraph(place, { from: 'role:clerk', mode: 'schema', expand: 'resource:document' });
	t.true(ids(schema).includes('resource:folder') && !ids(schema).includes('role:folder#editor'));
});

/** Returns the objects as JSON strings in a fixed order. */
const sorted = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).sort();

journey('the schema around a resource contains its roles, relations, derivations and grants', async (t, place) => {
	await furnishGraph(place, end);
	const { body } = await askGraph(place, { from: 'resource:document', mode: 'schema' });
	t.deepEqual(
		sorted(body.nodes),
		sorted([
			{ id: 'resource:document', kind: 'resource', key: 'document', name: 'Document', depth: 0 },
			{ id: 'resource:folder', kind: 'resource', key: 'folder', name: 'Folder', depth: 1, more: 2 },
			{ id: 'role:clerk', kind: 'role', key: 'clerk', name: 'Clerk', depth: 1 },
			{
				id: 'role:document#editor',
				kind: 'resource_role',
				key: 'editor',
				type: 'document',
				name: 'Editor',
				depth: 1,
				more: 1,
			},
			{ id: 'role:lead', kind: 'role', key: 'lead', name: 'Lead', depth: 1 },
			{
				id: 'role:document#viewer',
				kind: 'resource_role',
				key: 'viewer',
				type: 'document',
				name: 'Viewer',
				depth: 1,
			},
		]),
	);
	const [from, write] = ['resource:document', { actions: ['write'], action_count: 1 }];
	const read = { actions: ['read'], action_count: 1 };
	t.deepEqual(
		sorted(body.edges),
		sorted([
			{ from: 'resource:folder', to: from, kind: 'relation', relation: 'parent' },
			{ from, to: 'role:document#viewer', kind: 'resource_role', role: 'viewer', ...read },
			{ from, to: 'role:document#editor', kind: 'resource_role', role: 'editor', ...write },
			{ from: 'role:document#editor', to: 'role:document#viewer', kind: 'extends' },
			{ from: 'role:clerk', to: from, kind: 'grant', role: 'clerk', ...read },
			{ from: 'role:lead', to: from, kind: 'grant', role: 'lead', ...write },
			{ from: 'role:lead', to: 'role:clerk', kind: 'extends' },
		]),
	);
	const role = await askGraph(place, { from: 'role:folder#editor', mode: 'schema' });
	t.deepEqual(role.body.edges.filter(({ kind }) => kind === 'derivation') as unknown, [
		{
			from: 'role:folder#editor',
			to: 'role:document#editor',
			kind: 'derivation',
			relation: 'parent',
			no_direct_roles_on_object: true,
		},
		{ from: 'role:group#member', to: 'role:folder#editor', kind: 'derivation', relation: 'editor_group' },
	]);
	const small = await askGraph(place, { from: 'role:guest', mode: 'schema', depth: '3' });
	t.is(small.body.nodes.length, 1);
	const cut = await askGraph(place, { from: 'resource:document', mode: 'schema', limit: '3' });
	t.deepEqual([cut.body.nodes.length, cut.body.truncated], [3, true]);
});

journey('paths begin at users and instances, and end at instances and roles on them', async (t, place) => {
	const { http, facts } = place;
	await furnishGraph(place, end);
	const step = { ...owned, role: 'editor', via: 'member' };
	const last = { ...held, role: 'editor', via: 'editor', no_direct_roles_on_object: true };
	const way = { from: 'user:ann', mode: 'path', to: `${budget}#editor` };
	const byGroup = await askGraph(place, way);
	t.deepEqual(byGroup.body as unknown, {
		revision: await place.revision(),
		nodes: [
			{ ...ann, depth: 0 },
			{ ...group, depth: 1 },
			{ ...folder, depth: 2 },
			{ ...document, depth: 3 },
		],
		edges: [joined, step, last],
		paths: [[0, 1, 2]],
		truncated: false,
	});
	const any = await askGraph(place, { ...way, to: budget });
	const grant = {
		from: 'tenant:acme',
		to: budget,
		kind: 'grant',
		role: 'lead',
		actions: ['read', 'write'],
		action_count: 2,
	};
	t.deepEqual(any.body.edges as unknown, [led, grant, joined, step, last]);
	t.deepEqual(any.body.paths, [
		[0, 1],
		[2, 3, 4],
	]);
	const few = await askGraph(place, { ...way, to: budget, limit: '3' });
	t.deepEqual([few.body.paths, few.body.truncated], [[[0, 1]], true], 'the longer path exceeds the limit');

	const related = await askGraph(place, { from: eng, mode: 'path', to: budget });
	t.deepEqual(related.body.edges as unknown, [owned, held]);
	const derived = await askGraph(place, { from: eng, mode: 'path', to: `${budget}#editor` });
	t.deepEqual(derived.body.edges as unknown, [step, last]);
	const back = await askGraph(place, { from: budget, mode: 'path', to: eng });
	t.deepEqual(back.body.nodes as unknown, [{ ...document, depth: 0 }]);
	t.deepEqual([back.body.paths, back.body.edges, back.body.truncated], [[], [], false]);
	for (const [from, to] of [
		['user:ann', `${budget}#viewer`],
		['user:ben', plans],
		['user:cy', budget],
	] as const) {
		t.deepEqual((await askGraph(place, { from, to, mode: 'path' })).body.paths, [], `${from} ${to}`);
	}
	const direct = await askGraph(place, { from: 'user:ben', to: budget, mode: 'path' });
	t.deepEqual([direct.body.edges, direct.body.paths] as unknown, [[viewed], [[0]]]);

	// A role on the document itself blocks the derivations on it.
	await http.post(`${facts}/users/ann/roles`, { role: 'viewer', resource_instance: 'document:budget' });
	t.deepEqual((await askGraph(place, way)).body.paths, []);
	t.deepEqual((await askGraph(place, { ...way, to: `${budget}#viewer` })).body.paths, [[0]]);
});

journey('expired grants are not shown', async (t, place) => {
	await furnishGraph(place, end);
	const { store, id } = place;
	for (const table of ['role_assignments', 'relationship_tuples'])
		await store.database
			.knex(table)
			.where({ environment_id: id })
			.update({ expires_at: new Date(0) });
	for (const from of ['user:ann', 'user:ben', 'tenant:acme', budget, plans, eng]) {
		const { body } = await askGraph(place, { from, depth: '3' });
		t.deepEqual([body.nodes.length, body.nodes[0]?.more, body.edges], [1, undefined, []], from);
	}
	t.deepEqual((await askGraph(place, { from: 'user:ann', to: budget, mode: 'path' })).body.paths, []);
	t.deepEqual((await askGraph(place, { from: eng, to: budget, mode: 'path' })).body.paths, []);
});

const malformed: readonly (readonly [query: Readonly<Record<string, string>>, place: string])[] = [
	[{}, 'from'],
	[{ from: 'ann' }, 'from'],
	[{ from: 'group:eng' }, 'from'],
	[{ from: 'resource:document' }, 'from'],
	[{ from: 'user:ann', mode: 'schema' }, 'from'],
	[{ from: 'tenant:acme', mode: 'path', to: budget }, 'from'],
	[{ from: `${budget}#viewer`, mode: 'path', to: plans }, 'from'],
	[{ from: 'instance:document:budget:more' }, 'from'],
	[{ from: `user:${'x'.repeat(513)}` }, 'from'],
	[{ from: 'user:ann', to: budget }, 'to'],
	[{ from: 'user:ann', mode: 'path' }, 'to'],
	[{ from: 'user:ann', mode: 'path', to: 'user:ben' }, 'to'],
	[{ from: 'user:ann', mode: 'path', to: `${budget}#` }, 'to'],
	[{ from: budget, mode: 'path', to: `${budget}#viewer` }, 'to'],
	[{ from: 'user:ann', depth: '4' }, 'depth'],
	[{ from: 'user:ann', limit: '201' }, 'limit'],
	[{ from: 'user:ann', mode: 'all' }, 'mode'],
	[{ from: 'user:ann', expand: 'ann' }, 'expand.0'],
	[{ from: 'user:ann', expand: 'resource:document' }, 'expand'],
	[{ from: 'user:ann', expand: `${budget}#viewer` }, 'expand'],
	[{ from: 'user:ann', mode: 'path', to: budget, expand: eng }, 'expand'],
];

const missing: readonly (readonly [query: Readonly<Record<string, string>>, named: string])[] = [
	[{ from: 'user:dan' }, 'dan'],
	[{ from: 'tenant:initech' }, 'initech'],
	[{ from: 'user:ann', expand: 'tenant:initech' }, 'initech'],
	[{ from: 'role:clerk', mode: 'schema', expand: 'resource:paper' }, 'paper'],
	[{ from: 'instance:document:plan' }, 'document:plan'],
	[{ from: 'instance:paper:budget' }, 'paper:budget'],
	[{ from: 'resource:paper', mode: 'schema' }, 'paper'],
	[{ from: 'role:viewer', mode: 'schema' }, 'viewer'],
	[{ from: 'role:document#owner', mode: 'schema' }, 'document#owner'],
	[{ from: 'user:ann', mode: 'path', to: 'instance:document:plan' }, 'document:plan'],
	[{ from: 'user:ann', mode: 'path', to: `${budget}#owner` }, 'owner'],
	[{ from: 'instance:group:ops', mode: 'path', to: budget }, 'group:ops'],
];

journey('invalid references are rejected with the field’s name, and missing objects give 404', async (t, place) => {
	await furnishGraph(place, end);
	for (const [query, at] of malformed) {
		const answer = await askGraph(place, query);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [`query.${at}`], JSON.stringify(query));
	}
	for (const [query, named] of missing) fails(t, await askGraph(place, query), 404, named);
	// Ids are not accepted as names here, because a different object may use the id as its key.
	const { body } = await place.http.get(`${place.facts}/users/ann`);
	fails(t, await askGraph(place, { from: `user:${body['id']}` }), 404);
});

/** Keys that the API rejects, and some keys that it accepts. The graph must treat all of them as data. */
const hostile = [
	'a:b#c',
	`'; drop table users; --`,
	'"quoted" \\ %_*',
	'user:ann',
	'00000000-0000-4000-8000-000000000000',
	'auth0|a+b@example.com',
	'Ä\n漢字',
];

journey('keys are treated as data, whatever they contain', async (t, place) => {
	const { http, schema, facts, store, id: environment_id } = place;
	await http.post(`${schema}/resources`, {
		key: 'user',
		name: 'User',
		actions: {},
		roles: { owner: { name: 'Owner' } },
	});
	await http.post(`${facts}/resource_instances`, { key: 'ann', resource: 'user', tenant: 'default' });
	await http.post(`${facts}/users`, { key: 'ann' });
	for (const [index, key] of hostile.entries()) {
		await http.post(`${facts}/users`, { key: `plain-${index}` });
		const held = { user: `plain-${index}`, role: 'owner', resource_instance: 'user:ann' };
		t.is((await http.post(`${facts}/role_assignments`, held)).status, 200);
		await store.database
			.knex('users')
			.where({ environment_id, key: `plain-${index}` })
			.update({ key });
	}
	for (const key of hostile) {
		const { status, body } = await askGraph(place, { from: `user:${key}` });
		t.is(status, 200, key);
		t.deepEqual(
			body.nodes.map((node) => [node.id, node.key]),
			[
				[`user:${key}`, key],
				['instance:user:ann', 'ann'],
			],
		);
		const way = await askGraph(place, { from: `user:${key}`, mode: 'path', to: 'instance:user:ann#owner' });
		t.deepEqual(way.body.paths, [[0]], key);
	}
	t.is((await askGraph(place, { from: 'user:ann' })).body.nodes.length, 1, 'not the instance with this name');
	t.is((await askGraph(place, { from: 'instance:user:ann' })).body.nodes.length, hostile.length + 1);
});

journey(
	'every key with access to the environment can read its graph, which shows no other environment',
	async (t, place, management) => {
		const { url, store, organization_id, project_id, id: environment_id } = place;
		await furnishGraph(place, end);
		const secret = await createSecret(store, organization_id, { project_id, environment_id, access_level: 'read' });
		t.is((await askGraph({ ...place, http: client(url, secret) }, { from: 'user:ann' })).status, 200);
		const other = await newPlace(management, management.project);
		await other.http.post(`${other.facts}/users`, { key: 'ann' });
		t.is((await askGraph(other, { from: 'user:ann', depth: '3' })).body.nodes.length, 1);
		fails(t, await askGraph(other, { from: 'user:ben' }), 404);
		fails(t, await askGraph({ ...place, http: other.http }, { from: 'user:ann' }), 403);
		// A caller without access learns nothing about problems in the request.
		fails(t, await askGraph({ ...place, http: other.http }, {}), 403);
	},
);

// @both

import type { ExecutionContext } from 'ava';
import fc, { type GeneratorValue } from 'fast-check';
import type { EffectiveRoles } from '../../src/wire/facts/effective-role.js';
import type { Graph } from '../../src/wire/facts/graph.js';
import { onEachStore } from '../support/each-store.js';
import type { Place } from '../support/management.js';
import { draws } from '../support/tier.js';
import {
	connections,
	distances,
	effectiveRoleTexts,
	fewestFromUser,
	fewestRelationships,
	fewestToRole,
	type GraphWorld,
	neighboursBeyond,
	relations,
	roles,
	stateText,
	typePart,
} from './graph-oracle.js';

/** In any environment, graphs and effective roles agree with the simple model. */

const journey = onEachStore();
const runs = draws(12);

const users = ['ann', 'auth0|b@example.com', '00000000-0000-4000-8000-000000000000'] as const;
const tenants = ['t', 'u'] as const;
const names = [
	'team:a',
	'team:b',
	'folder:a',
	'folder:b',
	'folder:c',
	'document:a',
	'document:b',
	'document:c',
] as const;

type Draw = <T>(arbitrary: fc.Arbitrary<T>) => T;

function drawing(random: GeneratorValue): Draw {
	return (arbitrary) => random((given: typeof arbitrary) => given, arbitrary);
}

/** Draws a world with few instances and many connections. */
function drawWorld(draw: Draw): GraphWorld {
	// Draws at least half the maximum, because few roles are derived in a world with few connections.
	const some = <T>(list: readonly T[], limit = list.length) => {
		const maxLength = Math.min(limit, list.length);
		return draw(fc.shuffledSubarray([...list], { minLength: Math.ceil(maxLength / 2), maxLength }));
	};
	const allDerivations = Object.entries(relations).flatMap(([type, own]) =>
		Object.entries(own).flatMap(([relation, subject]) =>
			(roles[type] ?? []).flatMap((role) => (roles[subject] ?? []).map((source) => ({ type, role, relation, source }))),
		),
	);
	// Most instances are in the same tenant, because related instances must share a tenant.
	const instances = Object.fromEntries(names.map((name) => [name, draw(fc.constantFrom('t', 't', 't', 'u'))]));
	const allTuples = names.flatMap((object) =>
		Object.entries(relations[typePart(object)] ?? {}).flatMap(([relation, type]) =>
			names
				.filter((subject) => typePart(subject) === type && instances[subject] === instances[object])
				.map((subject) => ({ subject, relation, object })),
		),
	);
	const allAssignments = users.flatMap((user) => [
		...tenants.flatMap((tenant) => ['admin', 'guest'].map((role) => ({ user, role, tenant }))),
		...names.flatMap((name) => (roles[typePart(name)] ?? []).map((role) => ({ user, role, resource_instance: name }))),
	]);
	return {
		derivations: some(allDerivations).map((one) => ({ ...one, stops: draw(fc.integer({ min: 0, max: 3 })) === 0 })),
		tenantRoles: { admin: ['read', 'write'], guest: [] },
		instances,
		groups: some(['team:a', 'team:b', 'folder:a']),
		tuples: some(allTuples, 16),
		assignments: some(allAssignments, 16),
	};
}

/** Returns the world as a document for the import. */
function asDocument(world: GraphWorld) {
	const described = (name: string) => ({ name });
	const resources = Object.entries(roles).map(([type, own]) => {
		const withRelations = Object.entries(relations[type] ?? {}).map(([key, subject_resource]) => [
			key,
			{ name: key, subject_resource },
		]);
		const withRoles = own.map((role) => {
			const derived = world.derivations.filter((one) => one.type === type && one.role === role);
			const users_with_role = derived.map(({ relation, source, stops }) => ({
				role: source,
				on_resource: relations[type]?.[relation],
				linked_by_relation: relation,
				...(stops ? { when: { no_direct_roles_on_object: true } } : {}),
			}));
			return [role, { name: role, ...(derived.length > 0 ? { granted_to: { users_with_role } } : {}) }];
		});
		return [
			type,
			{
				name: type,
				actions: { read: described('Read'), write: described('Write') },
				relations: Object.fromEntries(withRelations),
				roles: Object.fromEntries(withRoles),
			},
		];
	});
	const tenantRoles = Object.entries(world.tenantRoles).map(([role, actions]) => [
		role,
		{ name: role, permissions: actions.map((action) => `document:${action}`) },
	]);
	return {
		format: 'regolith-environment',
		version: 1,
		schema: { resources: Object.fromEntries(resources), roles: Object.fromEntries(tenantRoles) },
		facts: {
			tenants: Object.fromEntries(tenants.map((key) => [key, described(key)])),
			users: Object.fromEntries(users.map((key) => [key, {}])),
			resource_instances: Object.fromEntries(
				Object.entries(world.instances).map(([name, tenant]) => [name, { tenant }]),
			),
			groups: Object.fromEntries(world.groups.map((name) => [name, {}])),
			relationship_tuples: world.tuples,
			role_assignments: world.assignments,
		},
	};
}

async function become({ http, project, key }: Place, world: GraphWorld): Promise<void> {
	const path = `/v2/projects/${project}/envs/${key}/import?conflict_strategy=replace`;
	const { status, body } = await http.post(path, asDocument(world));
	if (status !== 200) throw new Error(JSON.stringify(body));
}

async function ask(
	{ http, project, key }: Place,
	query: Readonly<Record<string, string>>,
	expand: readonly string[] = [],
): Promise<Graph> {
	const search = new URLSearchParams(query);
	for (const id of expand) search.append('expand', id);
	const { status, body } = await http.get<Graph>(`/v2/projects/${project}/envs/${key}/graph?${search}`);
	if (status !== 200) throw new Error(JSON.stringify(body));
	return body;
}

/** Formats an edge in the same way as a connection in the model. */
function edgeText({ from, to, kind, relation, role, tenant }: Graph['edges'][number]): string {
	return [from, kind, ...(relation === undefined ? [role, tenant] : [relation]), to].join(' ');
}

/** Asserts that every edge between the nodes is present, and that each node states its number of further neighbors. */
function checkNeighbourhood(t: ExecutionContext, world: GraphWorld, { nodes, edges, paths }: Graph): void {
	const shown = new Set(nodes.map(({ id }) => id));
	const between = connections(world).filter(({ from, to }) => shown.has(from) && shown.has(to));
	t.deepEqual(edges.map(edgeText).sort(), between.map(({ text }) => text).sort());
	for (const { id, more = 0 } of nodes) t.is(more, neighboursBeyond(world, id, shown), id);
	t.deepEqual(paths, []);
}

const startIds = [
	...users.map((key) => `user:${key}`),
	...tenants.map((key) => `tenant:${key}`),
	...names.map((name) => `instance:${name}`),
];

journey('a neighborhood is the same as in the simple model, or a part of it at the size limit', async (t, place) => {
	const property = fc.asyncProperty(fc.gen(), async (random) => {
		const draw = drawing(random);
		const world = drawWorld(draw);
		await become(place, world);
		for (const from of startIds) {
			const depth = draw(fc.integer({ min: 1, max: 3 }));
			const limit = draw(fc.integer({ min: 1, max: 20 }));
			const graph = await ask(place, { from, depth: String(depth), limit: String(limit) });
			checkNeighbourhood(t, world, graph);
			const whole = distances(world, from, depth);
			t.is(graph.nodes.length, Math.min(limit, whole.size));
			t.is(graph.truncated, graph.nodes.length < whole.size);
			for (const node of graph.nodes) t.is(node.depth, whole.get(node.id) ?? -1, node.id);
			t.is(graph.nodes[0]?.id ?? '', from);
			const expand = draw(fc.subarray([...whole.keys()], { maxLength: Math.min(3, whole.size) }));
			const grown = await ask(place, { from, depth: String(depth), limit: '20' }, expand);
			checkNeighbourhood(t, world, grown);
			const expected = new Set([...whole.keys(), ...expand.flatMap((id) => [...distances(world, id, 1).keys()])]);
			t.deepEqual(grown.nodes.map(({ id }) => id).sort(), [...expected].sort());
		}
	});
	await fc.assert(property, { numRuns: runs });
});

/** Asserts that the paths are distinct, connected and sorted by length, and that they have these ends and this role. */
function checkWays(t: ExecutionContext, { nodes, edges, paths }: Graph, from: string, to: string, role?: string): void {
	const ids = new Set(nodes.map(({ id }) => id));
	t.is(new Set(paths.map((path) => path.join())).size, paths.length, 'each once');
	for (const path of paths) {
		const way = path.map((place) => edges[place]);
		t.is(way[0]?.from ?? '', from);
		t.is(way.at(-1)?.to ?? '', to);
		if (role !== undefined) t.is(way.at(-1)?.role ?? '', role);
		for (const [index, edge] of way.entries()) {
			t.true(ids.has(edge?.from ?? '') && ids.has(edge?.to ?? ''));
			const before = way[index - 1];
			if (before === undefined) continue;
			t.is(edge?.from ?? '', before.to);
			if (edge?.via !== undefined) t.is(edge.via, before.role ?? '');
		}
	}
	const lengths = paths.map((path) => path.length);
	t.deepEqual(
		lengths,
		[...lengths].sort((left, right) => left - right),
	);
}

/** Returns the number of edges in the shortest path; `null` if there is no path. */
function shortest({ paths }: Graph): number | null {
	return paths[0]?.length ?? null;
}

journey('the shortest path has the same length as in the simple model, or exists in neither', async (t, place) => {
	const property = fc.asyncProperty(fc.gen(), async (random) => {
		const draw = drawing(random);
		const world = drawWorld(draw);
		await become(place, world);
		for (const user of users) {
			const object = draw(fc.constantFrom(...names));
			const to = `instance:${object}`;
			const goals = (roles[typePart(object)] ?? []).map((role) => stateText(object, role));
			const any = await ask(place, { mode: 'path', from: `user:${user}`, to });
			checkWays(t, any, `user:${user}`, to);
			const byRoles = fewestFromUser(world, user, goals);
			const inTenant = world.assignments.some(
				({ user: holder, role, tenant }) =>
					holder === user && tenant === world.instances[object] && (world.tenantRoles[role] ?? []).length > 0,
			);
			const fewest = [byRoles, inTenant && typePart(object) === 'document' ? 2 : null].filter((one) => one !== null);
			t.is(shortest(any), fewest.length === 0 ? null : Math.min(...fewest), `${user} to ${object}`);
			const role = draw(fc.constantFrom(...(roles[typePart(object)] ?? [])));
			const one = await ask(place, { mode: 'path', from: `user:${user}`, to: `${to}#${role}` });
			checkWays(t, one, `user:${user}`, to, role);
			t.is(shortest(one), fewestFromUser(world, user, [stateText(object, role)]), `${user} to ${object}#${role}`);
		}
		for (const subject of names) {
			const object = draw(fc.constantFrom(...names.filter((name) => name !== subject)));
			const [from, to] = [`instance:${subject}`, `instance:${object}`];
			const any = await ask(place, { mode: 'path', from, to });
			checkWays(t, any, from, to);
			t.is(shortest(any), fewestRelationships(world, subject, object), `${subject} to ${object}`);
			const role = draw(fc.constantFrom(...(roles[typePart(object)] ?? [])));
			const one = await ask(place, { mode: 'path', from, to: `${to}#${role}` });
			checkWays(t, one, from, to, role);
			t.is(shortest(one), fewestToRole(world, subject, stateText(object, role)), `${subject} to ${object}#${role}`);
		}
	});
	await fc.assert(property, { numRuns: runs });
});

/** Formats an effective role in the same way as the model. */
function roleText({ role, tenant, resource_instance, source, through }: EffectiveRoles['data'][number]): string {
	return `${source} ${resource_instance ?? tenant}#${role} ${through.length}`;
}

journey('effective roles are the same as in the simple model, with the shortest paths', async (t, place) => {
	const property = fc.asyncProperty(fc.gen(), async (random) => {
		const draw = drawing(random);
		const world = drawWorld(draw);
		await become(place, world);
		for (const user of users) {
			const path = `${place.facts}/users/${user}/effective_roles`;
			const { body } = await place.http.get<EffectiveRoles>(path);
			t.deepEqual(body.data.map(roleText).sort(), effectiveRoleTexts(world, user));
			t.false(body.truncated);
			const ofTenant = await place.http.get<EffectiveRoles>(`${path}?tenant=u`);
			t.deepEqual(
				ofTenant.body.data.map(roleText).sort(),
				body.data
					.filter(({ tenant }) => tenant === 'u')
					.map(roleText)
					.sort(),
			);
			const limit = draw(fc.integer({ min: 1, max: 12 }));
			const some = await place.http.get<EffectiveRoles>(`${path}?limit=${limit}`);
			t.deepEqual(some.body.data, body.data.slice(0, limit));
			t.is(some.body.truncated, body.data.length > limit);
		}
	});
	await fc.assert(property, { numRuns: runs });
});

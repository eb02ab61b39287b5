// @alone

import test, { type ExecutionContext } from 'ava';
import type { Knex } from 'knex';
import { effectiveRoles } from '../../src/domain/graph/effective-roles.js';
import { findGraph } from '../../src/domain/graph/find-graph.js';
import { edgesAround } from '../../src/store/model/fact-edges.js';
import { rolesAssignedIn, rolesHeld } from '../../src/store/model/role-steps.js';
import { Tenant } from '../../src/store/table/tenant.js';
import { User } from '../../src/store/table/user.js';
import type { ReadingUnit } from '../../src/store/unit/reading-unit.js';
import { GraphQuery } from '../../src/wire/facts/graph.js';
import { onEachStore } from '../support/each-store.js';
import { type Place, scopeIn } from '../support/management.js';
import { rowsRead } from '../support/rows-read.js';

/**
 * Queries for graphs around nodes with many neighbors read few rows, with and without statistics. The graphs still
 * include every edge between their nodes.
 */

const journey = onEachStore({ declare: test.serial, embedded: 'alone' });
const many = 20_000;
/** Maximum rows read per table and graph, far fewer than the neighbors of a busy node. */
const mostRead = 4_000;

/**
 * Creates nodes with many neighbors:
 * - `busy` reads `document:d<n>`, `document:shared` and `folder:link`, and is `admin` in each tenant `t<n>`.
 * - `user-<n>` reads `document:shared`; `user-7` is `admin` in `t0`, where all instances are.
 * - `team:x<n>` owns `document:shared`, `team:all` owns each document; `user-9` is a member of `team:all`, and `user-8`
 *   of `team:x19000`.
 * - `folder:all` is a parent of each document, and `folder:link` is a parent of `document:shared`.
 */
async function populate({ store, id }: Place): Promise<void> {
	await store.database.knex.transaction(async (transaction) => {
		// Disables foreign key checks. Planned for empty tables, they would read all rows for each new row.
		await transaction.raw('set local session_replication_role = replica');
		await insertAll(transaction, id);
	});
}

async function insertAll(knex: Knex, id: string): Promise<void> {
	const insert = (table: string, columns: string, values: string) =>
		knex.raw(
			`insert into ${table} (environment_id, id, created_at, ${columns}) select :id::uuid, gen_random_uuid(), now(), ${values}`,
			{ id, many },
		);
	const find = (table: string, key: string, type?: string): string => {
		const narrowed = type === undefined ? '' : `and resource_id = ${find('resources', type)}`;
		return `(select id from ${table} where environment_id = '${id}' and key = '${key}' ${narrowed})`;
	};
	const each = 'from generate_series(1, :many) as n';
	const all = (table: string, condition: string) =>
		`from ${table} as found where environment_id = '${id}' and ${condition}`;
	for (const key of ['team', 'folder', 'document']) {
		await insert('resources', 'key, name, updated_at', `'${key}', '', now()`);
		const role = `'${key === 'team' ? 'member' : 'reader'}', '', now(), ${find('resources', key)}`;
		await insert('roles', 'key, name, updated_at, resource_id', role);
	}
	await insert('roles', 'key, name, updated_at', `'admin', '', now()`);
	for (const [relation, subject] of [
		['parent', 'folder'],
		['owner', 'team'],
	] as const) {
		const columns = 'key, name, updated_at, resource_id, subject_resource_id';
		const ends = `${find('resources', 'document')}, ${find('resources', subject)}`;
		await insert('relations', columns, `'${relation}', '', now(), ${ends}`);
		const source = find('roles', subject === 'team' ? 'member' : 'reader', subject);
		const derived = `${find('roles', 'reader', 'document')}, ${source}, ${find('relations', relation)}, false`;
		await insert('role_derivations', 'role_id, source_role_id, relation_id, no_direct_roles_on_object', derived);
	}
	await insert('users', 'key, attributes, updated_at', `'user-' || n, '{}', now() ${each}`);
	await insert('users', 'key, attributes, updated_at', `'busy', '{}', now()`);
	await insert('tenants', 'key, name, last_action_at, updated_at', `'t' || n, '', now(), now() ${each}`);
	await insert('tenants', 'key, name, last_action_at, updated_at', `'t0', '', now(), now()`);
	const instance = (type: string, key: string) => {
		const place = `${find('resources', type)}, ${find('tenants', 't0')}`;
		return insert(
			'resource_instances',
			'attributes, updated_at, resource_id, tenant_id, key',
			`'{}', now(), ${place}, ${key}`,
		);
	};
	await instance('document', `'d' || n ${each}`);
	await instance('team', `'x' || n ${each}`);
	for (const [type, key] of [
		['document', 'shared'],
		['team', 'all'],
		['folder', 'all'],
		['folder', 'link'],
	] as const) {
		await instance(type, `'${key}'`);
	}
	const relate = (relation: string, subject: string, object: string, from = '') =>
		insert(
			'relationship_tuples',
			'updated_at, relation_id, tenant_id, subject_id, object_id',
			`now(), ${find('relations', relation)}, ${find('tenants', 't0')}, ${subject}, ${object} ${from}`,
		);
	const documents = all('resource_instances', `resource_id = ${find('resources', 'document')}`);
	const shared = find('resource_instances', 'shared', 'document');
	await relate('parent', find('resource_instances', 'all', 'folder'), 'found.id', documents);
	await relate('parent', find('resource_instances', 'link', 'folder'), shared);
	await relate('owner', find('resource_instances', 'all', 'team'), 'found.id', documents);
	await relate(
		'owner',
		'found.id',
		shared,
		all('resource_instances', `resource_id = ${find('resources', 'team')} and key <> 'all'`),
	);
	const assign = (user: string, role: string, tenant: string, instance_id: string, from = '') =>
		insert(
			'role_assignments',
			'user_id, role_id, tenant_id, resource_instance_id',
			`${user}, ${role}, ${tenant}, ${instance_id} ${from}`,
		);
	const [busy, t0] = [find('users', 'busy'), find('tenants', 't0')];
	const reader = find('roles', 'reader', 'document');
	await assign(busy, reader, t0, 'found.id', documents);
	await assign(busy, find('roles', 'reader', 'folder'), t0, find('resource_instances', 'link', 'folder'));
	await assign(busy, find('roles', 'admin'), 'found.id', 'null', all('tenants', `key like 't%' and key <> 't0'`));
	await assign('found.id', reader, t0, shared, all('users', `key <> 'busy'`));
	await assign(find('users', 'user-7'), find('roles', 'admin'), t0, 'null');
	for (const [user, team] of [
		['user-9', 'all'],
		['user-8', 'x19000'],
	] as const) {
		const member = find('roles', 'member', 'team');
		await assign(find('users', user), member, t0, find('resource_instances', team, 'team'));
	}
}

interface Case {
	readonly title: string;
	readonly query: Readonly<Record<string, string>>;
	readonly nodes?: number;
	readonly truncated: boolean;
	/** Number of hidden neighbors of the start node. */
	readonly more?: number;
	/** Required edges, as `<from> <to>`. */
	readonly edges?: readonly string[];
	/** Length of the shortest path, and number of paths. */
	readonly shortest?: number;
	readonly ways?: number;
}

const [busy, shared] = ['user:busy', 'instance:document:shared'];

const cases: readonly Case[] = [
	{ title: 'a user with very many roles', query: { from: busy }, nodes: 60, truncated: true, more: 1000 },
	{
		title: 'an instance with very many users and subjects',
		query: { from: shared },
		nodes: 60,
		truncated: true,
		more: 2000,
	},
	{
		title: 'an instance with very many objects',
		query: { from: 'instance:folder:all', limit: '200' },
		nodes: 200,
		truncated: true,
		more: 1000,
	},
	{
		title: 'a tenant with few roles, and very many on its instances',
		query: { from: 'tenant:t0' },
		nodes: 2,
		truncated: false,
		edges: ['user:user-7 tenant:t0'],
	},
	{
		title: 'distant nodes',
		query: { from: 'tenant:t0', depth: '3', limit: '200' },
		nodes: 200,
		truncated: true,
		edges: [`user:user-7 ${shared}`],
	},
	{
		title: 'two busy nodes and the edge between them',
		query: { from: 'instance:folder:link' },
		nodes: 3,
		truncated: false,
		edges: [`instance:folder:link ${shared}`, `${busy} instance:folder:link`, `${busy} ${shared}`],
	},
	{
		title: 'a path from a user with very many roles',
		query: { mode: 'path', from: busy, to: 'instance:document:d19999' },
		truncated: false,
		shortest: 1,
	},
	{
		title: 'a path to an instance with very many subjects',
		query: { mode: 'path', from: 'user:user-8', to: `${shared}#reader` },
		truncated: false,
		shortest: 1,
		ways: 2,
	},
	{
		title: 'a path between two busy nodes',
		query: { mode: 'path', from: 'instance:team:all', to: `${shared}#reader` },
		truncated: true,
		shortest: 1,
	},
	{
		title: 'a path that does not exist',
		query: { mode: 'path', from: 'user:user-10', to: 'instance:document:d19999' },
		truncated: false,
	},
];

/** Users, each with the listed role count (at most a hundred). `truncated` is true if the user has more roles. */
const holders: readonly (readonly [user: string, roles: number, truncated: boolean])[] = [
	['busy', 100, true],
	['user-9', 100, true],
	['user-8', 3, false],
];

/** Users, each with the number of their roles in `t0` and on its instances (at most a hundred), and in `t0` only. */
const inBusyTenant: readonly (readonly [user: string, held: number, ofTenant: number])[] = [
	['busy', 100, 0],
	['user-7', 2, 1],
	['user-10', 1, 0],
];

/** Runs a read in a single snapshot, and asserts that it reads few rows. */
async function readingFew<T>(
	t: ExecutionContext,
	{ store, id }: Place,
	title: string,
	work: (unit: ReadingUnit) => Promise<T>,
): Promise<T> {
	return store.snapshot(id, async (unit) => {
		const tables = ['role_assignments', 'relationship_tuples'];
		const count = () => Promise.all(tables.map((table) => rowsRead(unit, table)));
		// This may include reads by earlier transactions on the connection.
		const before = await count();
		const value = await work(unit);
		for (const [index, read] of (await count()).entries()) {
			const own = read - (before[index] ?? 0);
			t.true(own <= mostRead, `${title}: ${own} rows of ${tables[index]} were read`);
		}
		return value;
	});
}

/** Asserts that rows are sorted by id, and therefore by age, with any query plan. */
function assertSorted(t: ExecutionContext, rows: readonly { readonly id: string }[], title: string): void {
	const ids = rows.map((row) => row.id);
	t.true(ids.length > 1, title);
	t.deepEqual(ids, ids.toSorted(), title);
}

/** Asserts that every graph and every list of roles is complete, and was read from few rows. */
async function assertFewRead(t: ExecutionContext, place: Place): Promise<void> {
	for (const { title, query, ...expected } of cases) {
		const graph = await readingFew(t, place, title, (unit) => findGraph(unit, GraphQuery.parse(query)));
		if (expected.nodes !== undefined) t.is(graph.nodes.length, expected.nodes, title);
		if (expected.more !== undefined) t.is(graph.nodes[0]?.more ?? 0, expected.more, title);
		t.is(graph.truncated, expected.truncated, title);
		const edges = graph.edges.map(({ from, to }) => `${from} ${to}`);
		for (const edge of expected.edges ?? []) t.true(edges.includes(edge), `${title}: ${edge}`);
		if (query['mode'] === 'path') t.is(graph.paths[0]?.length, expected.shortest, title);
		if (expected.ways !== undefined) t.is(graph.paths.length, expected.ways, title);
	}
	for (const [user, roles, truncated] of holders) {
		const { id } = await place.store.reading(scopeIn(place)).find(User, user);
		const wanted = { user_id: id, tenant_id: null, limit: 100 };
		const found = await readingFew(t, place, user, (unit) => effectiveRoles(unit, wanted));
		t.is(found.data.length, roles, user);
		t.is(found.truncated, truncated, user);
		const held = await readingFew(t, place, user, (unit) => rolesHeld(unit, id, null, 1_000));
		assertSorted(t, held, `${user}: roles`);
		const [around] = await readingFew(t, place, user, (unit) => edgesAround(unit, [{ kind: 'user', id }], 1_000));
		for (const list of around?.lists ?? []) assertSorted(t, list, `${user}: edges`);
	}
	const { id: tenant } = await place.store.reading(scopeIn(place)).find(Tenant, 't0');
	for (const [user, held, ofTenant] of inBusyTenant) {
		const { id } = await place.store.reading(scopeIn(place)).find(User, user);
		const roles = await readingFew(t, place, `${user} in t0`, (unit) => rolesHeld(unit, id, tenant, 100));
		t.is(roles.length, held, user);
		const tenantRoles = await readingFew(t, place, `${user} of t0`, (unit) => rolesAssignedIn(unit, id, tenant, 100));
		t.is(tenantRoles.length, ofTenant, user);
	}
}

// The database has a single large environment, as most installations do. A condition on the environment id then
// excludes no rows, so an index on unrelated columns seems as good as the right index.
journey('graphs and roles read few rows, with and without statistics', async (t, place) => {
	await populate(place);
	await assertFewRead(t, place);
	await place.store.database.knex.raw('analyze');
	await assertFewRead(t, place);
});

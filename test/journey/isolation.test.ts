import test from 'ava';
import { endpoints } from '../../src/api/table.js';
import type { Client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { complaint, fails } from '../support/failure.js';
import type { Listed } from '../support/listed.js';
import { newOrganization, newPlace, type Place } from '../support/management.js';
import { startStack } from '../support/stack.js';
import { bodyOf, furnish, type Names, parametersOf, pathOf, tour, type Visited } from '../support/tour.js';

/** Nothing of one environment can be seen or changed through the key of another (design: invariant 2). */

const journey = onEachStore();

/** Everything the API shows of a place, as text. */
async function shown(http: Client, { schema, facts }: Place): Promise<string> {
	const paths = [
		...[`${schema}/resources?include_built_in=true`, `${schema}/resources/document/actions`, `${schema}/roles`],
		...[`${schema}/resources/document/roles`, `${schema}/resources/document/roles/editor/ancestors`],
		...[
			`${schema}/resources/document/attributes`,
			`${schema}/resources/document/action_groups`,
			`${schema}/resources/document/relations`,
			`${schema}/users/attributes`,
			`${facts}/users`,
			`${facts}/tenants`,
			`${facts}/tenants/acme/users`,
			`${facts}/role_assignments?detailed=true`,
			`${facts}/resource_instances?detailed=true`,
			`${facts}/relationship_tuples?detailed=true`,
			...[`${schema}/groups`, `${schema}/groups/direct`, `${schema}/groups/group:admins/users`],
			`${facts}/user_invites`,
			`${facts}/proxy_configs`,
		],
	];
	const bodies = await Promise.all(paths.map(async (path) => (await http.get(path)).body));
	return JSON.stringify(bodies);
}

journey(
	'equal keys in two organizations are two objects, and only one’s own can be reached',
	async (t, place, management) => {
		const other = await newOrganization(management, `${place.key}-org`);
		await other.http.post('/v2/projects', { key: 'default', name: 'Default', initial_environments: [] });
		const theirs = await newPlace(management, other.http, 'default', place.key);
		t.is(theirs.schema, place.schema, 'the same path');
		const sibling = await newPlace(management, management.organization);
		const ids = await furnish(theirs, 'theirs');
		await furnish(sibling, 'sibling');
		await furnish(place, 'mine');

		const mine = await shown(place.http, place);
		t.true(mine.includes('mine') && !mine.includes('theirs') && !mine.includes('sibling'), mine);
		for (const id of [...Object.values(ids), theirs.id, theirs.project_id, theirs.organization_id])
			t.false(mine.includes(id));
		const others = [await shown(theirs.http, theirs), await shown(sibling.http, sibling)];

		const [revisionOfTheirs, revisionOfMine] = [await theirs.revision(), await place.revision()];
		for (const endpoint of endpoints) {
			const right = bodyOf(endpoint);
			const ask = (http: Client, path: string) => http.send(endpoint.method.toUpperCase(), path, right);
			// Every parameter in turn is an id of theirs, while the rest of the path is mine.
			for (const parameter of parametersOf(endpoint).filter((name) => name in ids)) {
				// A PUT of a user whose id is theirs makes a user of mine with that key.
				if (endpoint.name === 'syncUser') continue;
				const path = pathOf(endpoint, place, { [parameter]: ids[parameter] ?? '' });
				for (const http of [place.http, management.organization]) fails(t, await ask(http, path), 404, ids[parameter]);
			}
			// The whole path is theirs, by keys and by ids.
			const { id, project_id, key } = theirs;
			for (const [proj_id, env_id] of [
				[project_id, id],
				[project_id, key],
				['default', id],
			] as const) {
				if (!endpoint.path.includes(proj_id === 'default' ? ':env_id' : ':proj_id')) continue;
				for (const http of [place.http, management.project, management.organization]) {
					const answer = await ask(http, pathOf(endpoint, theirs, { ...ids, proj_id, env_id }));
					t.true([403, 404].includes(answer.status), `${endpoint.name}: ${JSON.stringify(answer.body)}`);
					t.is(complaint(answer), null);
					t.false(JSON.stringify(answer.body).includes('theirs'));
				}
			}
		}
		t.deepEqual([await theirs.revision(), await place.revision()], [revisionOfTheirs, revisionOfMine]);
		t.deepEqual([await shown(theirs.http, theirs), await shown(sibling.http, sibling)], others);
	},
);

journey('an id of another environment in a body or a filter names nothing', async (t, place, management) => {
	const theirs = await newPlace(management, management.organization);
	const ids = await furnish(theirs, 'theirs');
	await furnish(place, 'mine');
	const { http, schema, facts } = place;
	const revision = await place.revision();
	const { user_id = '', role_id = '', tenant_id = '', action_id = '', resource_id = '', instance_id = '' } = ids;
	const budget = { key: 'new', resource: 'document', tenant: 'acme' };
	const parent = { subject: 'folder:finance', relation: 'parent', object: 'document:budget', tenant: 'acme' };
	const held = { user: 'alice@example.com', role: 'editor', tenant: 'acme' };
	const document = `${schema}/resources/document`;
	const admins = `${schema}/groups/group:admins`;
	const groupRole = { resource: 'document', resource_instance: 'budget', role: 'viewer', tenant: 'acme' };
	const { group_instance_key: group_id = '' } = ids;
	const rule = { role: 'viewer', on_resource: 'document', linked_by_relation: 'copy' };
	const { body: viewerOfTheirs } = await theirs.http.get<Names>(`${theirs.schema}/resources/document/roles/viewer`);
	const viewer = viewerOfTheirs['id'] ?? '';
	const writes: readonly (readonly [method: string, path: string, body: unknown, named: string])[] = [
		['POST', `${facts}/role_assignments`, { ...held, user: user_id }, user_id],
		['POST', `${facts}/role_assignments`, { ...held, role: role_id }, role_id],
		[
			'POST',
			`${facts}/role_assignments`,
			{ ...held, tenant: tenant_id.replaceAll('-', '') },
			tenant_id.replaceAll('-', ''),
		],
		['POST', `${facts}/role_assignments/bulk`, [held, { ...held, user: user_id }], user_id],
		['DELETE', `${facts}/bulk/users`, { idents: ['alice@example.com', user_id] }, user_id],
		['DELETE', `${facts}/bulk/tenants`, { idents: ['acme', tenant_id] }, tenant_id],
		...(['POST', 'PUT'] as const).map(
			(method) =>
				[
					method,
					`${facts}/bulk/users`,
					{ operations: [{ key: 'ben' }, { key: 'cy', role_assignments: [{ role: role_id, tenant: 'acme' }] }] },
					role_id,
				] as const,
		),
		['DELETE', `${facts}/role_assignments`, { ...held, tenant: tenant_id }, tenant_id],
		['DELETE', `${facts}/role_assignments/bulk`, [held, { ...held, role: role_id }], role_id],
		['POST', `${facts}/users`, { key: 'ben', role_assignments: [{ role: role_id, tenant: 'acme' }] }, role_id],
		[
			'PUT',
			`${facts}/users/alice@example.com`,
			{ role_assignments: [{ role: 'editor', tenant: tenant_id }] },
			tenant_id,
		],
		['POST', `${facts}/users/alice@example.com/roles`, { role: role_id, tenant: 'acme' }, role_id],
		['DELETE', `${facts}/users/alice@example.com/roles`, { role: 'editor', tenant: tenant_id }, tenant_id],
		['POST', `${schema}/roles`, { key: 'new', name: 'New', extends: [role_id] }, role_id],
		['POST', `${schema}/roles`, { key: 'new', name: 'New', permissions: [action_id] }, action_id],
		[
			'POST',
			`${schema}/resources`,
			{ key: 'new', name: 'New', actions: {}, relations: { r: resource_id } },
			resource_id,
		],
		['PATCH', `${schema}/resources/document`, { relations: { r: resource_id } }, resource_id],
		[
			'POST',
			`${schema}/resources/document/relations`,
			{ key: 'r', name: 'R', subject_resource: resource_id },
			resource_id,
		],
		['POST', `${schema}/resources/document/action_groups`, { key: 'g', name: 'G', actions: [action_id] }, action_id],
		['PATCH', `${schema}/resources/document/action_groups/editing`, { actions: [action_id] }, action_id],
		['PATCH', `${schema}/roles/editor`, { permissions: [action_id] }, action_id],
		['PATCH', `${schema}/roles/editor`, { extends: [role_id] }, role_id],
		['POST', `${schema}/roles/editor/permissions`, { permissions: [action_id] }, action_id],
		['DELETE', `${schema}/roles/editor/permissions`, { permissions: [action_id] }, action_id],
		['PUT', `${schema}/roles/editor/parents/${role_id}`, undefined, role_id],
		['POST', `${document}/roles`, { key: 'new', name: 'New', permissions: [action_id] }, action_id],
		['POST', `${document}/roles/editor/permissions`, { permissions: [action_id] }, action_id],
		['PATCH', `${document}/roles/editor`, { extends: [viewer] }, viewer],
		['POST', `${document}/roles/editor/implicit_grants`, { ...rule, role: viewer }, viewer],
		['POST', `${document}/roles/editor/implicit_grants`, { ...rule, on_resource: resource_id }, resource_id],
		['PATCH', document, { roles: { a: { name: 'A', extends: [viewer] } } }, viewer],
		['PUT', `${schema}/bulk/roles`, { operations: [{ key: 'a', name: 'A', resource: resource_id }] }, resource_id],
		['POST', `${facts}/role_assignments`, { ...held, resource_instance: instance_id }, instance_id],
		['DELETE', `${facts}/role_assignments`, { ...held, resource_instance: instance_id }, instance_id],
		['POST', `${facts}/resource_instances`, { ...budget, resource: resource_id }, resource_id],
		['POST', `${facts}/resource_instances`, { ...budget, tenant: tenant_id }, tenant_id],
		['PUT', `${facts}/bulk/resource_instances`, { operations: [{ ...budget, tenant: tenant_id }] }, tenant_id],
		['DELETE', `${facts}/bulk/resource_instances`, { idents: ['document:budget', instance_id] }, instance_id],
		['POST', `${facts}/relationship_tuples`, { ...parent, subject: instance_id }, instance_id],
		['POST', `${facts}/relationship_tuples`, { ...parent, object: instance_id }, instance_id],
		['POST', `${facts}/relationship_tuples`, { ...parent, tenant: tenant_id }, tenant_id],
		['POST', `${facts}/relationship_tuples/bulk`, { operations: [{ ...parent, relation: role_id }] }, role_id],
		['DELETE', `${facts}/relationship_tuples`, { ...parent, subject: instance_id }, instance_id],
		['POST', `${schema}/groups`, { group_instance_key: 'new', group_tenant: tenant_id }, tenant_id],
		...Object.entries({ resource: resource_id, resource_instance: instance_id, role: viewer, tenant: tenant_id }).map(
			([field, id]) => ['POST', `${admins}/roles`, { ...groupRole, [field]: id }, id] as const,
		),
		['PUT', `${admins}/users/alice@example.com`, { tenant: tenant_id }, tenant_id],
		['DELETE', `${admins}/users/alice@example.com`, { tenant: tenant_id }, tenant_id],
		['PUT', `${admins}/assign_group`, { group_instance_key: group_id }, group_id],
		['DELETE', `${admins}/assign_group`, { group_instance_key: group_id }, group_id],
		['PATCH', `${facts}/user_invites/ines@example.com`, { role_id }, role_id],
		['PATCH', `${facts}/user_invites/ines@example.com`, { tenant_id }, tenant_id],
	];
	for (const [method, path, body, named] of writes) fails(t, await http.send(method, path, body), 404, named);
	t.is(await place.revision(), revision);

	for (const [name, id] of Object.entries({ user: user_id, role: role_id, tenant: tenant_id })) {
		t.deepEqual((await http.get<Listed>(`${facts}/role_assignments?${name}=${id}`)).body, [], name);
	}
	for (const [name, id] of Object.entries({ tenant: tenant_id, resource: resource_id, search: instance_id })) {
		t.deepEqual((await http.get<Listed>(`${facts}/resource_instances?${name}=${id}`)).body, [], name);
	}
	t.is((await http.get(`${facts}/users?role=${role_id}`)).body['total_count'], 0);
	for (const field of ['id', 'environment_id', 'project_id', 'organization_id', 'created_at']) {
		const body = { key: `u-${field}`, [field]: field === 'created_at' ? '2000-01-01T00:00:00Z' : theirs.id };
		const made = (await http.post(`${facts}/users`, body)).body;
		t.not(made[field], body[field], `${field} is not for callers to say`);
		t.is(made['environment_id'], place.id);
	}
	const mine = await http.put<Names>(`${facts}/users/${user_id}`, { first_name: 'mine' });
	t.is(mine.status, 201, 'an id of theirs is only a key here');
	t.not(mine.body['id'], user_id);
	t.is(
		(await theirs.http.get(`${facts.replace(place.key, theirs.key)}/users/${user_id}`)).body['first_name'],
		'theirs',
	);
});

interface Statement {
	readonly sql: string;
	readonly bindings: readonly unknown[];
}

/** Statements of the server itself that are about no environment; everything else must name the caller's. */
const system: Readonly<Record<string, RegExp>> = {
	'who calls': /^select "api_keys"\.\* from "api_keys" where "secret_hash" = \$1/,
	"who calls, and which environment of the key's own organization they mean":
		/^select environments\.\*[^;]* projects\.organization_id = api_keys\.organization_id\s[^;]*\swhere api_keys\.secret_hash = \$5$/,
	transactions: /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET TRANSACTION)/i,
	'the wake-up of those who wait': /^select pg_notify\('regolith_revision', \$1\)$/,
	'the wake-up of those who wait under a key': /^select pg_notify\('regolith_key', \$1\)$/,
	'compilers taking turns': /^select pg_advisory_xact_lock/,
	'compiled policies, by the digest of their text':
		/^(select .* from "policies" where "digest" = \$1|insert into "policies")/,
};

/** The tables that hold the objects of environments, and that are found by the caller's organization. */
const ofEnvironments =
	/"?\b(resources|resource_actions|resource_attributes|action_groups|action_group_actions|relations|roles|role_permissions|role_parents|role_derivations|users|tenants|tenant_users|role_assignments|resource_instances|relationship_tuples|groups|user_invites|proxy_configs|changes|publications|policy_revisions|pdp_states|copy_tasks)\b"?/;
/** Counts over the environments that a key opens, which are found by its organization. */
const overEnvironments = /^with opened as \(\s*select id from environments where organization_id = \$1/;
const ofOrganizations = /"(organizations|projects|environments|api_keys)"/;

/** Why a statement is not bound to the caller's scope; `null` when it is. */
function unbound({ sql, bindings }: Statement, place: Place): string | null {
	if (Object.values(system).some((pattern) => pattern.test(sql))) return null;
	const bound = (id: string) => bindings.includes(id);
	if (overEnvironments.test(sql)) return bound(place.organization_id) ? null : 'it is not bound to the organization';
	if (ofEnvironments.test(sql)) {
		if (!/"?environment_id"?/.test(sql)) return 'it does not say environment_id';
		return bound(place.id) ? null : 'it is not bound to the environment';
	}
	if (ofOrganizations.test(sql))
		return bound(place.organization_id) || bound(place.id) ? null : 'it is bound to no organization';
	return 'it is about none of the tables known';
}

for (const kind of ['embedded', 'server'] as const) {
	test(`no statement leaves the store without the caller's scope [${kind}]`, async (t) => {
		const stack = await startStack(kind);
		t.teardown(stack.stop);
		const { store, listening } = stack.api;
		const site = { url: listening.url, store };
		const { body: scope } = await stack.environment.get<{
			organization_id: string;
			project_id: string;
			environment_id: string;
		}>('/v2/api-key/scope');
		const spare = await stack.environment.post<Names>('/v2/api-key', {
			environment_id: scope.environment_id,
			owner_type: 'pdp_config',
		});
		const place: Place = {
			...{ ...site, id: scope.environment_id, key: 'dev', project: 'default', secret: stack.keys.environment },
			...{ project_id: scope.project_id, organization_id: scope.organization_id, http: stack.environment },
			key_id: spare.body['id'] ?? '',
			...{ schema: '/v2/schema/default/dev', facts: '/v2/facts/default/dev' },
			revision: async () => (await store.counters(scope.environment_id))?.revision ?? -1,
		};
		// Environments that nobody asks for are left alone from here on, so all that is heard is about this one.
		const { body: production } = await stack.organization.get<Names>('/v2/projects/default/envs/production');
		await stack.organization.get(`/bundles/${production['id']}`);

		const heard: Statement[] = [];
		store.database.knex.on('query', ({ sql, bindings }: Statement) => heard.push({ sql, bindings: bindings ?? [] }));
		await furnish(place);
		const kept = new Set(['createProject', 'deleteProject', 'createEnvironment', 'deleteEnvironment']);
		// What these write is in another environment.
		for (const name of ['copyEnvironment', 'beginEnvironmentCopy']) kept.add(name);
		const open = ({ access }: Visited) => /^(environment|key)/.test(access);
		const visits = await tour(place, (endpoint) => (open(endpoint) ? stack.environment : stack.organization), kept);
		for (const { endpoint, answer } of visits) {
			t.true([200, 201, 204, 404, 409].includes(answer.status), `${endpoint.name}: ${JSON.stringify(answer.body)}`);
		}
		t.true(visits.filter(({ answer }) => answer.status < 300).length > endpoints.length / 2);
		await stack.reached(await place.revision());

		t.true(heard.length > 100);
		for (const statement of heard) {
			const why = unbound(statement, place);
			t.is(why, null, `${statement.sql} with ${JSON.stringify(statement.bindings)}`);
		}
	});
}

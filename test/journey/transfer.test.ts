// @rest

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { acrossStores, onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys, type Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';
import { newEnvironmentFacts } from '../support/new-environment-facts.js';
import type { StoreKind } from '../support/postgres.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/**
 * A whole environment is exported from a store as a document, and imported into a second store. Invalid documents are
 * rejected.
 */

const journey = onEachStore({ embedded: 'all' });

type Json = Readonly<Record<string, unknown>>;

interface Report {
	readonly dry_run: boolean;
	readonly total: number;
	readonly counts: Readonly<Record<string, Json>>;
	readonly changes: readonly { readonly kind: string; readonly operation: string; readonly key: string }[];
}

const header = { format: 'regolith-environment', version: 1 } as const;

const whole = {
	...header,
	schema: {
		resources: {
			document: {
				name: 'Document',
				description: 'What users write',
				urn: 'urn:document',
				type_attributes: { shelf: [1, 2.5, null, { deep: true }] },
				actions: {
					read: { name: 'Read', description: 'Look at it' },
					write: { name: 'write', attributes: { risky: true } },
				},
				attributes: { private: { type: 'bool', description: 'Not for all' } },
				relations: {
					author: { name: 'Author', subject_resource: '__user' },
					parent: { name: 'Parent', description: 'Where it lies', subject_resource: 'folder' },
				},
				action_groups: {
					all: { name: 'All', attributes: { colour: 'red' }, actions: ['write', 'read'] },
					none: { name: 'None', description: 'Of nothing' },
				},
				roles: {
					editor: {
						name: 'Editor',
						permissions: ['write', 'read'],
						extends: ['viewer'],
						granted_to: {
							users_with_role: [
								{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' },
								{
									role: 'editor',
									on_resource: 'folder',
									linked_by_relation: 'parent',
									when: { no_direct_roles_on_object: true },
								},
							],
							when: { no_direct_roles_on_object: true },
						},
					},
					viewer: { name: 'Viewer', description: 'Looks', attributes: { level: 1 }, granted_to: {} },
				},
			},
			empty: { name: 'Empty', actions: {}, attributes: {} },
			folder: {
				name: 'Folder',
				actions: { read: { name: 'read' } },
				attributes: {},
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					editor: { name: 'Editor', permissions: ['read'] },
					owner: {
						name: 'Owner',
						extends: ['editor'],
						granted_to: { users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }] },
					},
				},
			},
		},
		user_attributes: { age: { type: 'number' }, level: { type: 'string', description: 'How far' } },
		roles: {
			a: { name: 'A', permissions: ['document:write'], extends: ['z', 'm'] },
			m: { name: 'M', attributes: {} },
			z: { name: 'Z', description: 'The last', permissions: ['document:read'], attributes: { team: 'z' } },
		},
		condition_sets: {
			adults: { name: 'Adults', type: 'userset', conditions: { 'user.age': { 'greater-than': 17 } } },
			hidden: {
				name: 'Hidden',
				description: 'Not for all',
				type: 'resourceset',
				conditions: { 'resource.private': { equals: true } },
				resource: 'document',
			},
			least: { name: 'Least', type: 'userset', conditions: {}, parent: 'adults' },
		},
		set_rules: [
			{ user_set: '__autogen_a', permission: 'document:read', resource_set: 'hidden' },
			{ user_set: 'adults', permission: 'document:read', resource_set: '__autogen_document' },
			{ user_set: 'adults', permission: 'document:read', resource_set: 'hidden' },
			{ user_set: 'least', permission: 'folder:read', resource_set: '__autogen_folder' },
		],
		elements_configs: {
			ask: {
				name: 'Ask',
				elements_type: 'approval_flow',
				settings: { max_duration: 3600, user_management_element: 'people' },
			},
			inbox: {
				name: 'Inbox',
				elements_type: 'approval_management',
				settings: { access_request_element: 'ask', title: 'To do' },
			},
			people: {
				name: 'People',
				elements_type: 'user_management',
				settings: { default_role: 'm' },
				email_notifications: true,
				role_levels: { a: 'LEVEL_1', 'document:editor': 'LEVEL_2', m: 'LEVEL_4', z: 'HIDDEN' },
			},
		},
		check_tests: {
			strangers: { check: { user: { key: 'x' }, action: 'read', resource: { type: 'document' } }, expected: 'deny' },
		},
	},
	facts: {
		tenants: { acme: { name: 'Acme', attributes: { plan: 'gold' } }, default: { name: 'Default Tenant' } },
		users: {
			'10': {},
			'9': { first_name: 'Nine' },
			'ann@example.com': { email: 'ann@example.com', last_name: 'Doe', attributes: { age: 40 } },
		},
		tenant_users: [{ user: '9', tenant: 'acme' }],
		resource_instances: {
			'document:budget': { tenant: 'acme', attributes: { secret: true } },
			'folder:finance': { tenant: 'acme' },
			'folder:home': { tenant: 'default' },
			'folder:top': { tenant: 'acme' },
		},
		groups: { 'folder:home': { made_instance: true }, 'folder:top': {} },
		made_for_groups: [
			{ resource: 'document', relation: 'parent' },
			{ resource: 'folder' },
			{ resource: 'folder', role: 'owner' },
		],
		relationship_tuples: [
			{ subject: 'folder:finance', relation: 'parent', object: 'document:budget' },
			{ subject: 'folder:top', relation: 'parent', object: 'folder:finance' },
		],
		role_assignments: [
			{ user: '9', role: 'm', tenant: 'default' },
			{ user: '9', role: 'owner', resource_instance: 'folder:finance' },
			{ user: 'ann@example.com', role: 'a', tenant: 'acme' },
			{ user: 'ann@example.com', role: 'editor', resource_instance: 'document:budget' },
			{ user: 'ann@example.com', role: 'editor', resource_instance: 'folder:home' },
			{ user: 'ann@example.com', role: 'z', tenant: 'default' },
		],
		user_invites: {
			ben: { email: 'ben@example.com', role: 'a', tenant: 'acme' },
			eve: { email: 'eve@example.com', role: 'm', resource_instance: 'folder:finance', status: 'approved' },
			'kim|2': {
				email: 'kim@example.com',
				role: 'a',
				tenant: 'acme',
				element: 'people',
				user_key: 'kim',
				attributes: { team: 'red' },
				invite_expires_at: '2999-01-01T00:00:00.000Z',
			},
			zoe: { email: 'zoe@example.com', first_name: 'Zoe', role: 'folder:owner', resource_instance: 'folder:home' },
		},
	},
} as const;

/** Document sections in an environment without condition sets and elements. */
const noSets = { condition_sets: {}, set_rules: [], elements_configs: {}, check_tests: {} } as const;

function environmentPath({ project, key }: Place, rest: string): string {
	return `/v2/projects/${project}/envs/${key}/${rest}`;
}

async function exported(place: Place): Promise<Json> {
	const { environment: _, ...document } = (await place.http.get(environmentPath(place, 'export'))).body;
	return document;
}

function imported(place: Place, document: unknown, query = '') {
	return place.http.post<Report & Json>(environmentPath(place, `import${query}`), document);
}

journey('the export of a new environment contains the defaults of every environment', async (t, place) => {
	const ledger = await openLedger(t, place);
	const answer = await place.http.get(environmentPath(place, 'export'));
	t.is(answer.revision, await place.revision(), 'the exported revision');
	t.deepEqual(await ledger.read(answer), {
		...header,
		environment: { key: place.key, name: `Place ${place.key}` },
		schema: {
			resources: {},
			user_attributes: {},
			roles: {},
			...noSets,
		},
		facts: newEnvironmentFacts,
	});
});

journey('an import can be exported, and a second import changes nothing', async (t, place) => {
	const ledger = await openLedger(t, place);
	const report = await ledger.wrote(await imported(place, whole));
	t.deepEqual(report.counts, {
		resource: { create: 3, update: 0, delete: 0 },
		resource_attribute: { create: 3, update: 0, delete: 0 },
		resource_action: { create: 3, update: 0, delete: 0 },
		relation: { create: 3, update: 0, delete: 0 },
		action_group: { create: 2, update: 0, delete: 0 },
		role: { create: 7, update: 0, delete: 0 },
		condition_set: { create: 6, update: 0, delete: 0 },
		condition_set_rule: { create: 4, update: 0, delete: 0 },
		elements_config: { create: 3, update: 0, delete: 0 },
		check_test: { create: 1, update: 0, delete: 0 },
		tenant: { create: 1, update: 0, delete: 0 },
		user: { create: 3, update: 0, delete: 0 },
		tenant_user: { create: 1, update: 0, delete: 0 },
		resource_instance: { create: 4, update: 0, delete: 0 },
		group: { create: 2, update: 0, delete: 0 },
		relationship_tuple: { create: 2, update: 0, delete: 0 },
		role_assignment: { create: 6, update: 0, delete: 0 },
		user_invite: { create: 4, update: 0, delete: 0 },
	});
	const document = await exported(place);
	t.deepEqual(document, whole);
	for (const strategy of ['fail', 'overwrite', 'replace']) {
		const again = await ledger.kept(await imported(place, document, `?conflict_strategy=${strategy}`));
		t.deepEqual(again, { dry_run: false, total: 0, counts: {}, expired: 0, changes: [] }, strategy);
	}
	t.deepEqual((await place.http.get(`${place.schema}/roles/a`)).body['extends'], ['z', 'm'], 'in document order');
	await ledger.balanced();
});

journey('a dry run changes nothing, and reports exactly the effect of the import', async (t, place) => {
	const ledger = await openLedger(t, place);
	await ledger.wrote(await imported(place, whole));
	const other = {
		...header,
		schema: {
			resources: { document: { name: 'Paper', actions: { read: {} } }, report: { name: 'Report' } },
			roles: { m: { name: 'M', attributes: {}, extends: ['a'] }, a: { name: 'A' }, new: { name: 'New' } },
		},
		facts: {
			users: { '9': {}, ben: {} },
			tenants: { acme: { name: 'Acme' } },
			role_assignments: [{ user: 'ben', role: 'new', tenant: 'acme' }],
		},
	};
	for (const strategy of ['overwrite', 'replace']) {
		const before = await exported(place);
		const query = `?conflict_strategy=${strategy}`;
		const dry = await ledger.kept(await imported(place, other, `${query}&dry_run=true`));
		t.deepEqual(await exported(place), before);
		const real = await ledger.wrote(await imported(place, other, query));
		t.deepEqual({ ...dry, dry_run: false }, real, strategy);
		const logged: { kind: string; operation: string; key: string }[] = await place.store.database
			.knex('changes')
			.where({ environment_id: place.id, revision: await place.revision() })
			.orderBy('position')
			.select('kind', 'operation', 'key');
		t.deepEqual([...real.changes], logged, 'the reported changes equal the change log');
	}
	t.deepEqual(await exported(place), {
		...header,
		schema: {
			resources: {
				document: { name: 'Paper', actions: { read: { name: 'read' } }, attributes: {} },
				report: { name: 'Report', actions: {}, attributes: {} },
			},
			user_attributes: {},
			roles: other.schema.roles,
			...noSets,
		},
		facts: {
			...newEnvironmentFacts,
			users: other.facts.users,
			tenants: other.facts.tenants,
			role_assignments: other.facts.role_assignments,
		},
	});
	await ledger.balanced();
});

journey('without a strategy, different contents are a conflict, and nothing is written', async (t, place) => {
	const ledger = await openLedger(t, place);
	await ledger.wrote(await imported(place, whole));
	const before = await exported(place);
	const conflicts: readonly (readonly [half: 'schema' | 'facts', content: Json, named: string])[] = [
		['schema', { resources: { new: { name: 'New' }, empty: { name: 'Full' } } }, 'empty'],
		['schema', { resources: { document: { ...whole.schema.resources.document, actions: {} } } }, 'document'],
		['schema', { roles: { z: { ...whole.schema.roles.z, permissions: [] } } }, 'z'],
		['facts', { users: { new: {}, '9': {} } }, '9'],
		['facts', { tenants: { acme: { name: 'Acme' } } }, 'acme'],
	];
	for (const [half, content, named] of conflicts) {
		for (const query of ['', '?dry_run=true', '?conflict_strategy=fail']) {
			fails(t, await imported(place, { ...header, [half]: content }, query), 409, `\`${named}\``);
		}
	}
	const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`user-${index}`, {}]));
	await ledger.wrote(await imported(place, { ...header, facts: { users: many } }));
	const changed = Object.fromEntries(Object.keys(many).map((key) => [key, { first_name: 'Other' }]));
	fails(t, await imported(place, { ...header, facts: { users: changed } }), 409, 'and 2 more');
	await ledger.wrote(await place.http.delete(`${place.facts}/bulk/users`, { idents: Object.keys(many) }));
	t.deepEqual(await exported(place), before);
	await ledger.balanced();
});

const inDocument = 'body.schema.resources.document';

/** Returns a document with a resource `document`, which has these fields, and a second resource. */
function ofDocument(members: Json): Json {
	const plain = { actions: { read: {} }, attributes: {} };
	return {
		schema: {
			resources: { document: { ...plain, name: 'Document', ...members }, other: { ...plain, name: 'Other', roles } },
		},
	};
}

const roles = { r: { name: 'R' } };

/** Returns a document role that is derived from a document role. `rule` overrides parts of the derivation rule. */
function derived(rule: Json): Json {
	const whole = { role: 's', on_resource: 'document', linked_by_relation: 'parent', ...rule };
	return ofDocument({
		relations: { parent: { name: 'Parent', subject_resource: 'document' } },
		roles: { r: { name: 'R', granted_to: { users_with_role: [whole] } }, s: { name: 'S' } },
	});
}

/** Returns a document resource with a relation to itself and a role, and these instances. */
function withInstance(resource_instances: Json, facts: Json = {}): Json {
	const { schema: documents } = ofDocument({
		relations: { parent: { name: 'Parent', subject_resource: 'document' } },
		roles,
	});
	return {
		schema: { ...(documents as Json), roles: { t: { name: 'T' } } },
		facts: { tenants: { elsewhere: { name: 'Elsewhere' } }, users: { u: {} }, resource_instances, ...facts },
	};
}

const inSets = 'body.schema.condition_sets';

/** Returns a document resource, and condition sets, which are user sets by default. */
function sets(given: Readonly<Record<string, Json>>, more: Json = {}): Json {
	const whole = Object.entries(given).map(([key, set]) => [key, { name: 'S', type: 'userset', ...set }]);
	const { schema: documents } = ofDocument({});
	return { schema: { ...(documents as Json), condition_sets: Object.fromEntries(whole), ...more } };
}

/** Returns a rule between a user set and a resource set. `wrong` overrides parts of the rule. */
function ruled(wrong: Json): Json {
	const rule = { user_set: 'u', permission: 'document:read', resource_set: 'r', ...wrong };
	return sets({ u: {}, r: { type: 'resourceset', resource: 'document' } }, { set_rules: [rule] });
}

const inElements = 'body.schema.elements_configs';

/** Returns elements, which are for user management by default. */
function elements(given: Readonly<Record<string, Json>>): Json {
	const whole = Object.entries(given).map(([key, one]) => [
		key,
		{ name: 'E', elements_type: 'user_management', ...one },
	]);
	return { schema: { elements_configs: Object.fromEntries(whole) } };
}

/** Returns an access request element whose requests are reviewed by the owners in this user management element. */
function asking(user_management_element: string): Json {
	return { elements_type: 'approval_flow', settings: { user_management_element } };
}

const twoTenants = { 'document:a': { tenant: 'default' }, 'document:elsewhere': { tenant: 'elsewhere' } };

function tuple(wrong: Json): Json {
	const one = { subject: 'document:a', relation: 'parent', object: 'document:a', ...wrong };
	return withInstance(twoTenants, { relationship_tuples: [one] });
}

function assigned(wrong: Json): Json {
	return withInstance(twoTenants, {
		role_assignments: [{ user: 'u', role: 'r', resource_instance: 'document:a', ...wrong }],
	});
}

function invited(wrong: Json): Json {
	const one = { email: 'i@example.com', role: 'document:r', resource_instance: 'document:a', ...wrong };
	return withInstance(twoTenants, { user_invites: { i: one } });
}

journey('an invalid document is rejected with a location, and a missing reference gives 404', async (t, place) => {
	const ledger = await openLedger(t, place);
	const cycle = { a: { name: 'A', extends: ['b'] }, b: { name: 'B', extends: ['a'] }, c: { name: 'C' } };
	const wrong: readonly (readonly [document: Json, status: number, place: string])[] = [
		[{ schema: { resources: { document: {} } } }, 422, 'body.schema.resources.document.name'],
		[{ schema: { resources: { 'a b': { name: 'A' } } } }, 422, 'body.schema.resources.a b'],
		[{ schema: { resources: { __tenant: { name: 'A' } } } }, 422, 'body.schema.resources.__tenant'],
		[{ schema: { resources: { a: { name: 'A', colour: 1 } } } }, 422, 'body.schema.resources.a.colour'],
		[{ schema: { condition_set: {} } }, 422, 'body.schema.condition_set'],
		[sets({ s: { type: 'users' } }), 422, `${inSets}.s.type`],
		[sets({ s: { type: 'resourceset' } }), 422, `${inSets}.s.resource`],
		[sets({ s: { resource: 'document' } }), 422, `${inSets}.s.resource`],
		[sets({ __autogen_s: {} }), 422, `${inSets}.__autogen_s`],
		[sets({ s: { conditions: { 'user.email': { gt: 1 } } } }), 422, `${inSets}.s.conditions.user.email.gt`],
		[sets({ s: { conditions: { 'user.tall': { equals: 1 } } } }), 422, `${inSets}.s.conditions.user.tall`],
		[sets({ s: { type: 'resourceset', resource: 'x' } }), 404, 'schema.condition_sets.s.resource'],
		[sets({ s: { parent: 'x' } }), 404, 'schema.condition_sets.s.parent'],
		[sets({ s: { parent: 's' } }), 422, `${inSets}.s.parent`],
		[sets({ s: { parent: 't' }, t: { parent: 's' } }), 422, `${inSets}.t.parent`],
		[sets({ s: { parent: 't' }, t: { type: 'resourceset', resource: 'document' } }), 422, `${inSets}.s.parent`],
		[ruled({ user_set: 'x' }), 404, 'schema.set_rules.0.user_set'],
		[ruled({ user_set: '__autogen_x' }), 404, 'schema.set_rules.0.user_set'],
		[ruled({ user_set: 'r' }), 404, 'schema.set_rules.0.user_set'],
		[ruled({ resource_set: 'x' }), 404, 'schema.set_rules.0.resource_set'],
		[ruled({ permission: 'document:x' }), 404, 'schema.set_rules.0.permission'],
		[ruled({ permission: 'read' }), 422, 'body.schema.set_rules.0.permission'],
		[ruled({ resource_set: '__autogen_other' }), 400, 'schema.set_rules.0'],
		[elements({ e: { elements_type: 'page' } }), 422, `${inElements}.e.elements_type`],
		[elements({ e: { webhook: { url: 'https://example.com' } } }), 422, `${inElements}.e.webhook`],
		[elements({ e: { role_levels: { r: 'UNCONFIGURED' } } }), 422, `${inElements}.e.role_levels.r`],
		[elements({ e: { role_levels: { 'document#r': 'LEVEL_1' } } }), 422, `${inElements}.e.role_levels.document#r`],
		[elements({ e: { role_levels: { x: 'LEVEL_1' } } }), 404, 'schema.elements_configs.e.role_levels.x'],
		[elements({ e: { role_levels: { 'document:x': 'LEVEL_1' } } }), 404, 'elements_configs.e.role_levels.document:x'],
		[elements({ e: asking('x') }), 422, `${inElements}.e.settings.user_management_element`],
		[elements({ e: asking('p'), f: asking('p'), p: {} }), 400, 'schema.elements_configs.f'],
		[
			elements({ e: { elements_type: 'operation_approval', settings: { resource: 'x' } } }),
			422,
			`${inElements}.e.settings.resource`,
		],
		[{ facts: { users: { ann: { email: 'x' } } } }, 422, 'body.facts.users.ann.email'],
		[{ facts: { role_assignments: [{ user: 'ann', role: 'r' }] } }, 422, 'body.facts.role_assignments.0.tenant'],
		[{ schema: { roles: cycle } }, 422, 'body.schema.roles.a.extends,body.schema.roles.b.extends'],
		[{ schema: { roles: { r: { name: 'R', extends: ['r'] } } } }, 422, 'body.schema.roles.r.extends'],
		[{ schema: { roles: { r: { name: 'R', extends: ['x'] } } } }, 404, 'schema.roles.r.extends.0'],
		[{ schema: { roles: { r: { name: 'R', permissions: ['a:b'] } } } }, 404, 'schema.roles.r'],
		[{ schema: { roles: { r: { name: 'R', permissions: ['a'] } } } }, 422, 'body.schema.roles.r.permissions.0'],
		[ofDocument({ relations: { p: { name: 'P', subject_resource: 'x' } } }), 404, 'relations.p.subject_resource'],
		[ofDocument({ action_groups: { g: { name: 'G', actions: ['read', 'x'] } } }), 404, 'action_groups.g.actions.1'],
		[ofDocument({ roles: { r: { name: 'R', permissions: ['x'] } } }), 404, 'document.roles.r.permissions.0'],
		[ofDocument({ roles: { r: { name: 'R', extends: ['x'] } } }), 404, 'document.roles.r.extends.0'],
		[ofDocument({ roles: { r: { name: 'R', extends: ['r'] } } }), 422, `${inDocument}.roles.r.extends`],
		[derived({ role: 'x' }), 404, 'document.roles.r.granted_to.users_with_role.0.role'],
		[derived({ on_resource: 'x' }), 404, 'granted_to.users_with_role.0.on_resource'],
		[derived({ linked_by_relation: 'x' }), 404, 'granted_to.users_with_role.0.linked_by_relation'],
		[derived({ role: 'r', on_resource: 'other' }), 400, 'relation'],
		[derived({ why: 1 }), 422, `${inDocument}.roles.r.granted_to.users_with_role.0.why`],
		[{ facts: { resource_instances: { 'document:': {} } } }, 422, 'body.facts.resource_instances.document:'],
		[{ facts: { resource_instances: { 'x:y': { tenant: 'default' } } } }, 404, 'facts.resource_instances.x:y'],
		[withInstance({ 'document:a': { tenant: 'x' } }), 404, 'facts.resource_instances.document:a.tenant'],
		[withInstance({}, { groups: { 'document:x': {} } }), 404, 'facts.groups.document:x'],
		[withInstance({}, { groups: { document: {} } }), 422, 'body.facts.groups.document'],
		[
			withInstance({}, { groups: { 'document:a': { made_instance: 1 } } }),
			422,
			'body.facts.groups.document:a.made_instance',
		],
		[withInstance({}, { made_for_groups: [{ resource: 'x' }] }), 404, 'facts.made_for_groups.0.resource'],
		[withInstance({}, { made_for_groups: [{ resource: 'document', role: 'x' }] }), 404, 'facts.made_for_groups.0.role'],
		[
			withInstance({}, { made_for_groups: [{ resource: 'document', relation: 'x' }] }),
			404,
			'facts.made_for_groups.0.relation',
		],
		[
			withInstance({}, { made_for_groups: [{ resource: 'document', role: 'r', relation: 'x' }] }),
			422,
			'body.facts.made_for_groups.0.relation',
		],
		[tuple({ subject: 'document:x' }), 404, 'facts.relationship_tuples.0.subject'],
		[tuple({ relation: 'x' }), 404, 'facts.relationship_tuples.0.relation'],
		[tuple({ object: 'document:elsewhere' }), 400, 'tenant'],
		[tuple({ tenant: 'default' }), 422, 'body.facts.relationship_tuples.0.tenant'],
		[assigned({ role: 'x' }), 404, 'facts.role_assignments.0.role'],
		[assigned({ resource_instance: 'document:x' }), 404, 'facts.role_assignments.0.resource_instance'],
		[assigned({ tenant: 'default' }), 422, 'body.facts.role_assignments.0.tenant'],
		[invited({ role: 'x' }), 404, 'facts.user_invites.i.role'],
		[invited({ role: 'other:r' }), 422, 'body.facts.user_invites.i.role'],
		[invited({ resource_instance: 'document:x' }), 404, 'facts.user_invites.i.resource_instance'],
		[invited({ element: 'x' }), 404, 'facts.user_invites.i.element'],
		[invited({ tenant: 'x', resource_instance: null, role: 't' }), 404, 'facts.user_invites.i.tenant'],
		[{ facts: { tenant_users: [{ user: 'x', tenant: 'default' }] } }, 404, 'facts.tenant_users.0.user'],
		[
			{ facts: { users: { u: {} }, role_assignments: [{ user: 'u', role: 'x', tenant: 'default' }] } },
			404,
			'facts.role_assignments.0.role',
		],
	];
	for (const [document, status, at] of wrong) {
		const refused = await imported(place, { ...header, ...document });
		fails(t, refused, status, status === 422 ? '' : at);
		if (status === 422) t.is(problemPlaces(refused).join(','), at);
	}
	const half = await imported(place, { ...header, facts: {} }, '?conflict_strategy=replace');
	fails(t, half, 422);
	t.deepEqual(problemPlaces(half), ['body.schema']);
	await ledger.balanced();
});

journey('a changed `__user` is exported like any resource, and is reset if a document omits it', async (t, place) => {
	const ledger = await openLedger(t, place);
	const users = { name: 'People', actions: { impersonate: { name: 'impersonate' } }, attributes: {} };
	const document = {
		...header,
		schema: { resources: { __user: users }, user_attributes: { age: { type: 'number' } } },
	};
	fails(t, await imported(place, document), 409, '__user');
	await ledger.wrote(await imported(place, document, '?conflict_strategy=overwrite'));
	t.deepEqual((await exported(place))['schema'], { ...document.schema, roles: {}, ...noSets });
	for (const [attributes, status] of [
		[{ email: { type: 'string', description: 'Built in attribute: the e-mail address of the user' } }, 200],
		[{ email: { type: 'number' } }, 400],
	] as const) {
		const named = { ...header, schema: { user_attributes: attributes } };
		const answer = await imported(place, named, '?conflict_strategy=overwrite');
		if (status === 200) await ledger.kept(answer);
		else fails(t, answer, status, 'schema.user_attributes.email');
	}
	const misplaced = { resources: { __user: { ...users, attributes: { age: { type: 'bool' } } } } };
	const refused = await imported(place, { ...header, schema: misplaced });
	fails(t, refused, 422, 'user_attributes');
	t.deepEqual(problemPlaces(refused), ['body.schema.resources.__user.attributes']);
	await ledger.wrote(await imported(place, { ...header, schema: {}, facts: {} }, '?conflict_strategy=replace'));
	t.deepEqual((await exported(place))['schema'], { resources: {}, user_attributes: {}, roles: {}, ...noSets });
	t.like((await place.http.get(`${place.schema}/resources/__user`)).body, { name: 'User', actions: {} });
	await ledger.balanced();
});

journey('an import can reverse which of two roles extends the other', async (t, place) => {
	const ledger = await openLedger(t, place);
	const roles = (first: string, second: string) => ({
		...header,
		schema: { roles: { [first]: { name: 'X' }, [second]: { name: 'X', extends: [first] } } },
	});
	await ledger.wrote(await imported(place, roles('a', 'b')));
	await ledger.wrote(await imported(place, roles('b', 'a'), '?conflict_strategy=overwrite'));
	t.deepEqual((await place.http.get(`${place.schema}/roles/a`)).body['extends'], ['b']);
	t.deepEqual((await place.http.get(`${place.schema}/roles/b`)).body['extends'], []);
	await ledger.wrote(await imported(place, { ...header, schema: { roles: { c: { name: 'C', extends: ['a'] } } } }));
	const around = { ...header, schema: { roles: { b: { name: 'X', extends: ['c'] } } } };
	fails(t, await imported(place, around, '?conflict_strategy=overwrite'), 422, 'would extend itself');
	await ledger.balanced();
});

journey('an import can swap a set with its parent, and change a set’s type', async (t, place) => {
	const ledger = await openLedger(t, place);
	const line = (first: string, second: string) =>
		sets({ [first]: {}, [second]: { parent: first }, kept: {} }, { roles: { r: { name: 'R' } } });
	const rule = {
		user_set: 'r',
		permission: 'document:read',
		resource_set: 'document',
		is_role: true,
		is_resource: true,
	};
	await ledger.wrote(await imported(place, { ...header, ...line('a', 'b') }));
	await ledger.wrote(await place.http.post(`${place.facts}/set_rules`, rule));
	for (const [first, second] of [
		['b', 'a'],
		['a', 'b'],
	] as const) {
		const strategy = first === 'b' ? 'overwrite' : 'replace';
		const turned = { ...header, ...line(first, second), ...(strategy === 'replace' && { facts: newEnvironmentFacts }) };
		await ledger.wrote(await imported(place, turned, `?conflict_strategy=${strategy}`));
		const { condition_sets } = (await exported(place))['schema'] as Readonly<Record<string, Json>>;
		t.like(condition_sets, { [second]: { parent: first } });
		t.false(Object.hasOwn(Object(condition_sets?.[first]), 'parent'));
	}
	const other = { ...header, ...sets({ a: { type: 'resourceset', resource: 'document' }, b: {} }) };
	await ledger.wrote(await imported(place, other, '?conflict_strategy=overwrite'));
	t.like((await place.http.get(`${place.schema}/condition_sets/a`)).body, { type: 'resourceset', parent_id: null });
	const without = { ...header, ...sets({ b: {} }), facts: newEnvironmentFacts };
	await ledger.wrote(await imported(place, without, '?conflict_strategy=replace'));
	t.deepEqual((await place.http.get<Listed>(`${place.facts}/set_rules`)).body, []);
	await ledger.balanced();
});

journey(
	'a relation to a different resource and an instance in a different tenant become new objects, without the old dependents',
	async (t, place) => {
		const ledger = await openLedger(t, place);
		await ledger.wrote(await imported(place, whole));
		const { document } = whole.schema.resources;
		const before = await exported(place);
		const { relations } = document;
		const changed = {
			...header,
			schema: {
				resources: {
					document: {
						...document,
						relations: { ...relations, parent: { name: 'Parent', subject_resource: 'empty' } },
						roles: { editor: { ...document.roles.editor, granted_to: null } },
					},
				},
			},
			facts: { resource_instances: { 'folder:finance': { tenant: 'default' } } },
		};
		fails(t, await imported(place, changed), 409, '`document/parent`');
		const report = await ledger.wrote(await imported(place, changed, '?conflict_strategy=overwrite'));
		t.deepEqual(
			{ ...report.counts },
			{
				relation: { create: 1, update: 0, delete: 1 },
				role: { create: 0, update: 1, delete: 0 },
				relationship_tuple: { create: 0, update: 0, delete: 2 },
				resource_instance: { create: 1, update: 0, delete: 1 },
				role_assignment: { create: 0, update: 0, delete: 1 },
				user_invite: { create: 0, update: 0, delete: 1 },
			},
		);
		t.like((await exported(place))['facts'], {
			relationship_tuples: [],
			resource_instances: { 'folder:finance': { tenant: 'default' } },
		});
		await ledger.wrote(await imported(place, before, '?conflict_strategy=replace'));
		t.deepEqual(await exported(place), before, 'an older export restores the previous state');
		await ledger.balanced();
	},
);

journey('`__user` is exported if it has contents, and causes no conflict', async (t, place) => {
	const ledger = await openLedger(t, place);
	const role = { key: 'friend', name: 'Friend' };
	await ledger.wrote(await place.http.post(`${place.schema}/resources/__user/roles`, role));
	const document = await exported(place);
	t.deepEqual(document['schema'], {
		resources: {
			__user: {
				name: 'User',
				description: 'The users themselves',
				actions: {},
				attributes: {},
				roles: { friend: { name: 'Friend' } },
			},
		},
		user_attributes: {},
		roles: {},
		...noSets,
	});
	await ledger.wrote(await place.http.delete(`${place.schema}/resources/__user/roles/friend`), 204);
	await ledger.wrote(await imported(place, document));
	t.deepEqual(await exported(place), document);
	await ledger.wrote(await imported(place, { ...header, schema: {}, facts: {} }, '?conflict_strategy=replace'));
	t.deepEqual((await exported(place))['schema'], { resources: {}, user_attributes: {}, roles: {}, ...noSets });
	await ledger.balanced();
});

journey('references are keys, even if a key looks like the id of a different object', async (t, place) => {
	const ledger = await openLedger(t, place);
	const ann = await ledger.wrote(await place.http.post<{ id: string }>(`${place.facts}/users`, { key: 'ann' }));
	await ledger.wrote(await place.http.post(`${place.schema}/roles`, { key: 'r', name: 'R' }));
	const resource = { key: 'document', name: 'Document', actions: { read: {} }, roles: { r: { name: 'R' } } };
	const { roles } = await ledger.wrote(
		await place.http.post<{ roles: { r: { id: string } } }>(`${place.schema}/resources`, resource),
	);
	const held = { user: ann.id, role: 'r', tenant: 'default' };
	const document = {
		name: 'Document',
		actions: { read: { name: 'read' } },
		attributes: {},
		roles: { [roles.r.id]: { name: 'Id' }, a: { name: 'A', extends: [roles.r.id] }, r: { name: 'R' } },
	};
	await ledger.wrote(
		await imported(place, {
			...header,
			schema: { resources: { document } },
			facts: { users: { [ann.id]: {} }, role_assignments: [held] },
		}),
	);
	t.deepEqual(((await exported(place))['schema'] as Json)['resources'], { document });
	t.deepEqual((await place.http.get(`${place.facts}/users/ann`)).body['roles'], []);
	const { body } = await place.http.get<Listed>(`${place.facts}/role_assignments`);
	t.deepEqual(
		body.map((assignment) => (assignment as Json)['user']),
		[ann.id],
	);
	t.deepEqual((await exported(place))['facts'], {
		...newEnvironmentFacts,
		users: { [ann.id]: {}, ann: {} },
		role_assignments: [held],
	});
	await ledger.balanced();
});

journey('elements keep their webhooks, refer to objects by key, and can change their links', async (t, place) => {
	const ledger = await openLedger(t, place);
	const { http, elements: path } = place;
	const resource = { key: 'account', name: 'Account', actions: { pay: {} }, roles: { auditor: { name: 'Auditor' } } };
	const account = await ledger.wrote(
		await http.post<{ id: string; roles: { auditor: { id: string } } }>(`${place.schema}/resources`, resource),
	);
	const made = async (key: string, elements_type: string, settings: Json, more: Json = {}) =>
		(
			await ledger.wrote(
				await http.post<{ id: string }>(`${path}/config`, {
					key,
					name: key,
					elements_type,
					settings,
					roles_to_levels: {},
					...more,
				}),
			)
		).id;
	const webhook = { url: 'https://hooks.example.com/a-secret', bearer_token: 'a-token-of-the-receiver' };
	const people = await made('people', 'user_management', { default_role: account.roles.auditor.id }, { webhook });
	await made('others', 'user_management', {});
	await made('ask', 'approval_flow', { user_management_element: people });
	await made('beg', 'approval_flow', { user_management_element: 'others' });
	await made('pay', 'operation_approval', { resource: account.id, action: 'pay' });
	const document = await exported(place);
	const own = (document['schema'] as { elements_configs: Readonly<Record<string, Json>> }).elements_configs;
	t.deepEqual(own, {
		ask: { name: 'ask', ...asking('people') },
		beg: { name: 'beg', ...asking('others') },
		others: { name: 'others', elements_type: 'user_management' },
		pay: { name: 'pay', elements_type: 'operation_approval', settings: { action: 'pay', resource: 'account' } },
		people: { name: 'people', elements_type: 'user_management', settings: { default_role: 'account#auditor' } },
	});
	for (const secret of [webhook.url, webhook.bearer_token]) t.false(JSON.stringify(document).includes(secret));
	await ledger.kept(await imported(place, document, '?conflict_strategy=replace'));

	const bringing = (changed: Readonly<Record<string, Json>>, strategy = 'overwrite') => {
		const whole = { ...(document['schema'] as Json), elements_configs: { ...own, ...changed } };
		return imported(place, { ...document, schema: whole }, `?conflict_strategy=${strategy}`);
	};
	const linked = async (key: string) =>
		((await http.get<{ settings: Json }>(`${path}/config/${key}`)).body.settings as Json)['access_request_element'];
	fails(t, await bringing({ ask: { ...own['ask'], name: 'Other' } }, 'fail'), 409, '`ask`');
	// Two access request elements swap their user management elements, and `people` also gets a new name.
	await ledger.wrote(
		await bringing({
			ask: { name: 'ask', ...asking('others') },
			beg: { name: 'beg', ...asking('people') },
			people: { ...own['people'], name: 'People' },
		}),
	);
	t.deepEqual([await linked('others'), await linked('people')], ['ask', 'beg']);
	const kept = (await http.get<{ webhook: Json }>(`${path}/config/people`)).body;
	t.like(kept, { id: people, name: 'People', webhook: { url: webhook.url } });
	const [row] = await place.store.database.knex('elements_configs').where({ id: people });
	t.true(row.secret_webhook_token.length > 0, 'the webhook keeps its token');
	// An element with the same key but a different type is a different element.
	const { others: _, ...rest } = own;
	await ledger.wrote(
		await imported(
			place,
			{
				...document,
				schema: {
					...(document['schema'] as Json),
					elements_configs: { ...rest, beg: { name: 'beg', elements_type: 'user_management' } },
				},
			},
			'?conflict_strategy=replace',
		),
	);
	t.is(await linked('people'), 'ask');
	fails(t, await http.get(`${path}/config/others`), 404);
	t.is((await http.get(`${path}/config/beg`)).body['elements_type'], 'user_management');
	await ledger.balanced();
});

journey('only the maps of objects in a document can have more than 16,384 members', async (t, place) => {
	const wide = Object.fromEntries(Array.from({ length: 16_385 }, (_, index) => [`no key ${index}`, {}]));
	for (const half of [{ facts: { users: wide } }, { schema: { resources: wide } }]) {
		fails(t, await imported(place, { ...header, ...half }), 422, 'must be one or more of');
	}
	const objects: readonly Json[] = [
		wide,
		{ ...header, facts: wide },
		{ ...header, facts: { users: { ann: { attributes: wide } } } },
		{ ...header, schema: { resources: { document: { name: 'Document', actions: wide } } } },
	];
	for (const document of objects) fails(t, await imported(place, document), 413, 'at most 16384 members');
	t.is((await place.http.get<Listed>(`${place.facts}/users`)).status, 200);
});

journey('a document can be larger than other bodies', async (t, place) => {
	const padding = 'x'.repeat(15_000);
	const users = Object.fromEntries(
		Array.from({ length: 400 }, (_, index) => [`user-${index}`, { attributes: { padding } }]),
	);
	const document = { ...header, facts: { users } };
	t.true(JSON.stringify(document).length > 5 * 1024 * 1024);
	const ledger = await openLedger(t, place);
	const report = await ledger.wrote(await imported(place, document));
	t.is(report.total, 400);
	const length = 256 * 1024 * 1024 + 1;
	const announced = sending(place.url + environmentPath(place, 'import'), place.secret, length);
	announced.write('{}');
	const [refused] = (await once(announced, 'response')) as [IncomingMessage];
	t.is(refused.statusCode, 413);
	t.true((await text(refused)).includes(String(length - 1)));
	announced.destroy();
	await ledger.balanced();
});

journey(
	'facts in many chunks are imported completely or not at all, in the order of the document',
	async (t, place) => {
		const keys = Array.from({ length: 2_100 }, (_, index) => `user-${index}`);
		const assignedTo = (users: readonly string[]) => ({
			...header,
			schema: { roles: { member: { name: 'Member' } } },
			facts: {
				tenants: { acme: { name: 'Acme' } },
				users: Object.fromEntries(keys.map((key) => [key, {}])),
				role_assignments: users.map((user) => ({ user, role: 'member', tenant: 'acme' })),
			},
		});
		const ledger = await openLedger(t, place);
		const refused = await imported(place, assignedTo(keys.with(1_500, 'nobody').with(2_050, 'noone-else')));
		fails(t, refused, 404, 'facts.role_assignments.1500.user');
		await ledger.balanced();
		const { total, counts } = await ledger.wrote(await imported(place, assignedTo(keys)));
		t.is(total, 2 + 2 * keys.length);
		t.is(counts['role_assignment']?.['create'], keys.length);
		const { body } = await place.http.get<Paginated>(`${place.facts}/users?per_page=100&page=6`);
		t.deepEqual(listedKeys(body.data), keys.slice(500, 600));
		await ledger.balanced();
	},
);

/** Returns all possible decisions about the document's contents. */
async function decisions({ pdp }: Stack): Promise<readonly unknown[]> {
	const users = [...Object.keys(whole.facts.users), 'nobody'];
	const resources = ['document', 'empty', 'other'];
	const checks = users.flatMap((user) =>
		['acme', 'default', 'other'].flatMap((tenant) =>
			resources.flatMap((type) =>
				['read', 'write'].map((action) => ({ user: { key: user }, action, resource: { type, tenant } })),
			),
		),
	);
	const { body } = await pdp.post<{ allow: readonly { allow: boolean }[] }>('/allowed/bulk', checks);
	return body.allow.map(({ allow }) => allow);
}

async function exportText(t: ExecutionContext, stack: Stack): Promise<string> {
	const url = `${stack.api.listening.url}/v2/projects/default/envs/dev/export`;
	const answer = await fetch(url, { headers: { authorization: `Bearer ${stack.keys.environment}` } });
	t.is(answer.status, 200);
	return answer.text();
}

for (const [from, to] of [
	['embedded', 'server'],
	['server', 'embedded'],
] as const satisfies readonly (readonly [StoreKind, StoreKind])[]) {
	acrossStores(
		`an export from one store can be imported into the other store, and decisions stay the same [${from} to ${to}]`,
		async (t) => {
			const source = await startStack(from);
			const target = await startStack(to);
			try {
				const path = '/v2/projects/default/envs/dev/import?conflict_strategy=replace';
				await source.environment.post(path, whole);
				// Creates objects in other ways, in a different order and with different ids.
				await source.environment.post(`${schema}/roles`, { key: 'b', name: 'B', extends: ['a'] });
				await source.environment.post(`${facts}/users`, {
					key: 'Zoe',
					role_assignments: [{ role: 'b', tenant: 'acme' }],
				});
				await target.environment.post(`${facts}/users`, { key: 'goes' });
				const text = await exportText(t, source);
				const written = await target.environment.post(path, undefined, { raw: text });
				t.is(written.status, 200, JSON.stringify(written.body));
				t.is(await exportText(t, target), text, 'byte for byte');

				await source.reached((await source.environment.get('/v2/projects/default/envs/dev/export')).revision);
				await target.reached(written.revision);
				const decided = await decisions(source);
				t.deepEqual(await decisions(target), decided);
				t.true(decided.includes(true) && decided.includes(false));
			} finally {
				await source.stop();
				await target.stop();
			}
		},
	);
}

/** Begins to send a document with this length. `write` sends further parts. */
function sending(url: string, secret: string, length: number): ClientRequest {
	const headers = { authorization: `Bearer ${secret}`, 'content-length': String(length) };
	const sent = request(url, { method: 'POST', headers });
	sent.on('error', () => {});
	return sent;
}

journey(
	'a document is parsed only for callers that may import it, and access is checked again afterwards',
	async (t, place, site) => {
		const path = site.url + environmentPath(place, 'import');
		const status = async (sent: ClientRequest) => {
			const [answer] = (await once(sent, 'response')) as [IncomingMessage];
			answer.resume();
			return answer.statusCode;
		};
		const strange = sending(path, `${place.secret}-not`, 200_000_000);
		strange.write('{');
		t.is(await status(strange), 401, 'before the document has arrived');
		strange.destroy();

		const body = JSON.stringify({ ...header, schema: { roles: { late: { name: 'Late', permissions: [] } } } }).padEnd(
			40_000,
		);
		const late = sending(path, place.secret, body.length);
		late.write(body.slice(0, 10));
		// When these requests complete, the server has received the first bytes of the document.
		for (let round = 0; round < 5; round += 1) await place.http.get(`${place.schema}/roles`);
		const { status: deleted } = await site.organization.delete(`/v2/api-key/${place.key_id}`);
		t.is(deleted, 204);
		late.end(body.slice(10));
		t.is(await status(late), 401);
	},
);

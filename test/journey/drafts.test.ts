// @alone @rest

import type { ExecutionContext } from 'ava';
import test from 'ava';
import { maxSteps } from '../../src/domain/check-limit/check-steps.js';
import { newestChanges } from '../support/changes.js';
import type { Answer, Client } from '../support/client.js';
import { client } from '../support/client.js';
import {
	applyDraft,
	type DraftedChange,
	draftKinds,
	environmentPath,
	type Previewed,
	previewDraft,
} from '../support/drafts.js';
import { onEachStore } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { createSecret, newPlace, type Place } from '../support/management.js';
import { scopeIn } from '../support/scope.js';

/** Drafts contain changes to many objects. They can be previewed, and are applied either completely or not at all. */

// Serial, because the time limit for a preview is ten seconds, and a dozen concurrent drafts take that long on a busy
// machine.
const journey = onEachStore({ declare: test.serial });

type Json = Readonly<Record<string, unknown>>;

/** Contents of the environment for the drafts in these tests. */
const given = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			document: {
				name: 'Document',
				actions: { read: {}, write: {} },
				attributes: { private: { type: 'bool' } },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				action_groups: { all: { name: 'All', actions: ['read', 'write'] } },
				roles: {
					editor: {
						name: 'Editor',
						permissions: ['write'],
						granted_to: {
							users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }],
						},
					},
					viewer: { name: 'Viewer', permissions: ['read'] },
				},
			},
			folder: { name: 'Folder', actions: { open: {} }, roles: { owner: { name: 'Owner' } } },
		},
		user_attributes: { age: { type: 'number' } },
		roles: {
			author: { name: 'Author', permissions: ['document:write'], extends: ['reader'] },
			reader: { name: 'Reader', permissions: ['document:read'] },
		},
		condition_sets: {
			adults: { name: 'Adults', type: 'userset', conditions: { 'user.age': { 'greater-than': 17 } } },
			elders: { name: 'Elders', type: 'userset', conditions: {}, parent: 'adults' },
			hidden: { name: 'Hidden', type: 'resourceset', conditions: {}, resource: 'document' },
		},
		set_rules: [{ user_set: 'adults', permission: 'document:read', resource_set: 'hidden' }],
		elements_configs: { log: { name: 'Log', elements_type: 'audit_log', role_levels: { reader: 'LEVEL_1' } } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' }, default: { name: 'Default Tenant' } },
		users: { ann: { first_name: 'Ann' }, ben: {} },
		tenant_users: [{ user: 'ann', tenant: 'acme' }],
		resource_instances: {
			'document:budget': { tenant: 'acme' },
			'document:plan': { tenant: 'acme' },
			'folder:finance': { tenant: 'acme' },
		},
		groups: { 'folder:finance': {} },
		made_for_groups: [{ resource: 'folder', role: 'owner' }],
		relationship_tuples: [{ subject: 'folder:finance', relation: 'parent', object: 'document:budget' }],
		role_assignments: [
			{ user: 'ann', role: 'author', tenant: 'acme' },
			{ user: 'ben', role: 'viewer', resource_instance: 'document:budget' },
		],
		user_invites: { zoe: { email: 'zoe@example.com', role: 'reader', tenant: 'acme' } },
	},
} as const;

async function furnish(place: Place): Promise<void> {
	const answer = await place.http.post(environmentPath(place, 'import?conflict_strategy=replace'), given);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

async function exported(place: Place, query = ''): Promise<Json> {
	const { environment: _, ...document } = (await place.http.get(environmentPath(place, `export${query}`))).body;
	return document;
}

interface Undone extends Json {
	readonly base_revision: number;
	readonly changes: readonly DraftedChange[];
	readonly left: readonly { readonly kind: string; readonly operation: string; readonly key: string }[];
}

const undo = (place: Place, revision: number | string, body: object = {}) =>
	place.http.post<Undone>(environmentPath(place, `changes/${revision}/undo`), body);

journey('undoing a single change of a revision builds on the resources in the draft', async (t, place) => {
	await furnish(place);
	const { name, actions, attributes } = given.schema.resources.document;
	const own = { name, actions, attributes };
	const { revision } = (
		await applyDraft(place, [
			{
				kind: 'resource',
				operation: 'update',
				key: 'document',
				value: { ...own, actions: { ...own.actions, sign: {} } },
			},
			removeRole('author'),
		])
	).body;
	const logged = await place.http.get<{
		data: readonly { kind: string; key: string; position: number; undoable: boolean }[];
	}>(environmentPath(place, `changes?revision_from=${revision}&revision_to=${revision}`));
	t.true(logged.body.data.every(({ undoable }) => undoable));
	const [{ position } = { position: -1 }] = logged.body.data.filter(({ key }) => key === 'document:sign');
	const print = { name: 'Print' };
	const both = { sign: { name: 'Sign' }, print };
	const drafted = { kind: 'resource', operation: 'update', key: 'document', value: { name: 'Essay', actions: both } };
	const one = await undo(place, revision, { position, changes: [drafted] });
	t.deepEqual(one.body, {
		base_revision: revision,
		changes: [{ ...drafted, value: { name: 'Essay', actions: { print }, attributes: {} } }],
		left: [],
	});
	const whole = await undo(place, revision);
	t.deepEqual(whole.body.changes.map(({ kind, operation }) => `${operation} ${kind}`).sort(), [
		'create role',
		'create role_assignment',
		'update resource',
	]);
	const { revision: gone = 0 } = await place.http.delete(`${place.schema}/resources/folder`);
	const deleted = await place.http.get<{ data: readonly { kind: string; position: number; undoable: boolean }[] }>(
		environmentPath(place, `changes?kind=resource&revision_from=${gone}`),
	);
	const [folder = { position: -1, undoable: true }] = deleted.body.data;
	t.false(folder.undoable, 'its parts belong to other changes');
	fails(t, await undo(place, gone, { position: folder.position }), 409, 'cannot undo');
	t.is((await undo(place, gone)).status, 200);
	for (const missing of ['x', '999', String(revision)]) {
		fails(t, await undo(place, missing, { position: 999 }), 404, missing);
	}
	const users = Array.from({ length: 1001 }, (_, index) => [`user-${index}`, {}] as const);
	const document = { ...given, schema: undefined, facts: { users: Object.fromEntries(users) } };
	const imported = await place.http.post(environmentPath(place, 'import'), document);
	fails(t, await undo(place, imported.revision ?? 0), 409, 'more than 1000 changes');
	t.is((await undo(place, imported.revision ?? 0, { position: 7 })).status, 200);
	const note = { attributes: { note: 'x'.repeat(60_000) } };
	const large = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`large-${index}`, note]));
	const wide = await place.http.post(environmentPath(place, 'import'), { ...document, facts: { users: large } });
	fails(t, await undo(place, wide.revision ?? 0), 409, 'larger than 8388608 bytes');
	t.is((await undo(place, wide.revision ?? 0, { position: 7 })).status, 200);
});

const createRole = (key: string, value: object = {}): DraftedChange => {
	return { kind: 'role', operation: 'create', key, value: { name: key, ...value } };
};
const removeRole = (key: string): DraftedChange => ({ kind: 'role', operation: 'delete', key });

journey('the changes of a draft can refer to each other in any order, and become one revision', async (t, place) => {
	await furnish(place);
	const original = (await exported(place)) as { schema: Json; facts: Json };
	const ledger = await openLedger(t, place);
	const changes: readonly DraftedChange[] = [
		{ kind: 'role_assignment', operation: 'create', value: { user: 'eve', role: 'clerk', tenant: 'beta' } },
		{
			kind: 'relationship_tuple',
			operation: 'create',
			value: { subject: 'shelf:s', relation: 'on', object: 'book:b' },
		},
		{ kind: 'resource_instance', operation: 'create', key: 'book:b', value: { tenant: 'beta' } },
		{ kind: 'resource_instance', operation: 'create', key: 'shelf:s', value: { tenant: 'beta' } },
		{ kind: 'user', operation: 'create', key: 'eve', value: {} },
		{ kind: 'tenant', operation: 'create', key: 'beta', value: { name: 'Beta' } },
		{
			kind: 'condition_set_rule',
			operation: 'create',
			value: { user_set: '__autogen_clerk', permission: 'book:read', resource_set: 'old_books' },
		},
		{
			kind: 'condition_set',
			operation: 'create',
			key: 'old_books',
			value: {
				name: 'Old',
				type: 'resourceset',
				resource: 'book',
				conditions: { 'resource.year': { 'less-than': 1900 } },
			},
		},
		createRole('clerk', { permissions: ['book:read'], extends: ['trainee'] }),
		createRole('trainee'),
		{
			kind: 'resource_role',
			operation: 'create',
			key: 'book:keeper',
			value: {
				name: 'Keeper',
				permissions: ['read'],
				granted_to: { users_with_role: [{ role: 'keeper', on_resource: 'shelf', linked_by_relation: 'on' }] },
			},
		},
		{ kind: 'resource_role', operation: 'create', key: 'shelf:keeper', value: { name: 'Keeper' } },
		{ kind: 'relation', operation: 'create', key: 'book:on', value: { name: 'On', subject_resource: 'shelf' } },
		{
			kind: 'resource',
			operation: 'create',
			key: 'book',
			value: { name: 'Book', actions: { read: {} }, attributes: { year: { type: 'number' } } },
		},
		{ kind: 'resource', operation: 'create', key: 'shelf', value: { name: 'Shelf' } },
		{ kind: 'resource', operation: 'delete', key: 'folder' },
		removeRole('reader'),
		{
			kind: 'resource_role',
			operation: 'update',
			key: 'document:editor',
			value: { name: 'Editor', permissions: ['write'], extends: ['viewer'] },
		},
	];
	const preview = await ledger.read(await previewDraft(place, changes));
	const told = await ledger.wrote(await applyDraft(place, changes));
	t.is(preview.total, told.changes.total);
	t.deepEqual(
		preview.changes.map(({ kind, operation, key }) => ({ kind, operation, key })),
		told.changes.changes,
	);
	const gone = told.changes.changes
		.filter(({ operation }) => operation === 'delete')
		.map(({ kind, key }) => `${kind} ${key}`);
	t.deepEqual(
		[...gone].sort(),
		[
			'group folder:finance',
			'relation document:parent',
			'relationship_tuple document:budget#parent@folder:finance',
			'resource folder',
			'resource_action folder:open',
			'resource_instance folder:finance',
			'role folder:owner',
			'role reader',
			'user_invite zoe',
		],
		'cascading deletions are listed',
	);
	const { schema, facts } = (await exported(place)) as { schema: Json; facts: Json };
	t.like(schema['roles'], { clerk: { name: 'clerk', permissions: ['book:read'], extends: ['trainee'] } });
	t.deepEqual((facts['relationship_tuples'] as readonly Json[])[0], {
		subject: 'shelf:s',
		relation: 'on',
		object: 'book:b',
	});

	const undone = await ledger.read(await undo(place, told.revision));
	t.deepEqual(undone.left.map(({ kind, operation, key }) => `${operation} ${kind} ${key}`).sort(), [
		'delete user_invite zoe',
		'update elements_config log',
	]);
	await ledger.wrote(await applyDraft(place, undone.changes, undone.base_revision));
	const log = { name: 'Log', elements_type: 'audit_log' };
	const restored = {
		...original,
		schema: { ...original.schema, elements_configs: { log } },
		facts: { ...original.facts, user_invites: {}, made_for_groups: [] },
	};
	t.deepEqual(await exported(place), restored, 'all other changes are undone');
	await ledger.balanced();
});

/** Sends the request that is equivalent to a draft with a single change. */
type Request = (place: Place) => Promise<Answer<unknown>>;

const { roles, resources } = given.schema;
const invite = given.facts.user_invites.zoe;
const rule = given.schema.set_rules[0];
const [tuple] = given.facts.relationship_tuples;
const [, held] = given.facts.role_assignments;
const later = '2999-01-01T00:00:00.000Z';

/** Changes of every kind, each with an equivalent request to an endpoint. */
const sameAsEndpoints: readonly (readonly [DraftedChange, Request])[] = [
	[
		{
			kind: 'resource',
			operation: 'create',
			key: 'report',
			value: { name: 'Report', actions: { read: { name: 'Read' } }, attributes: { size: { type: 'number' } } },
		},
		({ http, schema }) =>
			http.post(`${schema}/resources`, {
				key: 'report',
				name: 'Report',
				actions: { read: { name: 'Read' } },
				attributes: { size: { type: 'number' } },
			}),
	],
	[
		{ kind: 'resource', operation: 'update', key: 'document', value: { name: 'Paper', actions: { read: {} } } },
		({ http, schema }) =>
			http.patch(`${schema}/resources/document`, {
				name: 'Paper',
				actions: { read: { name: 'read' } },
				attributes: {},
			}),
	],
	[
		{ kind: 'resource', operation: 'delete', key: 'folder' },
		({ http, schema }) => http.delete(`${schema}/resources/folder`),
	],
	[
		{
			kind: 'relation',
			operation: 'create',
			key: 'folder:parent',
			value: { name: 'Parent', subject_resource: 'folder' },
		},
		({ http, schema }) =>
			http.post(`${schema}/resources/folder/relations`, { key: 'parent', name: 'Parent', subject_resource: 'folder' }),
	],
	[
		{ kind: 'relation', operation: 'delete', key: 'document:parent' },
		({ http, schema }) => http.delete(`${schema}/resources/document/relations/parent`),
	],
	[
		{
			kind: 'action_group',
			operation: 'update',
			key: 'document:all',
			value: { name: 'Some', actions: ['write'] },
		},
		({ http, schema }) =>
			http.patch(`${schema}/resources/document/action_groups/all`, { name: 'Some', actions: ['write'] }),
	],
	[
		{ kind: 'action_group', operation: 'delete', key: 'document:all' },
		({ http, schema }) => http.delete(`${schema}/resources/document/action_groups/all`),
	],
	[
		{
			kind: 'resource_role',
			operation: 'update',
			key: 'document:viewer',
			value: { ...resources.document.roles.viewer, permissions: ['read', 'write'] },
		},
		({ http, schema }) => http.patch(`${schema}/resources/document/roles/viewer`, { permissions: ['read', 'write'] }),
	],
	[
		{ kind: 'resource_role', operation: 'delete', key: 'folder:owner' },
		({ http, schema }) => http.delete(`${schema}/resources/folder/roles/owner`),
	],
	[
		{ kind: 'user_attribute', operation: 'create', key: 'team', value: { type: 'string' } },
		({ http, schema }) => http.post(`${schema}/users/attributes`, { key: 'team', type: 'string' }),
	],
	[
		{ kind: 'user_attribute', operation: 'update', key: 'age', value: { type: 'number', description: 'In years' } },
		({ http, schema }) => http.patch(`${schema}/users/attributes/age`, { description: 'In years' }),
	],
	[
		createRole('guest', { permissions: ['folder:open'], extends: ['reader'] }),
		({ http, schema }) =>
			http.post(`${schema}/roles`, { key: 'guest', name: 'guest', permissions: ['folder:open'], extends: ['reader'] }),
	],
	[
		{ kind: 'role', operation: 'update', key: 'author', value: { ...roles.author, extends: [] } },
		({ http, schema }) => http.patch(`${schema}/roles/author`, { extends: [] }),
	],
	[removeRole('reader'), ({ http, schema }) => http.delete(`${schema}/roles/reader`)],
	[
		{
			kind: 'condition_set',
			operation: 'update',
			key: 'hidden',
			value: {
				name: 'Hidden',
				type: 'resourceset',
				resource: 'document',
				conditions: { 'resource.private': { equals: true } },
			},
		},
		({ http, schema }) =>
			http.patch(`${schema}/condition_sets/hidden`, { conditions: { 'resource.private': { equals: true } } }),
	],
	[
		{ kind: 'condition_set', operation: 'delete', key: 'hidden' },
		({ http, schema }) => http.delete(`${schema}/condition_sets/hidden`),
	],
	[
		{
			kind: 'condition_set_rule',
			operation: 'create',
			value: { user_set: '__autogen_reader', permission: 'document:read', resource_set: 'hidden' },
		},
		({ http, facts }) =>
			http.post(`${facts}/set_rules`, {
				user_set: 'reader',
				is_role: true,
				permission: 'document:read',
				resource_set: 'hidden',
			}),
	],
	[
		{ kind: 'condition_set_rule', operation: 'delete', value: rule },
		({ http, facts }) => http.delete(`${facts}/set_rules`, rule),
	],
	[
		{
			kind: 'elements_config',
			operation: 'create',
			key: 'people',
			value: { name: 'People', elements_type: 'user_management' },
		},
		({ http, elements }) =>
			http.post(`${elements}/config`, {
				key: 'people',
				name: 'People',
				elements_type: 'user_management',
				settings: {},
				roles_to_levels: {},
			}),
	],
	[
		{ kind: 'elements_config', operation: 'delete', key: 'log' },
		({ http, elements }) => http.delete(`${elements}/config/log`),
	],
	[
		{ kind: 'tenant', operation: 'update', key: 'acme', value: { name: 'Acme', attributes: { plan: 'gold' } } },
		({ http, facts }) => http.patch(`${facts}/tenants/acme`, { attributes: { plan: 'gold' } }),
	],
	[
		{
			kind: 'check_test',
			operation: 'create',
			key: 'strangers',
			value: { check: { user: 'x', action: 'read', resource: 'document' }, expected: 'deny' },
		},
		({ http, schema }) =>
			http.post(`${schema}/check_tests`, {
				key: 'strangers',
				check: { user: 'x', action: 'read', resource: 'document' },
				expected: 'deny',
			}),
	],
	[{ kind: 'tenant', operation: 'delete', key: 'acme' }, ({ http, facts }) => http.delete(`${facts}/tenants/acme`)],
	[
		{ kind: 'user', operation: 'update', key: 'ann', value: { first_name: 'Anna', attributes: { age: 40 } } },
		({ http, facts }) => http.patch(`${facts}/users/ann`, { first_name: 'Anna', attributes: { age: 40 } }),
	],
	[{ kind: 'user', operation: 'delete', key: 'ann' }, ({ http, facts }) => http.delete(`${facts}/users/ann`)],
	[
		{ kind: 'tenant_user', operation: 'create', value: { user: 'ben', tenant: 'default' } },
		({ http, facts }) => http.post(`${facts}/tenants/default/users`, { key: 'ben' }),
	],
	[
		{ kind: 'resource_instance', operation: 'create', key: 'document:memo', value: { tenant: 'acme' } },
		({ http, facts }) =>
			http.post(`${facts}/resource_instances`, { resource: 'document', key: 'memo', tenant: 'acme' }),
	],
	[
		{ kind: 'resource_instance', operation: 'delete', key: 'folder:finance' },
		({ http, facts }) => http.delete(`${facts}/resource_instances/folder:finance`),
	],
	[
		{
			kind: 'relationship_tuple',
			operation: 'create',
			value: { subject: 'folder:finance', relation: 'parent', object: 'document:plan', expires_at: later },
		},
		({ http, facts }) =>
			http.post(`${facts}/relationship_tuples`, {
				subject: 'folder:finance',
				relation: 'parent',
				object: 'document:plan',
				expires_at: later,
			}),
	],
	[
		{ kind: 'relationship_tuple', operation: 'delete', value: tuple },
		({ http, facts }) => http.delete(`${facts}/relationship_tuples`, tuple),
	],
	[
		{
			kind: 'role_assignment',
			operation: 'create',
			value: { user: 'ben', role: 'reader', tenant: 'acme', expires_at: later },
		},
		({ http, facts }) =>
			http.post(`${facts}/role_assignments`, { user: 'ben', role: 'reader', tenant: 'acme', expires_at: later }),
	],
	[
		{ kind: 'role_assignment', operation: 'delete', value: held },
		({ http, facts }) => http.delete(`${facts}/role_assignments`, { ...held, tenant: 'acme' }),
	],
	[
		{ kind: 'user_invite', operation: 'update', key: 'zoe', value: { ...invite, first_name: 'Zoe' } },
		({ http, facts }) => http.patch(`${facts}/user_invites/zoe`, { first_name: 'Zoe' }),
	],
	[
		{ kind: 'user_invite', operation: 'delete', key: 'zoe' },
		({ http, facts }) => http.delete(`${facts}/user_invites/zoe`),
	],
];

journey('a draft change has the same effect and log entry as its endpoint', async (t, place, management) => {
	const other = await newPlace(management, management.project);
	for (const [change, request] of sameAsEndpoints) {
		const what = JSON.stringify(change);
		await Promise.all([furnish(place), furnish(other)]);
		const answer = await request(other);
		t.true(answer.status < 300, `${what}: ${JSON.stringify(answer.body)}`);
		const applied = await applyDraft(place, [change]);
		t.is(applied.status, 200, `${what}: ${JSON.stringify(applied.body)}`);
		t.deepEqual(await exported(place), await exported(other), what);
		t.deepEqual(await newestChanges(place), await newestChanges(other), what);
		t.is(applied.body.revision, await place.revision());
		t.is(applied.revision, applied.body.revision);
	}
	// Only documents can turn an instance into a group, or mark objects as created for groups.
	const tried = new Set([...sameAsEndpoints.map(([{ kind }]) => kind), 'group', 'made_for_groups']);
	t.deepEqual([...tried].sort(), [...draftKinds].sort());
});

journey('an empty draft, or a draft without effect, creates no revision', async (t, place) => {
	await furnish(place);
	const ledger = await openLedger(t, place);
	const same = { kind: 'role', operation: 'update', key: 'reader', value: roles.reader } as const;
	for (const changes of [[], [same]]) {
		const nothing = { total: 0, counts: {}, changes: [] };
		t.deepEqual((await ledger.kept(await applyDraft(place, changes))).changes, nothing);
		const { policy, ...preview } = await ledger.read(await previewDraft(place, changes));
		const revision = await place.revision();
		t.deepEqual(preview, { base_revision: revision, revision, total: 0, changes: [], truncated: false });
		t.deepEqual(policy, { files: [], truncated: false, diagnostics: [], failure: null });
	}
	await ledger.balanced();
});

/**
 * Rejected drafts, each with the status, and the value named in the response or, for 422, the problem locations.
 */
const refused: readonly (readonly [changes: readonly unknown[], status: number, named: string])[] = [
	[[createRole('reader')], 409, 'the role `reader` already exists, at changes.0'],
	[[createRole('new'), removeRole('missing')], 404, 'the role `missing` does not exist, at changes.1'],
	[[{ kind: 'role', operation: 'update', key: 'missing', value: { name: 'M' } }], 404, 'at changes.0'],
	[[{ kind: 'user', operation: 'create', key: 'ann', value: {} }], 409, 'the user `ann` already exists'],
	[[{ kind: 'resource', operation: 'create', key: '__user', value: { name: 'U' } }], 409, '`__user`'],
	[[{ kind: 'resource', operation: 'delete', key: '__user' }], 400, 'is built-in and cannot be deleted, at changes.0'],
	[[{ kind: 'relation', operation: 'delete', key: 'folder:parent' }], 404, 'the relation `folder:parent`'],
	[[{ kind: 'condition_set_rule', operation: 'create', value: rule }], 409, 'already exists, at changes.0'],
	[[{ kind: 'role_assignment', operation: 'update', value: { ...held, role: 'editor' } }], 404, 'at changes.0'],
	[[{ kind: 'user_attribute', operation: 'delete', key: 'email' }], 400, 'built-in'],

	[[createRole('a', { permissions: ['document:fly'] })], 404, 'at changes.0.value.permissions.0'],
	[[removeRole('reader'), createRole('a', { extends: ['reader'] })], 404, 'at changes.1.value.extends.0'],
	[
		[{ kind: 'relation', operation: 'create', key: 'folder:x', value: { name: 'X', subject_resource: 'nothing' } }],
		404,
		'at changes.0.value.subject_resource',
	],
	[[{ kind: 'resource_role', operation: 'create', key: 'nothing:a', value: { name: 'A' } }], 404, 'at changes.0.key'],
	[
		[
			{ kind: 'resource', operation: 'delete', key: 'folder' },
			{ kind: 'resource_role', operation: 'update', key: 'folder:owner', value: { name: 'O' } },
		],
		404,
		'at changes.1.key',
	],
	[
		[{ kind: 'role_assignment', operation: 'create', value: { user: 'nobody', role: 'reader', tenant: 'acme' } }],
		404,
		'at changes.0.value.user',
	],
	[
		[
			{ kind: 'user', operation: 'delete', key: 'ben' },
			{ kind: 'role_assignment', operation: 'create', value: { user: 'ben', role: 'reader', tenant: 'acme' } },
		],
		404,
		'at changes.1.value.user',
	],
	[
		[{ kind: 'user_invite', operation: 'update', key: 'zoe', value: { ...invite, tenant: 'nowhere' } }],
		404,
		'at changes.0.value.tenant',
	],
	[
		[createRole('a', { extends: ['b'] }), createRole('b', { extends: ['a'] })],
		422,
		'body.changes.0.value.extends body.changes.1.value.extends',
	],
	[[{ kind: 'condition_set', operation: 'delete', key: 'adults' }], 400, 'the parent of `elders`'],
	[
		[
			{
				kind: 'condition_set',
				operation: 'update',
				key: 'adults',
				value: { name: 'A', type: 'resourceset', resource: 'document' },
			},
		],
		422,
		'body.changes.0.value',
	],
	[
		[
			{
				kind: 'condition_set',
				operation: 'update',
				key: 'adults',
				value: { name: 'Adults', type: 'userset', conditions: { 'user.size': { equals: 1 } } },
			},
		],
		422,
		'body.changes.0.value.conditions.user.size',
	],

	[[createRole('a'), removeRole('reader'), createRole('a')], 422, 'body.changes.2.key'],
	[
		[
			{ kind: 'role_assignment', operation: 'delete', value: held },
			{ kind: 'role_assignment', operation: 'update', value: { ...held, expires_at: later } },
		],
		422,
		'body.changes.1.value',
	],
	[
		[{ kind: 'role_assignment', operation: 'update', value: { ...held, expires_at: '2020-01-01T00:00:00Z' } }],
		422,
		'body.changes.0.value.expires_at',
	],
	[
		[
			{
				kind: 'user_invite',
				operation: 'update',
				key: 'zoe',
				value: { ...invite, invite_expires_at: '2020-01-01T00:00:00Z' },
			},
		],
		422,
		'body.changes.0.value.invite_expires_at',
	],
	[[createRole('a', { granted_to: {} })], 422, 'body.changes.0.value.granted_to'],
	[[{ kind: 'role', operation: 'create', key: 'a' }], 422, 'body.changes.0.value'],
	[[{ ...removeRole('reader'), value: roles.reader }], 422, 'body.changes.0.value'],
	[
		[{ kind: 'tenant_user', operation: 'update', value: { user: 'ann', tenant: 'acme' } }],
		422,
		'body.changes.0.operation',
	],
	[[{ kind: 'role_assignment', operation: 'delete', key: 'ann', value: held }], 422, 'body.changes.0.key'],
	[[{ ...createRole('a'), comment: 'why' }], 422, 'body.changes.0.comment'],
	[[createRole('a'), { kind: 'proxy_config', operation: 'delete', key: 'a' }], 422, 'body.changes.1.kind'],
	[
		[
			{
				kind: 'resource',
				operation: 'update',
				key: 'document',
				value: { name: 'D', roles: { viewer: { name: 'V' } } },
			},
		],
		422,
		'body.changes.0.value.roles',
	],
	[
		[
			{
				kind: 'resource',
				operation: 'update',
				key: '__user',
				value: { name: 'U', attributes: { age: { type: 'number' } } },
			},
		],
		422,
		'body.changes.0.value.attributes',
	],
	[Array.from({ length: 1001 }, (_, index) => createRole(`r${index}`)), 422, 'body.changes'],
];

journey('an invalid draft is rejected with the location of the problem, and nothing is applied', async (t, place) => {
	await furnish(place);
	const before = await exported(place);
	const ledger = await openLedger(t, place);
	for (const [changes, status, named] of refused) {
		const isPlace = status === 422;
		for (const send of [previewDraft, applyDraft]) {
			const answer = await send(place, [createRole('bystander'), ...changes].slice(changes.length > 1000 ? 1 : 0));
			const moved =
				changes.length > 1000 ? named : named.replaceAll(/changes\.(\d+)/g, (_, n) => `changes.${Number(n) + 1}`);
			fails(t, answer, status, isPlace ? '' : moved);
			if (isPlace) t.is(problemPlaces(answer).join(' '), moved, JSON.stringify(answer.body));
		}
	}
	t.deepEqual(await exported(place), before);
	await ledger.balanced();
});

/** Requests since the draft's base, the draft's change, and the conflicting entries in the change log. */
const meanwhile: readonly (readonly [
	what: string,
	requests: readonly Request[],
	change: DraftedChange,
	conflicts: readonly string[],
])[] = [
	[
		'it was changed',
		[({ http, schema }) => http.patch(`${schema}/roles/reader`, { name: 'R' })],
		removeRole('reader'),
		['update role reader'],
	],
	[
		'it was changed, and changed back',
		[
			({ http, schema }) => http.patch(`${schema}/roles/reader`, { name: 'R' }),
			({ http, schema }) => http.patch(`${schema}/roles/reader`, { name: 'Reader' }),
		],
		{ kind: 'role', operation: 'update', key: 'reader', value: { name: 'Mine' } },
		['update role reader'],
	],
	[
		'it was created',
		[({ http, schema }) => http.post(`${schema}/roles`, { key: 'guest', name: 'G' })],
		createRole('guest'),
		['create role guest'],
	],
	[
		'it was deleted and recreated',
		[
			({ http, facts }) => http.delete(`${facts}/users/ben`),
			({ http, facts }) => http.post(`${facts}/users`, { key: 'ben' }),
		],
		{ kind: 'user', operation: 'update', key: 'ben', value: { first_name: 'B' } },
		['create user ben'],
	],
	[
		'it was deleted by cascade',
		[({ http, facts }) => http.delete(`${facts}/tenants/acme`)],
		{ kind: 'role_assignment', operation: 'delete', value: given.facts.role_assignments[0] },
		['delete role_assignment ann#author@acme'],
	],
	[
		'its permission was deleted by cascade',
		[({ http, schema }) => http.delete(`${schema}/resources/document/actions/read`)],
		{ kind: 'role', operation: 'update', key: 'reader', value: { name: 'Mine' } },
		['update role reader'],
	],
	[
		'an action of the resource was added',
		[({ http, schema }) => http.post(`${schema}/resources/document/actions`, { key: 'sign', name: 'Sign' })],
		{ kind: 'resource', operation: 'update', key: 'document', value: { name: 'Paper', actions: { read: {} } } },
		['create resource_action document:sign'],
	],
	[
		'an attribute of the resource was changed',
		[({ http, schema }) => http.patch(`${schema}/resources/document/attributes/private`, { description: 'P' })],
		{ kind: 'resource', operation: 'update', key: 'document', value: { name: 'Paper' } },
		['update resource_attribute document:private'],
	],
	[
		'a role was added to a resource that the draft deletes',
		[({ http, schema }) => http.post(`${schema}/resources/folder/roles`, { key: 'guest', name: 'G' })],
		{ kind: 'resource', operation: 'delete', key: 'folder' },
		['create role folder:guest'],
	],
	[
		'the resource was deleted',
		[({ http, schema }) => http.delete(`${schema}/resources/folder`)],
		{ kind: 'resource_role', operation: 'create', key: 'folder:guest', value: { name: 'G' } },
		['delete resource folder'],
	],
	[
		'the resource was deleted and recreated',
		[
			({ http, schema }) => http.delete(`${schema}/resources/folder`),
			({ http, schema }) => http.post(`${schema}/resources`, { key: 'folder', name: 'F', actions: {} }),
		],
		{ kind: 'resource_instance', operation: 'create', key: 'folder:new', value: { tenant: 'acme' } },
		['delete resource folder'],
	],
	[
		'the rule was deleted and recreated',
		[
			({ http, facts }) => http.delete(`${facts}/set_rules`, rule),
			({ http, facts }) => http.post(`${facts}/set_rules`, rule),
		],
		{ kind: 'condition_set_rule', operation: 'delete', value: rule },
		['create condition_set_rule adults_can_document_read_hidden'],
	],
	[
		'the relationship got an expiry',
		[
			({ http, facts }) => http.delete(`${facts}/relationship_tuples`, tuple),
			({ http, facts }) => http.post(`${facts}/relationship_tuples`, { ...tuple, expires_at: later }),
		],
		{ kind: 'relationship_tuple', operation: 'update', value: tuple },
		['create relationship_tuple document:budget#parent@folder:finance'],
	],
	[
		'the attribute of users was changed',
		[({ http, schema }) => http.patch(`${schema}/users/attributes/age`, { description: 'A' })],
		{ kind: 'user_attribute', operation: 'update', key: 'age', value: { type: 'string' } },
		['update resource_attribute __user:age'],
	],
	[
		'the element was changed',
		[({ http, elements }) => http.patch(`${elements}/config/log`, { name: 'L' })],
		{ kind: 'elements_config', operation: 'delete', key: 'log' },
		['update elements_config log'],
	],
	[
		'the group was deleted',
		[({ http, schema }) => http.delete(`${schema}/groups/folder:finance`)],
		{ kind: 'group', operation: 'delete', key: 'folder:finance' },
		['delete group folder:finance'],
	],
	[
		'other objects were changed',
		[
			({ http, schema }) => http.patch(`${schema}/roles/author`, { name: 'A' }),
			({ http, schema }) => http.patch(`${schema}/resources/document`, { name: 'D' }),
			({ http, schema }) => http.post(`${schema}/resources/folder/roles`, { key: 'reader', name: 'G' }),
			({ http, schema }) => http.post(`${schema}/users/attributes`, { key: 'reader', type: 'bool' }),
			({ http, facts }) => http.post(`${facts}/users`, { key: 'reader' }),
		],
		{ kind: 'role', operation: 'update', key: 'reader', value: { name: 'Mine', permissions: ['document:read'] } },
		[],
	],
	[
		'the resource of a role was changed, not deleted',
		[({ http, schema }) => http.patch(`${schema}/resources/document`, { name: 'D' })],
		{ kind: 'resource_role', operation: 'create', key: 'document:guest', value: { name: 'G' } },
		[],
	],
	[
		'a change to a user attribute is not a change to the resource `__user`',
		[({ http, schema }) => http.patch(`${schema}/users/attributes/age`, { description: 'A' })],
		{ kind: 'resource', operation: 'update', key: '__user', value: { name: 'Person' } },
		[],
	],
	[
		'another rule has the same key in the log',
		[
			({ http, schema }) => http.post(`${schema}/resources`, { key: 'document_read', name: 'D', actions: { x: {} } }),
			({ http, schema }) => http.post(`${schema}/resources`, { key: 'document', name: 'D', actions: {} }),
			({ http, facts }) =>
				http.post(`${facts}/set_rules`, {
					user_set: 'adults',
					permission: 'document_read:x',
					resource_set: 'document_read',
					is_resource: true,
				}),
		],
		{
			kind: 'condition_set_rule',
			operation: 'create',
			value: { user_set: 'adults', permission: 'document:read', resource_set: '__autogen_document' },
		},
		[],
	],
];

journey('a draft is rejected only if its objects have changed since its base revision', async (t, place) => {
	const revisionBefore = await place.revision();
	for (const [what, requests, change, expected] of meanwhile) {
		await furnish(place);
		const base = await place.revision();
		for (const request of requests) await request(place);
		const revision = await place.revision();
		t.true(revision > base, what);
		const before = await exported(place);
		// A second change shows that no part of a draft is applied.
		const changes = [createRole('bystander'), change];
		for (const send of [previewDraft, applyDraft]) {
			const answer: Answer<Json> = await send(place, changes, base);
			if (expected.length === 0) {
				t.is(answer.status, 200, `${what}: ${JSON.stringify(answer.body)}`);
				continue;
			}
			fails(t, answer, 409, `changed since revision ${base}`);
			const info = answer.body['additional_info'] as { readonly revision: number; readonly conflicts: readonly Json[] };
			t.is(info.revision, revision);
			t.deepEqual(
				info.conflicts.map(({ operation, kind, key }) => `${operation} ${kind} ${key}`),
				expected,
				what,
			);
			for (const { at, revision: moved, actor } of info.conflicts) {
				t.is(at, 'changes.1');
				t.true(Number(moved) > base && Number(moved) <= revision);
				t.like(actor, { id: place.key_id });
			}
			t.deepEqual(await exported(place), before, what);
			t.is(await place.revision(), revision);
		}
	}
	t.true((await place.revision()) > revisionBefore);
});

journey('a draft cannot have a future base revision', async (t, place) => {
	const revision = await place.revision();
	for (const send of [previewDraft, applyDraft]) {
		const answer = await send(place, [createRole('a')], revision + 1);
		fails(t, answer, 422, `must be at most the environment's revision ${revision}`);
		t.deepEqual(problemPlaces(answer), ['body.base_revision']);
		t.is((await send(place, [createRole('a')], revision)).status, 200);
	}
});

journey('of several concurrent drafts for one object, one is applied and the others are rejected', async (t, place) => {
	await furnish(place);
	const base = await place.revision();
	const drafts = Array.from({ length: 12 }, (_, index) => [
		{ kind: 'role', operation: 'update', key: index % 2 === 0 ? 'reader' : 'author', value: { name: `R${index}` } },
	]);
	const writes = Array.from({ length: 12 }, (_, index) =>
		place.http.post(`${place.facts}/users`, { key: `u${index}` }),
	);
	const answers = await Promise.all(drafts.map((changes) => applyDraft(place, changes, base)));
	for (const { status } of await Promise.all(writes)) t.is(status, 200);
	t.is(answers.filter(({ status }) => status === 200).length, 2, 'one draft succeeds for each role');
	for (const answer of answers.filter(({ status }) => status !== 200)) fails(t, answer, 409, 'changed since');
	const revisions = answers.flatMap(({ revision }) => revision ?? []);
	t.is(new Set(revisions).size, revisions.length);
	t.is(await place.revision(), base + 14);
});

journey('a preview shows objects and Rego before and after, even to a read-only key', async (t, place, management) => {
	await furnish(place);
	const ledger = await openLedger(t, place);
	const { id: environment_id, organization_id, project_id } = place;
	const scope = { project_id, environment_id, access_level: 'read' } as const;
	const reader: Client = client(place.url, await createSecret(management.store, organization_id, scope));
	const changes: readonly DraftedChange[] = [
		{ kind: 'relation', operation: 'delete', key: 'document:parent' },
		{ kind: 'user', operation: 'update', key: 'ann', value: { first_name: 'Anna' } },
		{
			kind: 'resource',
			operation: 'update',
			key: 'folder',
			value: { name: 'Folder', actions: { open: {}, shut: {} } },
		},
		createRole('guest', { permissions: ['folder:shut'] }),
	];
	const draft = { base_revision: await place.revision(), changes };
	const path = environmentPath(place, 'drafts/preview');
	const preview = await ledger.read(await reader.post<Previewed>(path, draft));
	const byName = new Map(preview.changes.map((change) => [`${change.operation} ${change.kind} ${change.key}`, change]));
	t.deepEqual(
		[...byName.keys()].sort(),
		[
			'create resource_action folder:shut',
			'create role guest',
			'delete relation document:parent',
			'delete relationship_tuple document:budget#parent@folder:finance',
			'update role document:editor',
			'update user ann',
		],
		'including cascading deletions',
	);
	t.like(byName.get('update user ann'), { before: { first_name: 'Ann' }, after: { first_name: 'Anna' } });
	t.like(byName.get('create role guest'), { before: null, after: { permissions: ['folder:shut'] } });
	t.like(byName.get('delete relation document:parent'), { before: { object_resource: 'document' }, after: null });
	t.false(preview.truncated);

	const { files, diagnostics, failure, truncated } = preview.policy;
	t.deepEqual([diagnostics, failure, truncated], [[], null, false]);
	const permits = files.find(({ path: file }) => file.includes('resources/folder/'));
	t.false(permits?.before?.includes('permits["shut"]') ?? true, JSON.stringify(files));
	t.true(permits?.after?.includes('shut') ?? false);
	t.true(files.every(({ before, after }) => before !== after));
	t.true(
		files.some(({ path: file, before }) => file.includes('editor') && before?.includes('parent') === true),
		'the derivation is deleted',
	);

	for (const draftPath of ['drafts/apply']) {
		fails(t, await reader.post(environmentPath(place, draftPath), draft), 403, 'read-only access');
	}
	await ledger.wrote(await place.http.post(environmentPath(place, 'drafts/apply'), draft));
	await ledger.balanced();
});

journey('a preview lists up to a thousand changes, and reports that there are more', async (t, place) => {
	await furnish(place);
	const users = Object.fromEntries(Array.from({ length: 1_100 }, (_, index) => [`u${index}`, {}]));
	const role_assignments = Object.keys(users).map((user) => ({ user, role: 'reader', tenant: 'acme' }));
	const many = { format: 'regolith-environment', version: 1, facts: { users, role_assignments } };
	await place.http.post(environmentPath(place, 'import'), many);
	const preview = await previewDraft(place, [removeRole('reader')]);
	t.is(preview.body.changes.length, 1_000);
	t.true(preview.body.total > 1_100);
	t.true(preview.body.truncated);
	const applied = await applyDraft(place, [removeRole('reader')]);
	t.is(applied.body.changes.total, preview.body.total);
	t.is(applied.body.changes.changes.length, 1_000);
});

journey('keys can look like ids, numbers or JavaScript names', async (t, place) => {
	const keys = ['constructor', 'toString', '00000000-0000-4000-8000-000000000000', '-', '10', '9'];
	const changes = keys.flatMap((key): DraftedChange[] => [
		createRole(key, { permissions: [`${key}:${key}`] }),
		{ kind: 'resource', operation: 'create', key, value: { name: key, actions: { [key]: {} } } },
		{ kind: 'relation', operation: 'create', key: `${key}:${key}`, value: { name: key, subject_resource: key } },
		{ kind: 'resource_role', operation: 'create', key: `${key}:${key}`, value: { name: key, permissions: [key] } },
		{ kind: 'user', operation: 'create', key, value: {} },
		{ kind: 'tenant', operation: 'create', key, value: { name: key } },
		{ kind: 'resource_instance', operation: 'create', key: `${key}:${key}`, value: { tenant: key } },
		{ kind: 'role_assignment', operation: 'create', value: { user: key, role: key, tenant: key } },
		{
			kind: 'role_assignment',
			operation: 'create',
			value: { user: key, role: key, resource_instance: `${key}:${key}` },
		},
	]);
	const base = await place.revision();
	t.is(
		(await applyDraft(place, changes)).body.changes.total,
		changes.length + keys.length,
		'and the actions are deleted',
	);
	const again = await applyDraft(place, changes, base);
	fails(t, again, 409, 'changed since');
	const { schema } = (await exported(place)) as { readonly schema: { readonly roles: Json } };
	t.deepEqual(Object.keys(schema.roles).sort(), [...keys].sort());
	const gone = changes.map(({ value, ...change }) => ({
		...change,
		operation: 'delete',
		...(change.key === undefined && { value }),
	}));
	t.is((await applyDraft(place, gone)).status, 200);
	t.deepEqual(((await exported(place)) as { schema: Json }).schema['roles'], {});
	for (const key of ['__proto__', "x' or true --", 'a/b', 'a:b:c', '', 'k'.repeat(513), 'a\n', 'é']) {
		const wrong: readonly DraftedChange[] = [
			{ kind: 'role', operation: 'delete', key },
			{ kind: 'relation', operation: 'delete', key: `a:${key}` },
			{ kind: 'resource_instance', operation: 'delete', key: `${key}:a` },
		];
		const answer = await applyDraft(place, wrong);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), ['body.changes.0.key', 'body.changes.1.key', 'body.changes.2.key'], key);
	}
});

journey('a draft cannot exceed the check limit', async (t, place) => {
	const roleKeys = Array.from({ length: 20 }, (_, index) => `r${index}`);
	const derived = (on_resource: string, linked_by_relation: string) => ({
		granted_to: { users_with_role: roleKeys.map((role) => ({ role, on_resource, linked_by_relation })) },
	});
	const rolesWith = (more: object) => Object.fromEntries(roleKeys.map((key) => [key, { name: key, ...more }]));
	// One more shelf than allowed for a room in the box (see check-limit.test.ts).
	const shelves = Array.from({ length: Math.floor(maxSteps / 20 / 400) }, (_, index) => `shelf:s${index}`);
	const named = (resource: string) => ({ name: resource, subject_resource: resource });
	const document = {
		format: 'regolith-environment',
		version: 1,
		schema: {
			resources: {
				shelf: { name: 'S', roles: rolesWith({}) },
				box: { name: 'B', relations: { on: named('shelf') }, roles: rolesWith(derived('shelf', 'on')) },
				room: { name: 'R', relations: { of: named('box') }, roles: rolesWith(derived('box', 'of')) },
			},
		},
		facts: {
			resource_instances: Object.fromEntries(
				[...shelves, 'box:b', 'room:r'].map((name) => [name, { tenant: 'default' }]),
			),
			relationship_tuples: shelves.map((subject) => ({ subject, relation: 'on', object: 'box:b' })),
		},
	};
	t.is((await place.http.post(environmentPath(place, 'import'), document)).status, 200);
	const ofBox = { subject: 'box:b', relation: 'of', object: 'room:r' };
	const change = { kind: 'relationship_tuple', operation: 'create', value: ofBox } as const;
	for (const send of [previewDraft, applyDraft]) fails(t, await send(place, [change]), 400, 'more than');
	const fewer = shelves.slice(0, 1).map((subject) => ({
		kind: 'relationship_tuple',
		operation: 'delete',
		value: { subject, relation: 'on', object: 'box:b' },
	}));
	t.is((await applyDraft(place, [change, ...fewer])).status, 200);
});

journey('schema and facts can be exported and imported separately', async (t, place) => {
	await furnish(place);
	const whole = await exported(place);
	const { schema, facts, ...header } = whole;
	t.deepEqual(await exported(place, '?half=schema'), { ...header, schema });
	t.deepEqual(await exported(place, '?half=facts'), { ...header, facts });
	await keepsHalves(t, place, whole);
});

async function keepsHalves(t: ExecutionContext, place: Place, whole: Json): Promise<void> {
	for (const half of ['schema', 'facts']) {
		const answer = await place.http.post(environmentPath(place, 'import'), await exported(place, `?half=${half}`));
		t.is(answer.status, 200, JSON.stringify(answer.body));
		t.is(answer.body['total'], 0);
	}
	t.deepEqual(await exported(place), whole);
}

journey(
	'writers do not wait for previews, and excess previews get 429',
	async (t, place) => {
		const base = await place.revision();
		const body = JSON.stringify({ base_revision: base, changes: [createRole('clerk')] });
		const headers = { authorization: `Bearer ${place.secret}`, 'content-type': 'application/json' };
		const url = `${place.url}${environmentPath(place, 'drafts/preview')}`;
		const statuses: number[] = [];
		const ask = async (signal?: AbortSignal) => {
			const answer = await fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) });
			await answer.text();
			statuses.push(answer.status);
			if (answer.status === 429) t.is(answer.headers.get('retry-after'), '5');
		};
		// The first preview waits for a trial that the test delays. Four further previews wait for the first preview.
		let release = () => {};
		const held = new Promise<void>((resolve) => {
			release = resolve;
		});
		t.teardown(() => release());
		const holding = place.store.tryOut(await scopeIn(place), null, () => held);
		const asked = Array.from({ length: 12 }, () => ask());
		await eventually(() => statuses.length === 7);
		t.deepEqual(new Set(statuses), new Set([429]));
		t.is((await place.http.post(`${place.facts}/users`, { key: 'ann' })).status, 200);
		t.is(statuses.length, 7, 'the write came before the first preview');
		release();
		await Promise.all([holding, ...asked]);
		t.deepEqual(
			[statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length],
			[5, 7],
		);
	},
	// On the embedded store, the delayed trial would occupy the only connection.
	['server'],
);

import test from 'ava';
import type { Change, ChangedRecord, ChangeKind } from '../../src/store/unit/change.js';
import { isUndoable, reverseChanges, type UndoSurroundings } from '../../src/transfer/undo-changes.js';

/** Drafts that reverse logged changes. */

const now = new Date('2030-01-01T00:00:00Z');
const later = '2031-01-01T00:00:00.000Z';
const earlier = '2029-01-01T00:00:00.000Z';

function logged(kind: string, key: string, before: ChangedRecord | null, after: ChangedRecord | null): Change {
	return {
		kind: kind as ChangeKind,
		key,
		before,
		after,
		operation: before === null ? 'create' : after === null ? 'delete' : 'update',
	};
}

function undo(changes: readonly Change[], more: Partial<UndoSurroundings> = {}) {
	return reverseChanges(changes.toReversed(), { resources: new Map(), tenants: new Map(), now, whole: false, ...more });
}

const user = { id: '1', key: 'ann', email: 'a@b.example', first_name: null, last_name: null, attributes: { n: 1 } };
const userValue = { email: 'a@b.example', attributes: { n: 1 } };
const held = { id: '1', user: 'ann', user_id: '2', role: 'editor', tenant: 'acme', resource_instance: null };
const heldValue = { user: 'ann', role: 'editor', tenant: 'acme' };
const rule = { id: '1', user_set: 'vips', resource: 'document', action: 'read', resource_set: 'open' };
const ruleValue = { user_set: 'vips', permission: 'document:read', resource_set: 'open' };
const role = {
	key: 'editor',
	name: 'Editor',
	description: null,
	attributes: null,
	extends: [],
	granted_to_id: null,
	granted_to: null,
};
const derived = {
	id: 'b',
	users_with_role: [
		{
			role: 'owner',
			role_id: 'r',
			on_resource: 'folder',
			resource_id: 'f',
			linked_by_relation: 'parent',
			relation_id: 'p',
			when: { no_direct_roles_on_object: false },
		},
	],
	when: { no_direct_roles_on_object: true },
};

const reverses: readonly (readonly [change: Change, reverse: unknown])[] = [
	[logged('user', 'ann', null, user), { kind: 'user', operation: 'delete', key: 'ann' }],
	[logged('user', 'ann', user, null), { kind: 'user', operation: 'create', key: 'ann', value: userValue }],
	[
		logged('user', 'ann', user, { ...user, email: null }),
		{ kind: 'user', operation: 'update', key: 'ann', value: userValue },
	],
	[
		logged('tenant', 'acme', { name: 'Acme', description: 'x', attributes: null }, null),
		{ kind: 'tenant', operation: 'create', key: 'acme', value: { name: 'Acme', description: 'x' } },
	],
	[
		logged('tenant_user', 'ann@acme', { user: 'ann', tenant: 'acme', user_id: '1' }, null),
		{ kind: 'tenant_user', operation: 'create', value: { user: 'ann', tenant: 'acme' } },
	],
	[
		logged('role_assignment', 'ann#editor@acme', null, { ...held, expires_at: later }),
		{ kind: 'role_assignment', operation: 'delete', value: heldValue },
	],
	[
		logged('role_assignment', 'ann#editor@acme', { ...held, expires_at: later }, held),
		{ kind: 'role_assignment', operation: 'update', value: { ...heldValue, expires_at: later } },
	],
	[
		logged('role_assignment', 'ann#editor@document:plan', { ...held, resource_instance: 'document:plan' }, null),
		{
			kind: 'role_assignment',
			operation: 'create',
			value: { user: 'ann', role: 'editor', resource_instance: 'document:plan' },
		},
	],
	[
		logged('relationship_tuple', 'x', { subject: 'folder:a', relation: 'parent', object: 'document:b' }, null),
		{
			kind: 'relationship_tuple',
			operation: 'create',
			value: { subject: 'folder:a', relation: 'parent', object: 'document:b' },
		},
	],
	[
		logged('role', 'editor', { ...role, resource: null, permissions: ['document:read'] }, null),
		{
			kind: 'role',
			operation: 'create',
			key: 'editor',
			value: { name: 'Editor', permissions: ['document:read'], extends: [] },
		},
	],
	[
		logged(
			'role',
			'document:editor',
			{ ...role, resource: 'document', permissions: ['read'], granted_to: derived },
			null,
		),
		{
			kind: 'resource_role',
			operation: 'create',
			key: 'document:editor',
			value: {
				name: 'Editor',
				permissions: ['read'],
				extends: [],
				granted_to: {
					users_with_role: [
						{
							role: 'owner',
							on_resource: 'folder',
							linked_by_relation: 'parent',
							when: { no_direct_roles_on_object: false },
						},
					],
					when: { no_direct_roles_on_object: true },
				},
			},
		},
	],
	[
		logged('condition_set_rule', 'x', rule, null),
		{ kind: 'condition_set_rule', operation: 'create', value: ruleValue },
	],
	[
		logged('condition_set_rule', 'x', null, rule),
		{ kind: 'condition_set_rule', operation: 'delete', value: ruleValue },
	],
	[
		logged('resource_attribute', '__user:region', { type: 'string', description: null, built_in: false }, null),
		{ kind: 'user_attribute', operation: 'create', key: 'region', value: { type: 'string' } },
	],
	[
		logged('group', 'team:ops', { key: 'ops', resource: 'team', made_instance: true }, null),
		{ kind: 'group', operation: 'create', key: 'team:ops', value: { made_instance: true } },
	],
];

for (const [change, reverse] of reverses) {
	test(`${change.operation} of ${change.kind} ${change.key} is undone`, (t) => {
		t.true(isUndoable(change, now));
		t.deepEqual(undo([change]), { changes: [reverse], left: [] } as unknown);
	});
}

const beyond: readonly Change[] = [
	logged('environment', 'dev', { name: 'a' }, { name: 'b' }),
	logged('user_invite', 'x', { role_id: '1' }, null),
	logged('elements_config', 'x', { key: 'x' }, null),
	logged('element_request', 'x', { status: 'pending' }, { status: 'denied' }),
	logged('proxy_config', 'x', { key: 'x' }, null),
	logged('pdp_config', 'x', null, { name: 'x' }),
	logged('constructor', 'x', null, {}),
	logged('resource_attribute', '__user:key', { built_in: true, type: 'string' }, null),
	logged('role_assignment', 'ended', { ...held, expires_at: earlier }, null),
	logged('resource', 'document', { key: 'document', name: 'Document' }, null),
];

for (const change of beyond) {
	test(`${change.operation} of ${change.kind} ${change.key} cannot be undone`, (t) => {
		t.false(isUndoable(change, now));
		t.deepEqual(undo([change]), { changes: [], left: [change] });
	});
}

test('undoing a change to an instance uses the key of its tenant', (t) => {
	const gone = logged('resource_instance', 'document:plan', { tenant_id: 't', attributes: { n: 1 } }, null);
	t.true(isUndoable(gone, now));
	t.deepEqual(undo([gone]).left, [gone], 'the tenant was deleted, too');
	t.deepEqual(undo([gone], { tenants: new Map([['t', 'acme']]) }).changes, [
		{
			kind: 'resource_instance',
			operation: 'create',
			key: 'document:plan',
			value: { tenant: 'acme', attributes: { n: 1 } },
		},
	]);
	const made = logged('resource_instance', 'document:plan', null, { tenant_id: 't' });
	t.deepEqual(undo([made]).changes, [{ kind: 'resource_instance', operation: 'delete', key: 'document:plan' }]);
});

const present = new Map([
	[
		'document',
		{
			name: 'Document',
			actions: { read: { name: 'Read' }, share: { name: 'Share' } },
			attributes: { private: { type: 'bool' } },
		},
	],
]);

test('changes to a resource, its actions and its attributes are undone in a single change to the current resource', (t) => {
	const changes = [
		logged('resource', 'document', { name: 'Doc', urn: null }, { name: 'Document', urn: null }),
		logged('resource_action', 'document:share', null, { name: 'Share' }),
		logged('resource_action', 'document:print', { key: 'print', name: 'Print', description: null }, null),
		logged('resource_attribute', 'document:private', { type: 'string', built_in: false }, { type: 'bool' }),
	];
	t.deepEqual(undo(changes, { resources: present }), {
		changes: [
			{
				kind: 'resource',
				operation: 'update',
				key: 'document',
				value: {
					name: 'Doc',
					actions: { read: { name: 'Read' }, print: { name: 'Print' } },
					attributes: { private: { type: 'string' } },
				},
			},
		],
		left: [],
	});
	t.is(undo(changes).left.length, 4, 'the resource was deleted');
});

test('a deleted resource is restored with its cascaded objects, if all of them are known', (t) => {
	const changes = [
		logged('resource_action', 'document:read', { key: 'read', name: 'Read' }, null),
		logged('resource_attribute', 'document:private', { type: 'bool', built_in: false }, null),
		logged('resource', 'document', { key: 'document', name: 'Document', urn: 'urn:x' }, null),
	];
	t.deepEqual(undo(changes, { whole: true }).changes, [
		{
			kind: 'resource',
			operation: 'create',
			key: 'document',
			value: {
				name: 'Document',
				urn: 'urn:x',
				actions: { read: { name: 'Read' } },
				attributes: { private: { type: 'bool' } },
			},
		},
	]);
	const made = [logged('resource', 'document', null, {}), logged('resource_action', 'document:read', null, {})];
	t.deepEqual(undo(made).changes, [{ kind: 'resource', operation: 'delete', key: 'document' }]);
});

test('changes are undone from the last to the first', (t) => {
	const changes = [logged('user', 'ann', null, user), logged('tenant', 'acme', null, {})];
	t.deepEqual(
		undo(changes).changes.map(({ key }) => key),
		['acme', 'ann'],
	);
});

test('undoing a set rule omits the automatic sets created with the rule', (t) => {
	const set = logged('condition_set', '__autogen_a', null, { key: '__autogen_a', autogenerated: true });
	t.false(isUndoable(set, now));
	const made = logged('condition_set_rule', 'x', null, rule);
	t.deepEqual(undo([set, made]), {
		changes: [{ kind: 'condition_set_rule', operation: 'delete', value: ruleValue }],
		left: [],
	});
});

test('deleting an object and creating a new object with its key are undone in one change', (t) => {
	const changes = [
		logged('user', 'ann', user, null),
		logged('user', 'ann', null, { ...user, id: '2', email: 'other@b.example' }),
	];
	t.deepEqual(undo(changes), {
		changes: [{ kind: 'user', operation: 'update', key: 'ann', value: userValue }],
		left: [],
	});
	const replaced = [
		logged('resource', 'document', { key: 'document', name: 'Old' }, null),
		logged('resource', 'document', null, { key: 'document', name: 'Document' }),
	];
	const [change] = undo(replaced, { resources: present }).changes;
	t.like(change, { operation: 'update', value: { name: 'Old' } });
});

import test from 'ava';
import fc from 'fast-check';
import type { Draft, DraftChange } from '../../src/console/model/draft/draft.js';
import { readPolicySchema } from '../../src/console/model/matrix/policy-schema.js';
import { readSchemaObjects } from '../../src/console/model/matrix/schema-objects.js';
import { phraseText } from '../../src/console/model/phrase.js';
import { readComputedRole, writeComputedRole } from '../../src/console/model/schema/computed-role.js';
import { draftedSchema } from '../../src/console/model/schema/drafted-schema.js';
import { modelPath, readModelPath } from '../../src/console/model/schema/model-path.js';
import {
	type PartForm,
	partFormProblem,
	readKeys,
	readPartForm,
	writePartForm,
} from '../../src/console/model/schema/part-form.js';
import { partLines } from '../../src/console/model/schema/part-words.js';
import { deletedFacts, mayHaveFacts, removalEffects } from '../../src/console/model/schema/removal.js';
import {
	type PartKind,
	partName,
	partRows,
	readPartName,
	readParts,
	type SchemaPart,
	withoutDraftChange,
	withoutPart,
	withPart,
	withRestoredPart,
} from '../../src/console/model/schema/schema-part.js';

/** Edits in the model screen, as changes to the draft. */

const schema = {
	resources: {
		folder: {
			name: 'Folder',
			actions: { list: {}, share: {} },
			roles: { owner: { name: 'Owner', permissions: ['list'] } },
		},
		document: {
			name: 'Document',
			urn: 'urn:document',
			actions: { read: {}, write: { description: 'Change the text' } },
			attributes: { status: { type: 'string' } },
			relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
			action_groups: { edit: { name: 'Edit', actions: ['read', 'write'] } },
			roles: {
				viewer: { name: 'Viewer', permissions: ['read'] },
				editor: {
					name: 'Editor',
					permissions: ['write'],
					extends: ['viewer'],
					granted_to: { users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }] },
				},
			},
		},
	},
	user_attributes: { age: { type: 'number' } },
	roles: {
		admin: { name: 'Admin', permissions: ['folder:list', 'document:write'], extends: ['staff'] },
		staff: { name: 'Staff', permissions: ['document:read'] },
	},
	condition_sets: {
		adults: { name: 'Adults', type: 'userset', conditions: { 'user.age': { 'greater-than': 17 } } },
		drafts: {
			name: 'Drafts',
			type: 'resourceset',
			resource: 'document',
			conditions: { allOf: [{ 'resource.status': { equals: 'draft' } }] },
		},
	},
	set_rules: [
		{ user_set: 'adults', permission: 'document:read', resource_set: 'drafts' },
		{ user_set: '__autogen_staff', permission: 'folder:list', resource_set: '__autogen_folder' },
	],
};
const stored = readSchemaObjects(schema);
const empty: Draft = { base_revision: 7, changes: [] };
const noFields: PartForm = readPartForm('action', null);

/** Finds a part in the schema with a draft. */
function partIn(draft: Draft, name: string): SchemaPart {
	const part = readParts(draftedSchema(stored, draft)).get(name);
	if (part === undefined) throw new Error(`no part ${name}`);
	return part;
}

/** Fills a form for a part as the screen does, and saves it to the draft. */
function filled(kind: PartKind, key: string, change: Partial<PartForm>, draft = empty): Draft {
	const drafted = draftedSchema(stored, draft);
	const part = readParts(drafted).get(partName({ kind, key })) ?? null;
	const form = { ...readPartForm(kind, part), key: key.slice(key.indexOf(':') + 1), ...change };
	const [resource = ''] = key.split(':');
	const value = writePartForm(kind, form, part?.value ?? {}, readPolicySchema(drafted), resource);
	return withPart(stored, draft, { kind, key, value });
}

const document = { name: 'Document', urn: 'urn:document' };
const [read, write] = [{ name: 'read' }, { name: 'write', description: 'Change the text' }];
const attributes = { status: { type: 'string' } };
const fromOwner = { role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' };

interface EditCase {
	readonly draft: Draft;
	readonly changes: readonly DraftChange[];
}

const edits: Readonly<Record<string, EditCase>> = {
	'a new resource with actions': {
		draft: filled('resource', 'project', { newActions: 'read, close  read' }),
		changes: [
			{
				kind: 'resource',
				key: 'project',
				operation: 'create',
				value: { name: 'project', actions: { read: { name: 'read' }, close: { name: 'close' } } },
			},
		],
	},
	'a renamed resource, which keeps its actions and attributes': {
		draft: filled('resource', 'document', { name: 'File', description: ' A text ' }),
		changes: [
			{
				kind: 'resource',
				key: 'document',
				operation: 'update',
				value: { ...document, name: 'File', description: 'A text', actions: { read, write }, attributes },
			},
		],
	},
	'a new action': {
		draft: filled('action', 'document:print', {}),
		changes: [
			{
				kind: 'resource',
				key: 'document',
				operation: 'update',
				value: { ...document, actions: { read, write, print: { name: 'print' } }, attributes },
			},
		],
	},
	'an action without its description': {
		draft: filled('action', 'document:write', { description: '' }),
		changes: [
			{
				kind: 'resource',
				key: 'document',
				operation: 'update',
				value: { ...document, actions: { read, write: { name: 'write' } }, attributes },
			},
		],
	},
	'a new attribute of a resource': {
		draft: filled('attribute', 'folder:size', { type: 'number' }),
		changes: [
			{
				kind: 'resource',
				key: 'folder',
				operation: 'update',
				value: {
					name: 'Folder',
					actions: { list: { name: 'list' }, share: { name: 'share' } },
					attributes: { size: { type: 'number' } },
				},
			},
		],
	},
	'a user attribute with a different type': {
		draft: filled('user_attribute', 'age', { type: 'string' }),
		changes: [{ kind: 'user_attribute', key: 'age', operation: 'update', value: { type: 'string' } }],
	},
	'a new relation': {
		draft: filled('relation', 'folder:parent', { subject: 'folder', name: 'Parent folder' }),
		changes: [
			{
				kind: 'relation',
				key: 'folder:parent',
				operation: 'create',
				value: { name: 'Parent folder', subject_resource: 'folder' },
			},
		],
	},
	'a new resource role that extends a role and is derived': {
		draft: filled('resource_role', 'document:owner', {
			permissions: ['write'],
			extends: ['viewer'],
			derivations: ['folder owner parent'],
			directOnly: true,
		}),
		changes: [
			{
				kind: 'resource_role',
				key: 'document:owner',
				operation: 'create',
				value: {
					name: 'owner',
					permissions: ['write'],
					extends: ['viewer'],
					granted_to: { when: { no_direct_roles_on_object: true }, users_with_role: [fromOwner] },
				},
			},
		],
	},
	'a role that is no longer derived': {
		draft: filled('resource_role', 'document:editor', { derivations: [] }),
		changes: [
			{
				kind: 'resource_role',
				key: 'document:editor',
				operation: 'update',
				value: { name: 'Editor', permissions: ['write'], extends: ['viewer'] },
			},
		],
	},
	'a new action group': {
		draft: filled('action_group', 'folder:all', { permissions: ['list', 'share'] }),
		changes: [
			{
				kind: 'action_group',
				key: 'folder:all',
				operation: 'create',
				value: { name: 'all', actions: ['list', 'share'] },
			},
		],
	},
	'a tenant role with an added permission': {
		draft: filled('role', 'admin', { permissions: ['document:write', 'folder:share', 'folder:list'] }),
		changes: [
			{
				kind: 'role',
				key: 'admin',
				operation: 'update',
				value: { name: 'Admin', permissions: ['folder:list', 'document:write', 'folder:share'], extends: ['staff'] },
			},
		],
	},
	'nothing for an edit without effect': { draft: filled('role', 'admin', {}), changes: [] },
	'nothing after an edit is reverted': {
		draft: filled('action', 'document:read', { name: '' }, filled('action', 'document:read', { name: 'Open' })),
		changes: [],
	},
	'a deleted action': {
		draft: withoutPart(stored, empty, { kind: 'action', key: 'document:read' }),
		changes: [
			{
				kind: 'resource',
				key: 'document',
				operation: 'update',
				value: { ...document, actions: { write }, attributes },
			},
		],
	},
	'a deleted tenant role': {
		draft: withoutPart(stored, empty, { kind: 'role', key: 'staff' }),
		changes: [{ kind: 'role', key: 'staff', operation: 'delete' }],
	},
	'a role without its derivation from a new, then deleted resource': {
		draft: withoutPart(
			stored,
			filled(
				'resource_role',
				'document:viewer',
				{ derivations: ['project lead project'], permissions: ['read', 'write'] },
				filled(
					'relation',
					'document:project',
					{ subject: 'project' },
					filled('resource_role', 'project:lead', {}, filled('resource', 'project', {})),
				),
			),
			{ kind: 'resource', key: 'project' },
		),
		changes: [
			{
				kind: 'resource_role',
				key: 'document:viewer',
				operation: 'update',
				value: { name: 'Viewer', permissions: ['read', 'write'] },
			},
		],
	},
	'no role whose created resource was removed from the draft': {
		draft: withoutDraftChange(
			stored,
			filled(
				'role',
				'staff',
				{ permissions: ['document:read', 'project:read'] },
				filled('resource_role', 'project:lead', {}, filled('resource', 'project', { newActions: 'read' })),
			),
			0,
		),
		changes: [],
	},
	'a deleted resource, without the earlier change to its role': {
		draft: withoutPart(stored, filled('resource_role', 'folder:owner', { permissions: ['share'] }), {
			kind: 'resource',
			key: 'folder',
		}),
		changes: [{ kind: 'resource', key: 'folder', operation: 'delete' }],
	},
	'a deleted action, without its drafted grant': {
		draft: withoutPart(stored, filled('role', 'staff', { permissions: ['document:read', 'document:write'] }), {
			kind: 'action',
			key: 'document:read',
		}),
		changes: [
			{ kind: 'role', key: 'staff', operation: 'update', value: { name: 'Staff', permissions: ['document:write'] } },
			{
				kind: 'resource',
				key: 'document',
				operation: 'update',
				value: { ...document, actions: { write }, attributes },
			},
		],
	},
};

for (const [title, { draft, changes }] of Object.entries(edits)) {
	test(`the draft contains ${title}`, (t) => {
		t.deepEqual(draft.changes, changes);
	});
}

const removals: Readonly<Record<string, readonly string[]>> = {
	'resource:folder': [
		'deleted action folder:list',
		'deleted action folder:share',
		'deleted resource role folder:owner',
		'deleted relation document:parent',
		'deleted rule users with staff may folder:list on every folder',
		'changed resource role document:editor is no longer derived from `folder:owner` via `parent`',
		'changed role admin no longer grants `folder:list`',
	],
	'action:document:read': [
		'deleted rule adults may document:read on drafts',
		'changed action group document:edit no longer contains `read`',
		'changed resource role document:viewer no longer grants `read`',
		'changed role staff no longer grants `document:read`',
	],
	'attribute:document:status': ['compares condition set drafts'],
	'user_attribute:age': ['compares condition set adults'],
	'relation:document:parent': [
		'changed resource role document:editor is no longer derived from `folder:owner` via `parent`',
	],
	'resource_role:document:viewer': ['changed resource role document:editor no longer extends `viewer`'],
	'role:staff': [
		'deleted rule users with staff may folder:list on every folder',
		'changed role admin no longer extends `staff`',
	],
	'action_group:document:edit': [],
};

for (const [name, expected] of Object.entries(removals)) {
	test(`deleting ${name} shows the consequences`, (t) => {
		const effects = removalEffects(stored, empty, partIn(empty, name));
		const told = effects.map(({ effect, kind, name: object, lost }) =>
			[effect, kind, object, ...lost.map(phraseText)].join(' '),
		);
		t.deepEqual([...told].sort(), [...expected].sort());
	});
}

test('deleted facts are counted by kind, without the schema objects', (t) => {
	const change = (kind: string, operation = 'delete') => ({ kind, operation });
	const changes = [
		...['role', 'role_assignment', 'resource_instance', 'role_assignment'].map((kind) => change(kind)),
		change('tenant_user', 'update'),
	];
	t.deepEqual(deletedFacts(changes), ['2 role assignments', '1 resource instance']);
	t.true(mayHaveFacts(stored, { kind: 'role', key: 'staff' }));
	t.false(mayHaveFacts(stored, { kind: 'role', key: 'guest' }), 'only in the draft');
	t.false(mayHaveFacts(stored, { kind: 'action', key: 'document:read' }));
});

const partNames = [...readParts(stored).keys()];
/** Any sequence of deletions (`true`) and restorations. */
const steps = fc.array(fc.tuple(fc.constantFrom(...partNames), fc.boolean()), { maxLength: 8 });

test('restoring deletes nothing else, and everything can be restored', (t) => {
	const law = fc.property(steps, (taken) => {
		let draft = empty;
		for (const [text, isRemoval] of taken) {
			const name = readPartName(text);
			if (name === null) throw new Error(text);
			draft = isRemoval ? withoutPart(stored, draft, name) : (withRestoredPart(stored, draft, name) ?? draft);
		}
		const parts = readParts(draftedSchema(stored, draft));
		t.true([...parts.keys()].every((name) => partNames.includes(name)));
		// Restore the objects that other objects depend on first.
		for (let turn = 0; turn < partNames.length && draft.changes.length > 0; turn += 1) {
			for (const text of partNames) {
				const name = readPartName(text);
				draft = (name === null ? null : withRestoredPart(stored, draft, name)) ?? draft;
			}
		}
		t.deepEqual(draft.changes, []);
	});
	t.notThrows(() => fc.assert(law));
});

test('each part shows its state in the draft', (t) => {
	const draft = filled('role', 'guest', {}, withoutPart(stored, empty, { kind: 'resource', key: 'folder' }));
	const rows = partRows(readParts(stored), readParts(draftedSchema(stored, draft)));
	const states = rows.flatMap(({ part, state }) => (state === null ? [] : [`${state} ${partName(part)}`]));
	t.deepEqual(states.sort(), [
		'added role:guest',
		'changed resource_role:document:editor',
		'changed role:admin',
		'removed action:folder:list',
		'removed action:folder:share',
		'removed relation:document:parent',
		'removed resource:folder',
		'removed resource_role:folder:owner',
	]);
	t.is(withRestoredPart(stored, draft, { kind: 'relation', key: 'document:parent' }), null);
});

const lines: Readonly<Record<string, readonly string[]>> = {
	'action:document:write': ['Change the text'],
	'attribute:document:status': ['Text'],
	'relation:document:parent': ['From `folder` to `document`'],
	'resource_role:document:editor': ['Grants `write`', 'Extends `viewer`', 'Derived from `folder:owner` via `parent`'],
	'action_group:document:edit': ['Contains `read`, `write`'],
	'role:admin': ['Grants `list` on every `folder`', 'Grants `write` on every `document`', 'Extends `staff`'],
};

for (const [name, expected] of Object.entries(lines)) {
	test(`${name} is described in words`, (t) => {
		t.deepEqual(partLines(partIn(empty, name)).map(phraseText), expected);
	});
}

test('public and computed roles are described in words', (t) => {
	const words = (value: object) =>
		partLines({ kind: 'resource_role', key: 'document:signer', value: { ...value } }).map(phraseText);
	t.deepEqual(words({ public: true, permissions: ['sign'] }), ['Public: can be assigned to everyone', 'Grants `sign`']);
	const sets = [{ role: 'member', on_resource: 'team' }];
	t.true(words({ grantable_to: sets }).includes('Can be assigned to sets of users: `team:member`'));
	const lists = { allOf: ['viewer', 'approver', { anyOf: ['a', 'b'] }, { not: 'blocked' }] };
	t.is(words({ computed: lists })[0], 'Computed: all of `viewer`, `approver`; any of `a`, `b`; none of `blocked`');
	t.is(words({ computed: { not: { not: 'a' } } })[0], 'Computed from `{"not":{"not":"a"}}`');
});

const problems: readonly (readonly [PartKind, Partial<PartForm>, RegExp | null])[] = [
	['action', { key: '' }, /Enter a key/],
	['action', { key: 'a b' }, /is not a key/],
	['action', { key: 'x'.repeat(513) }, /at most 512/],
	['resource', { key: '__proto__' }, /reserved/],
	['action', { key: 'read' }, /already exists/],
	['relation', { key: 'parent' }, /Choose the related resource/],
	['resource', { key: 'memo', newActions: 'read, wri:te' }, /`wri:te` is not a key/],
	['resource', { key: 'memo', newActions: 'read write' }, null],
];

for (const [kind, form, message] of problems) {
	test(`the form for ${kind} ${JSON.stringify(form).slice(0, 40)} ${message === null ? 'can be saved' : 'is rejected'}`, (t) => {
		const problem = partFormProblem(kind, { ...noFields, ...form }, new Set(['read']));
		if (message === null) t.is(problem, null);
		else t.regex(problem ?? '', message);
	});
}

test('a model page is identified by its path', (t) => {
	for (const page of ['resources', 'roles', 'users'] as const) {
		t.deepEqual(readModelPath(modelPath({ page }).slice('model/'.length)), { page });
	}
	const place = { page: 'resource', key: 'document' } as const;
	t.deepEqual(readModelPath(modelPath(place).slice('model/'.length)), place);
	t.is(readPartName('nothing:x'), null);
	t.deepEqual(readKeys(' a,b  a '), ['a', 'b']);
});

test('a role keeps or changes its sets of users and conditions, and a computed role has none', (t) => {
	const policy = readPolicySchema(stored);
	const value = {
		grantable_to: [{ role: 'owner', on_resource: 'folder' }],
		grant_conditions: ['below_limit'],
	};
	const part: SchemaPart = { kind: 'resource_role', key: 'document:viewer', value };
	const saved = (change: Partial<PartForm>) => {
		const form = { ...readPartForm('resource_role', part), ...change };
		const { grantable_to, grant_conditions } = writePartForm('resource_role', form, value, policy, 'document');
		return [grantable_to, grant_conditions];
	};
	t.deepEqual(saved({}), [value.grantable_to, value.grant_conditions]);
	const more = saved({ grantableTo: ['document:editor', 'folder:owner'], grantConditions: ['other', 'below_limit'] });
	t.deepEqual(more, [
		[...value.grantable_to, { role: 'editor', on_resource: 'document' }],
		['below_limit', 'other'],
	]);
	t.deepEqual(saved({ grantableTo: [], grantConditions: [] }), [undefined, undefined]);
	t.deepEqual(saved({ computed: { allOf: ['viewer'] } }), [undefined, undefined]);
	t.is(
		partLines(part).map(phraseText).at(-1),
		'Can be assigned under conditions: `below_limit`',
		'the conditions are shown',
	);
});

test('the conditions of a relation are kept, changed and shown', (t) => {
	const policy = readPolicySchema(new Map());
	const value = { name: 'Parent', subject_resource: 'folder', grant_conditions: ['below_limit'] };
	const part: SchemaPart = { kind: 'relation', key: 'document:parent', value };
	const saved = (change: Partial<PartForm>) => {
		const form = { ...readPartForm('relation', part), ...change };
		return writePartForm('relation', form, value, policy, 'document');
	};
	t.deepEqual(saved({}), value);
	t.deepEqual(saved({ grantConditions: ['other', 'below_limit'] })['grant_conditions'], ['below_limit', 'other']);
	t.false('grant_conditions' in saved({ grantConditions: [] }));
	t.is(partLines(part).map(phraseText).at(-1), 'Relationships can have conditions: `below_limit`');
});

test('a role is public only if the form says so', (t) => {
	const policy = readPolicySchema(new Map());
	const saved = (value: object, isPublic: boolean) => {
		const part = { kind: 'resource_role', key: 'document:reader', value: { name: 'Reader', ...value } } as const;
		const form = { ...readPartForm('resource_role', part), isPublic };
		return writePartForm('resource_role', form, part.value, policy, 'document')['public'];
	};
	t.deepEqual([saved({}, true), saved({ public: false }, true)], [true, true]);
	t.deepEqual([saved({}, false), saved({ public: true }, false)], [undefined, false]);
});

test('the expression of a computed role is shown as lists if lists can express it', (t) => {
	const keys = fc.uniqueArray(fc.constantFrom('viewer', 'editor', 'approver', 'blocked'));
	const law = fc.property(fc.record({ all: keys, any: keys, none: keys }), (lists) => {
		t.deepEqual(readComputedRole(writeComputedRole(lists)), lists);
	});
	t.notThrows(() => fc.assert(law));
	t.deepEqual(readComputedRole({ anyOf: ['a', 'b'] }), { all: [], any: ['a', 'b'], none: [] });
	for (const other of [
		{ anyOf: ['a', { not: 'b' }] },
		{ allOf: ['a', { allOf: ['b'] }] },
		{ allOf: [{ anyOf: ['a'] }, { anyOf: ['b'] }] },
		{ not: { not: 'a' } },
		{ allOf: ['a'], anyOf: ['b'] },
		5,
	]) {
		t.is(readComputedRole(other), null, JSON.stringify(other));
	}
	const before = { name: 'Editor', granted_to: { users_with_role: [] } };
	const form = { ...readPartForm('resource_role', { kind: 'resource_role', key: 'document:editor', value: before }) };
	const policy = readPolicySchema(new Map());
	const computed = { allOf: ['viewer', { not: 'blocked' }] };
	const written = writePartForm('resource_role', { ...form, computed }, before, policy, 'document');
	t.deepEqual(written, { name: 'Editor', computed });
	const again = readPartForm('resource_role', { kind: 'resource_role', key: 'document:editor', value: written });
	t.deepEqual(again.computed, computed);
	t.false('computed' in writePartForm('resource_role', { ...again, computed: null }, written, policy, 'document'));
	t.regex(
		partFormProblem('resource_role', { ...again, computed: { allOf: [{ not: 'a' }] } }, new Set()) ?? '',
		/needs at least one role/,
	);
});

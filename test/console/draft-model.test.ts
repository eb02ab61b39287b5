import test from 'ava';
import fc from 'fast-check';
import { type Draft, type DraftChange, withChange } from '../../src/console/model/draft/draft.js';
import { readDraftFile } from '../../src/console/model/draft/draft-file.js';
import { describeDraft } from '../../src/console/model/draft/draft-words.js';
import { causePhrases, countText, groupImpact, type ImpactCause } from '../../src/console/model/draft/impact-groups.js';
import { readStaleDraft } from '../../src/console/model/draft/stale-draft.js';
import {
	draftedObjects,
	readSchemaObjects,
	type SchemaObjects,
	withObject,
	withoutObject,
} from '../../src/console/model/matrix/schema-objects.js';
import { phraseText } from '../../src/console/model/phrase.js';

/** Draft logic in the console, without a page. */

const schema = {
	resources: { document: { name: 'Document', actions: { read: {} }, roles: { editor: { name: 'Editor' } } } },
	roles: { staff: { name: 'Staff', permissions: ['document:read'] } },
	set_rules: [{ user_set: 'adults', permission: 'document:read', resource_set: 'open' }],
};
const stored = readSchemaObjects(schema);
const rule = { user_set: '__autogen_staff', permission: 'document:read', resource_set: '__autogen_document' };

interface WordsCase {
	readonly change: DraftChange;
	readonly says: object;
}

const words: Readonly<Record<string, WordsCase>> = {
	'a role that loses a permission and is renamed': {
		change: { kind: 'role', operation: 'update', key: 'staff', value: { name: 'Everybody' } },
		says: {
			kind: 'role',
			name: 'staff',
			differences: [
				{ name: 'name', removed: ['Staff'], added: ['Everybody'] },
				{ name: 'permissions', removed: ['document:read'], added: [] },
			],
			redundant: false,
		},
	},
	'a resource role': {
		change: { kind: 'resource_role', operation: 'create', key: 'document:viewer', value: { name: 'Viewer' } },
		says: {
			kind: 'resource role',
			name: 'document:viewer',
			differences: [{ name: 'name', removed: [], added: ['Viewer'] }],
		},
	},
	'a rule with automatic sets': {
		change: { kind: 'condition_set_rule', operation: 'create', value: rule },
		says: {
			kind: 'rule',
			name: 'users with staff may document:read on every document',
			differences: [],
			redundant: false,
		},
	},
	'a rule that already exists': {
		change: { kind: 'condition_set_rule', operation: 'create', value: schema.set_rules[0] },
		says: { name: 'adults may document:read on open', redundant: true },
	},
	'a role that already has this value': {
		change: { kind: 'role', operation: 'update', key: 'staff', value: { ...schema.roles.staff } },
		says: { differences: [], redundant: true },
	},
	'a role that is already deleted': {
		change: { kind: 'role', operation: 'delete', key: 'nobody' },
		says: { operation: 'delete', redundant: true },
	},
	'an assignment': {
		change: { kind: 'role_assignment', operation: 'delete', value: { user: 'ann', role: 'staff', tenant: 'acme' } },
		says: { kind: 'role assignment', name: 'ann as staff in acme', redundant: false },
	},
	'a change of a kind without a description': {
		change: { kind: 'made_for_groups', operation: 'delete', value: { resource: 'team' } },
		says: { name: '{"resource":"team"}' },
	},
};

for (const [what, { change, says }] of Object.entries(words)) {
	test(`a draft describes ${what}`, (t) => {
		const [told] = describeDraft(stored, { base_revision: 1, changes: [change] });
		t.like(told, says);
	});
}

const name = fc.constantFrom('a', 'b', '__proto__');
const object = fc.oneof(
	fc.record({ kind: fc.constantFrom('role', 'condition_set'), key: name, value: fc.record({ name }) }),
	fc.record({
		kind: fc.constantFrom('relation', 'resource_role'),
		key: fc.tuple(name, name).map((keys) => keys.join(':')),
		value: fc.record({ name }),
	}),
	fc.record({ kind: fc.constant('condition_set_rule'), value: fc.record({ user_set: name }) }),
);

/** Returns the objects as sorted strings. */
function listed(objects: SchemaObjects): readonly string[] {
	return [...objects].map(([subject, { value }]) => `${subject} ${JSON.stringify(value)}`).sort();
}

test('a draft contains the requested changes, without changes that have no effect', (t) => {
	const steps = fc.array(fc.tuple(object, fc.boolean()), { maxLength: 12 });
	const law = fc.property(fc.array(object), steps, (there, wanted) => {
		const begun: Draft = { base_revision: 1, changes: [] };
		const base = draftedObjects(
			new Map(),
			there.reduce((draft, one) => withObject(new Map(), draft, one), begun),
		);
		const objects = new Map(base);
		let draft = begun;
		for (const [one, isThere] of wanted) {
			draft = isThere ? withObject(base, draft, one) : withoutObject(base, draft, one);
			const { changes } = withObject(new Map(), begun, one);
			for (const subject of draftedObjects(new Map(), { ...begun, changes }).keys()) {
				if (isThere) objects.set(subject, one);
				else objects.delete(subject);
			}
		}
		t.deepEqual(listed(draftedObjects(base, draft)), listed(objects));
		t.false(describeDraft(base, draft).some(({ redundant }) => redundant));
		t.is(
			new Set(draft.changes.map(({ kind, key, value }) => JSON.stringify([kind, key ?? value]))).size,
			draft.changes.length,
		);
	});
	t.notThrows(() => fc.assert(law));
});

const granted = (limit: number, set = 'below_limit') => ({
	kind: 'relationship_tuple',
	value: { subject: 'team:a', relation: 'pays', object: 'account:b', condition: { set, values: { limit } } },
});

test('a change to condition values replaces the earlier change; a grant under a different set is a separate change', (t) => {
	const begun: Draft = { base_revision: 1, changes: [] };
	const first = withChange(begun, { ...granted(5), operation: 'update' });
	const second = withChange(first, { ...granted(6), operation: 'update' });
	t.deepEqual(second.changes, [{ ...granted(6), operation: 'update' }]);
	const third = withChange(second, { ...granted(6, 'other'), operation: 'create' });
	t.is(third.changes.length, 2);
	t.deepEqual(
		describeDraft(new Map(), third).map(({ name }) => name),
		['team:a pays account:b under `below_limit` with limit 6', 'team:a pays account:b under `other` with limit 6'],
	);
	const deleted = withChange(begun, { ...granted(5), operation: 'delete' });
	const restored = withChange(deleted, { ...granted(6), operation: 'create' });
	t.deepEqual(restored.changes, [{ ...granted(6), operation: 'update' }]);
});

test('a downloaded draft is read unchanged', (t) => {
	const draft: Draft = {
		base_revision: 12,
		changes: [
			{ kind: 'role', operation: 'delete', key: 'staff' },
			{ kind: 'condition_set_rule', operation: 'create', value: rule },
		],
	};
	t.deepEqual(readDraftFile(JSON.stringify(draft), stored, 40), { draft, note: null });
	const named = { ...draft, changes: [{ ...draft.changes[1], key: null }] };
	t.deepEqual(readDraftFile(JSON.stringify(named), stored, 40).draft.changes, [draft.changes[1]]);
});

const refusedFiles: Readonly<Record<string, RegExp>> = {
	'': /not valid JSON/,
	'{': /not valid JSON/,
	'[]': /neither a draft nor/,
	null: /neither a draft nor/,
	'{"base_revision": 1}': /no `changes` list/,
	'{"changes": []}': /`base_revision`/,
	'{"base_revision": -1, "changes": []}': /`base_revision`/,
	'{"base_revision": 1, "changes": [null]}': /changes\[0\].*`kind`/,
	'{"base_revision": 1, "changes": [{"kind": "constructor", "operation": "create"}]}': /unknown `kind` constructor/,
	'{"base_revision": 1, "changes": [{"kind": "role", "operation": "upsert"}]}': /create, update or delete/,
	'{"base_revision": 1, "changes": [{"kind": "role", "operation": "create", "key": 1}]}': /`key` must be a string/,
};

for (const [text, message] of Object.entries(refusedFiles)) {
	test(`the file ${text || 'that is empty'} is rejected as a draft, with the reason`, (t) => {
		t.throws(() => readDraftFile(text, stored, 1), { message });
	});
}

test('an environment document becomes a draft with the differences', (t) => {
	const read = (document: object) =>
		readDraftFile(JSON.stringify({ format: 'regolith-environment', version: 1, ...document }), stored, 40);
	t.deepEqual(read({ schema }), { draft: { base_revision: 40, changes: [] }, note: null });
	const { draft, note } = read({
		schema: { resources: { __user: { name: 'User' } }, roles: { staff: { name: 'All' }, guest: { name: 'Guest' } } },
		facts: { users: {} },
	});
	t.deepEqual(draft.changes, [
		{ kind: 'resource', key: '__user', operation: 'update', value: { name: 'User' } },
		{ kind: 'role', key: 'staff', operation: 'update', value: { name: 'All' } },
		{ kind: 'role', key: 'guest', operation: 'create', value: { name: 'Guest' } },
	]);
	t.regex(
		note ?? '',
		/^3 objects exist only in this environment\. The draft keeps them\. The draft does not include the document’s facts/,
	);
});

const staff: ImpactCause = { by: 'role_in_tenant', role: 'staff' };
const adults: ImpactCause = { by: 'set_rule', userset: 'adults', resource_type: 'document' };

test('impact rows are grouped by grant, with the largest group first', (t) => {
	const nothing = { by: [] };
	const row = (user: string, before: readonly ImpactCause[], after: readonly ImpactCause[] = []) => {
		return { user, before: { by: before }, after: { by: after } };
	};
	const lost = [
		row('ann', [staff]),
		row('bob', [adults, staff]),
		row('cid', [staff]),
		{ user: 'dan', before: nothing, after: nothing },
	];
	const counts = [
		{ ...adults, gained: 0, lost: 700 },
		{ ...staff, gained: 3, lost: 2 },
	];
	const groups = groupImpact(lost, counts, 'lost').map(({ cause, count, rows }) => {
		return [cause === null ? null : phraseText(causePhrases(cause)), count, rows.map(({ user }) => user)];
	});
	t.deepEqual(groups, [
		['rule for `adults` on every `document`', 700, ['bob']],
		['role `staff` in the tenant', 2, ['ann', 'cid']],
		[null, 1, ['dan']],
	]);
	t.deepEqual(
		groupImpact([row('eve', [], [staff])], counts, 'gained').map(({ count, rows }) => [count, rows.length]),
		[[3, 1]],
	);
	t.deepEqual(groupImpact([], [], 'lost'), []);
});

test('every listed row is in one group, for any grants', (t) => {
	const cause = fc.constantFrom<ImpactCause>(staff, adults, { by: 'role_on_instance', role: 'document#editor' });
	const side = fc.record({ by: fc.array(cause, { maxLength: 2 }) });
	const row = fc.record({ id: fc.nat(), before: side, after: side });
	const rows = fc.uniqueArray(row, { selector: ({ id }) => id });
	const counted = fc.array(
		fc.tuple(cause, fc.nat(9)).map(([one, lost]) => ({ ...one, gained: 0, lost })),
		{ maxLength: 3 },
	);
	const law = fc.property(rows, counted, (listedRows, counts) => {
		const groups = groupImpact(listedRows, counts, 'lost');
		t.deepEqual(groups.flatMap((group) => group.rows).sort(byId), [...listedRows].sort(byId));
		t.true(groups.every(({ count, rows: some }) => count >= some.length));
	});
	const byId = (one: { readonly id: number }, other: { readonly id: number }) => one.id - other.id;
	t.notThrows(() => fc.assert(law));
});

test('a lower bound is shown as a lower bound', (t) => {
	t.is(countText(1200, false), '1,200');
	t.is(countText(1200, true), 'at least 1,200');
});

test('conflicts are read from the error response', (t) => {
	const conflicts = [
		{
			at: 'changes.2',
			kind: 'role',
			key: 'staff',
			operation: 'update',
			revision: 41,
			actor: { id: 'k1', name: 'Deploy' },
		},
		{ at: 'changes.0', kind: 'role', key: 'guest', operation: 'delete', revision: 42, actor: { id: 'k1', name: null } },
		{ at: 'elsewhere', kind: 'rule', key: 'x', operation: 'create', revision: 42, actor: null },
	];
	t.deepEqual(
		readStaleDraft({ revision: 42, conflicts })?.objects.map(({ index, actor }) => [index, actor]),
		[
			[2, 'Deploy'],
			[0, 'k1'],
			[-1, null],
		],
	);
	t.deepEqual(readStaleDraft({ revision: 42, conflicts: [] }), { revision: 42, objects: [] });
	t.is(readStaleDraft({}), null);
});

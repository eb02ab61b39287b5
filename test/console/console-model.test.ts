import { execFileSync } from 'node:child_process';
import test from 'ava';
import fc from 'fast-check';
import { curlCommand } from '../../src/console/model/check/curl-command.js';
import { consolePath, readConsolePlace } from '../../src/console/model/console-place.js';
import {
	afterPublishing,
	type Draft,
	type DraftChange,
	draftSubject,
	withChange,
} from '../../src/console/model/draft/draft.js';
import { changedChecksText } from '../../src/console/model/draft/impact-groups.js';
import { schemaDifference } from '../../src/console/model/draft/schema-difference.js';
import { expandedText, type GraphMode, nodeId, readGraphQuestion } from '../../src/console/model/graph-question.js';
import { jsonProblem } from '../../src/console/model/json-problem.js';
import { readPointState } from '../../src/console/model/point-state.js';
import { isProductionEnvironment } from '../../src/console/model/production.js';
import { visibleText } from '../../src/console/model/visible-text.js';

/** Console logic, without a page. */

test('parsing a console path returns the values from which it was built', (t) => {
	const step = fc.string({ minLength: 1, unit: 'grapheme' });
	const screen = fc.constantFrom('', 'check', 'policy', 'directory/users');
	const law = fc.property(fc.record({ project: step, environment: step, screen }), (place) => {
		t.deepEqual(readConsolePlace(consolePath(place)), place);
	});
	t.notThrows(() => fc.assert(law));
	for (const path of ['/console', '/console/', '/console/default', '/consoles/default/dev', '/', '/docs']) {
		t.is(readConsolePlace(path), null, path);
	}
	t.deepEqual(readConsolePlace('/console/%zz/dev'), { project: '%zz', environment: 'dev', screen: '' });
});

test('a call becomes a command that a shell parses correctly', (t) => {
	const law = fc.property(fc.string(), fc.webPath(), (body, path) => {
		const call = { method: 'POST', path, body: body.replaceAll('\0', ''), decision: false };
		const command = curlCommand(call, 'http://localhost:8000');
		// A shell function with the name `curl` replaces the program and prints its arguments.
		const shell = `curl() { printf '%s\\0' "$@"; }; PERMIT_API_KEY=k; ${command}`;
		const [, , , url, , authorization, , type, , sent] = execFileSync('sh', ['-c', shell]).toString().split('\0');
		t.deepEqual(
			[url, authorization, type, sent],
			[`http://localhost:8000${path}`, 'Authorization: Bearer k', 'Content-Type: application/json', call.body],
		);
	});
	t.notThrows(() => fc.assert(law, { numRuns: 20 }));
	const asked = { method: 'GET', path: '/healthy', body: null, decision: true };
	t.is(
		curlCommand(asked, 'http://localhost:8000'),
		`curl -sS "$PDP_URL"'/healthy' \\\n  -H "Authorization: Bearer $PERMIT_API_KEY"`,
	);
});

test('invisible characters are shown as escapes', (t) => {
	const cases = {
		'a\u202eb': 'a\\u{202e}b',
		'\0': '\\u{0}',
		'zero\u200bwidth': 'zero\\u{200b}width',
		'\ud800': '\\u{d800}',
		'line\u2028': 'line\\u{2028}',
		'<script>': '<script>',
		größe: 'größe',
		'emoji 👍': 'emoji 👍',
	};
	for (const [text, seen] of Object.entries(cases)) t.is(visibleText(text), seen);
});

const change: fc.Arbitrary<DraftChange> = fc.oneof(
	fc.record({
		kind: fc.constantFrom('role', 'resource'),
		operation: fc.constantFrom('create' as const, 'update' as const),
		key: fc.constantFrom('a', 'b'),
		value: fc.nat(3),
	}),
	fc.record({
		kind: fc.constantFrom('role', 'resource'),
		operation: fc.constant('delete' as const),
		key: fc.constantFrom('a', 'b'),
	}),
);

/** Applies changes to objects in order. Invalid changes have no effect. */
function applied(objects: ReadonlyMap<string, unknown>, changes: readonly DraftChange[]): Map<string, unknown> {
	const made = new Map(objects);
	for (const one of changes) {
		if (one.operation === 'delete') made.delete(draftSubject(one));
		else made.set(draftSubject(one), one.value);
	}
	return made;
}

test('a draft has the same effect as its individual changes, and contains each object once', (t) => {
	const law = fc.property(fc.subarray(['a', 'b']), fc.array(change, { maxLength: 12 }), (there, wanted) => {
		const objects = new Map(there.map((key) => [draftSubject({ kind: 'role', operation: 'create', key }), 'there']));
		// Keep only valid changes: a created object must not exist yet, and a changed or deleted object must exist.
		const fitting: DraftChange[] = [];
		for (const one of wanted) {
			const exists = applied(objects, fitting).has(draftSubject(one));
			if (exists === (one.operation !== 'create')) fitting.push(one);
		}
		const draft = fitting.reduce(withChange, { base_revision: 1, changes: [] } as Draft);
		t.deepEqual([...applied(objects, draft.changes)].sort(), [...applied(objects, fitting)].sort());
		t.is(new Set(draft.changes.map(draftSubject)).size, draft.changes.length);
		for (const one of draft.changes) t.is(objects.has(draftSubject(one)), one.operation !== 'create');
	});
	t.notThrows(() => fc.assert(law));
});

test('an object identified by its content is created and deleted once', (t) => {
	const rule = { user_set: 'staff', permission: 'document:read', resource_set: 'open' };
	const create = { kind: 'set_rule', operation: 'create', value: rule } as const;
	const remove = { kind: 'set_rule', operation: 'delete', value: { ...rule } } as const;
	const empty: Draft = { base_revision: 3, changes: [] };
	t.deepEqual(withChange(withChange(empty, create), remove), empty);
	t.deepEqual(withChange(withChange(empty, remove), create), empty);
	const { user_set, ...rest } = rule;
	t.is(
		draftSubject({ ...create, value: { ...rest, user_set } }),
		draftSubject(create),
		'the order of members does not matter',
	);
});

test('schemas are compared object by object', (t) => {
	const role = { name: 'Editor', permissions: ['read'] };
	const before = {
		resources: { document: { name: 'Document', actions: { read: {} }, roles: { editor: role } } },
		roles: { viewer: { name: 'Viewer', permissions: ['document:read'] } },
	};
	t.deepEqual(schemaDifference(before, before), []);
	const reordered = { roles: before.roles, resources: before.resources };
	t.deepEqual(schemaDifference(before, reordered), []);
	const after = {
		resources: {
			document: { name: 'Document', actions: { read: {}, write: {} }, roles: { editor: { ...role, name: 'Author' } } },
		},
		roles: {},
	};
	t.deepEqual(schemaDifference(before, after), [
		{ place: 'resources.document.actions.write', kind: 'added', after: {} },
		{ place: 'resources.document.roles.editor', kind: 'changed', before: role, after: { ...role, name: 'Author' } },
		{ place: 'roles.viewer', kind: 'removed', before: before.roles.viewer },
	]);
	const hostile = JSON.parse('{"roles": {"__proto__": {"name": "x"}, "constructor": {"name": "y"}}}');
	t.deepEqual(
		schemaDifference({}, hostile).map(({ place, kind }) => [place, kind]),
		[['roles', 'added']],
	);
	t.is(schemaDifference({ roles: {} }, hostile).length, 2);
});

test('the readable part of an incomplete decision point report is used', (t) => {
	const report = {
		api_version: 'v2',
		pdp: {
			version: '0.9.0',
			workers: 4,
			mode: 'edge',
			checks_per_second: 12.5,
			decision_log: { sampled_out: 7, receivers: { api: { sent: 5, lost: 2 }, stdout: { sent: 4, lost: 1 } } },
		},
		status: 'ok',
		state: 'ready',
		detail: null,
		revision: 12,
		policy_revision: 11,
		degraded: { reason: 'compiling' },
	};
	t.deepEqual(readPointState(report), {
		state: 'ready',
		detail: 'Compiling the newest policy.',
		revision: 12,
		policyRevision: 11,
		version: '0.9.0',
		workers: 4,
		mode: 'edge',
		checksPerSecond: 12.5,
		lost: 3,
		sampledOut: 7,
	});
	t.is(readPointState({ degraded: { reason: 'another' } }).detail, 'another');
	t.is(readPointState({ pdp: { clock_ahead_seconds: -3_600 } }).detail, 'Its clock is 60 min behind.');
	t.like(readPointState({ pdp: { version: '0.8.0' } }), { mode: null, checksPerSecond: null }, 'an older report');
	t.like(readPointState({ pdp: { mode: 7, checks_per_second: 'many' } }), { mode: null, checksPerSecond: null });
	const anything = fc.property(fc.anything(), (said) => {
		t.is(typeof readPointState(said).state, 'string');
	});
	t.notThrows(() => fc.assert(anything));
});

test('invalid JSON is rejected with its location', (t) => {
	t.is(jsonProblem('{"a": [1, null]}'), null);
	for (const text of ['{', '{"a": }', "{'a': 1}", '{"a": 1,}', 'undefined']) t.not(jsonProblem(text), null, text);
	t.regex(jsonProblem('{\n"a": 1,}') ?? '', /line 2/);
});

const environments: readonly (readonly [
	isProduction: boolean,
	environment: Parameters<typeof isProductionEnvironment>[0],
])[] = [
	[true, { key: 'production' }],
	[true, { key: 'prod', settings: null }],
	[true, { key: 'eu', settings: { production: true } }],
	[false, { key: 'production', settings: { production: false } }],
	[false, { key: 'staging', settings: { production: 'yes' } }],
];

test('an environment is a production environment by its settings or its key, as on the server', (t) => {
	for (const [isProduction, environment] of environments) {
		t.is(isProductionEnvironment(environment), isProduction, JSON.stringify(environment));
	}
});

test('publishing a draft keeps changes drafted in the meantime', (t) => {
	const role = { kind: 'role', key: 'staff', value: { name: 'Staff' } } as const;
	const tenant = { kind: 'tenant', operation: 'create', key: 'acme', value: { name: 'Acme' } } as const;
	const published: Draft = { base_revision: 4, changes: [{ ...role, operation: 'create' }, tenant] };
	t.is(afterPublishing(published, published, 9), null);
	t.is(
		afterPublishing({ ...published, changes: [tenant] }, published, 9),
		null,
		'the draft no longer contains a published change',
	);
	const other = { kind: 'user', operation: 'delete', key: 'ann' } as const;
	t.deepEqual(
		afterPublishing({ ...published, changes: [...published.changes, other] }, published, 9),
		{ base_revision: 4, changes: [other] },
		'the base does not move, so a conflicting change to the user is still detected',
	);
	const renamed = { ...role, value: { name: 'Everybody' } };
	t.deepEqual(
		afterPublishing({ ...published, changes: [{ ...renamed, operation: 'create' }, tenant] }, published, 9),
		{ base_revision: 9, changes: [{ ...renamed, operation: 'update' }] },
		'the created role is now stored',
	);
	const deleted: Draft = { base_revision: 4, changes: [{ kind: 'role', operation: 'delete', key: 'staff' }] };
	t.deepEqual(afterPublishing({ base_revision: 4, changes: [{ ...renamed, operation: 'update' }] }, deleted, 9), {
		base_revision: 9,
		changes: [{ ...renamed, operation: 'create' }],
	});
});

test('a grant is the same object in a draft regardless of its expiry', (t) => {
	const value = { user: 'ann', role: 'editor', tenant: 'acme' };
	const ending = { ...value, expires_at: '2999-01-01T00:00:00Z' };
	for (const kind of ['role_assignment', 'relationship_tuple']) {
		const draft = { base_revision: 1, changes: [] };
		const shortened = withChange(draft, { kind, operation: 'update', value: ending });
		const taken = { kind, operation: 'delete', value } as const;
		t.deepEqual(withChange(shortened, taken).changes, [taken], 'two undos of a grant restore the older grant');
		const again = { kind, operation: 'create', value: ending } as const;
		t.deepEqual(withChange({ ...draft, changes: [taken] }, again).changes, [{ ...again, operation: 'update' }]);
		t.deepEqual(withChange({ ...draft, changes: [taken] }, { ...again, value }).changes, []);
	}
	const rule = { kind: 'condition_set_rule', operation: 'create' } as const;
	t.not(draftSubject({ ...rule, value }), draftSubject({ ...rule, value: ending }));
});

/** Typed node names, each with the mode and the node id. */
const typedNodes: readonly (readonly [typed: string, mode: GraphMode, id: string])[] = [
	['', 'facts', ''],
	['ann', 'facts', 'user:ann'],
	['ann@example.com', 'path', 'user:ann@example.com'],
	['user:ann', 'facts', 'user:ann'],
	['tenant:acme', 'facts', 'tenant:acme'],
	['document:budget', 'facts', 'instance:document:budget'],
	['document:budget#editor', 'path', 'instance:document:budget#editor'],
	['instance:document:budget', 'facts', 'instance:document:budget'],
	['document', 'schema', 'resource:document'],
	['document#editor', 'schema', 'role:document#editor'],
	['role:admin', 'schema', 'role:admin'],
];

test('a typed node name becomes a node id', (t) => {
	for (const [typed, mode, id] of typedNodes) {
		t.is(nodeId(typed, mode), id, typed);
		t.is(nodeId(id, mode), id, 'an id is unchanged');
	}
});

test('the URL preserves the expanded nodes of a graph', (t) => {
	const read = (expand: string) => readGraphQuestion((name) => (name === 'expand' ? expand : '')).expand;
	const law = fc.property(fc.array(fc.string(), { maxLength: 20 }), (ids) => {
		t.deepEqual(read(expandedText(ids)), ids);
	});
	fc.assert(law);
	for (const text of ['', 'x', '{}', '[1,', 'null']) t.deepEqual(read(text), [], text);
	t.deepEqual(read('["a",1,null,"b"]'), ['a', 'b']);
});

test('the counts of changed checks are described in words', (t) => {
	for (const [lost, gained, isLowerBound, text] of [
		[0, 0, false, ''],
		[1, 0, false, '1 check lost'],
		[0, 1, false, '1 check gained'],
		[520, 3, false, '520 checks lost, 3 gained'],
		[1200, 0, true, 'at least 1,200 checks lost'],
	] as const) {
		t.is(changedChecksText({ lost, gained }, isLowerBound), text);
	}
});

import test from 'ava';
import { documentBytes } from '../../compiler/index.js';
import { runToEnd } from '../../compiler/steps.js';
import { findAttempts } from '../../src/pdp/attempt/attempts.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import type { Attempt } from '../../src/wire/decision/attempt.js';
import { readCaseModel, serving } from './cases.js';
import { acme } from './environment.js';

/** Attempts of checks, over HTTP. test/property/attempts.test.ts tests the properties of attempts. */

interface Explained {
	readonly allow: boolean;
	readonly debug: {
		readonly request?: object;
		readonly attempts?: readonly Attempt[];
		readonly truncated?: boolean;
		readonly granted?: boolean;
	};
}

const writesD1 = (user: string) => ({
	user,
	action: 'write',
	resource: { type: 'my-doc', key: 'd1', tenant: 'acme' },
});
const file = (type: string) => `regolith/roles/${type}/editor/held.rego`;
const viaFolder = [
	{
		type: 'role_derivation',
		role: 'my-doc:d1#editor',
		resource: 'my-doc:d1',
		relation: 'parent',
		subject: 'folder:deep',
		file: file('my-doc'),
	},
	{ type: 'role_assignment', role: 'folder:deep#editor', resource: 'folder:deep', file: file('folder') },
] as const;

test('allowed checks show how they are granted, and denied checks show what would grant them', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const ask = async (check: object, headers = {}) => (await http.post<Explained>('/allowed', check, { headers })).body;
	const policy = {
		package: 'regolith.instances["my-doc"]',
		file: 'regolith/instances/my-doc/holds.rego',
		rule: 'holds["editor"]',
	};
	const allowed = await ask({ ...writesD1('cleo'), use_debugger: 'attempts' });
	t.truthy(allowed.debug.request, 'the response has reasons, too');
	t.deepEqual(allowed.debug.attempts, [
		{ passed: true, by: 'role_on_instance', chain: [...viaFolder], policy, add: [], remove: [], compare: [] },
	]);
	t.is(allowed.debug.truncated, false);

	const direct = { user: 'dan', tenant: 'acme', resource_instance: 'my-doc:d1' };
	const denied = await ask(writesD1('dan'), { 'x-debug': 'Attempts' });
	t.false(denied.allow);
	t.deepEqual(denied.debug.attempts?.slice(0, 2), [
		{
			passed: false,
			by: 'role_on_instance',
			chain: [{ type: 'role_assignment', role: 'my-doc:d1#editor', resource: 'my-doc:d1', file: file('my-doc') }],
			policy,
			add: [{ fact: 'role_assignment', role: 'editor', ...direct }],
			remove: [],
			compare: [],
		},
		{
			passed: false,
			by: 'role_on_instance',
			chain: [...viaFolder],
			policy,
			add: [],
			remove: [{ fact: 'role_assignment', role: 'reader-1', ...direct }],
			compare: [],
		},
	]);

	const unknown = await ask({ ...writesD1('new'), use_debugger: 'attempts' });
	t.deepEqual(
		unknown.debug.attempts?.[0]?.add.map(({ fact }) => fact),
		['user', 'role_assignment'],
	);
	for (const check of [
		{ ...writesD1('ann'), action: 'nothing' },
		{ ...writesD1('ann'), resource: { type: 'nothing', tenant: 'acme' } },
		{ ...writesD1('ann'), resource: { type: 'my-doc', key: 'd1', tenant: 'beta' } },
	]) {
		const { debug } = await ask({ ...check, use_debugger: 'attempts' });
		const granted = check.action !== 'nothing' && check.resource.type !== 'nothing';
		t.deepEqual([debug.attempts, debug.truncated, debug.granted], [[], false, granted], JSON.stringify(check));
	}
});

test('attempts are returned on request, and only for single checks', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const headers = { 'x-debug': 'attempts' };
	const check = writesD1('dan');
	for (const [asked, options] of [
		[{ ...check, use_debugger: true }, {}],
		[{ ...check, use_debugger: true }, { headers }],
		[check, { headers: { 'x-debug': 'true' } }],
	] as const) {
		const { debug } = (await http.post<Explained>('/allowed', asked, options)).body;
		t.truthy(debug.request);
		t.is(debug.attempts, undefined);
	}
	const plain = await http.post('/allowed', { ...check, use_debugger: false }, { headers });
	t.deepEqual(plain.body, { allow: false, result: false });
	const many = await http.post<{ allow: Explained[] }>('/allowed/bulk', [{ ...check, use_debugger: 'attempts' }]);
	t.truthy(many.body.allow[0]?.debug.request);
	t.is(many.body.allow[0]?.debug.attempts, undefined);
	const refused = await http.post('/allowed', { ...check, use_debugger: 'everything' });
	t.is(refused.status, 422);
	t.regex(JSON.stringify(refused.body), /use_debugger.*must be true, false or/);
});

test('rules between condition sets are shown with the comparisons to satisfy, except in cloud mode', async (t) => {
	const model = await readCaseModel('009-condition-sets');
	const { http } = await serving(t, model);
	const policy = {
		package: 'regolith.set_rules.document.edit',
		file: 'regolith/set_rules/document/edit/granted.rego',
		rule: 'granted',
	};
	const chain = [{ type: 'set_rule', userset: 'managers', resourceset: 'drafts' }];
	const edit = (user: object, resource: object) => ({
		user,
		action: 'edit',
		resource: { type: 'document', tenant: 'acme', ...resource },
		use_debugger: 'attempts',
	});
	const ask = async (check: object) => (await http.post<Explained>('/allowed', check)).body;
	const manager = { key: 'new', attributes: { title: 'manager' } };
	const passed = await ask(edit(manager, { key: 'd1' }));
	t.deepEqual(passed.debug.attempts, [
		{ passed: true, by: 'set_rule', chain, policy, add: [], remove: [], compare: [] },
	]);
	const denied = await ask(edit(manager, { key: 'd9', attributes: { status: 'old' } }));
	const bySets = (debug: Explained['debug']) => debug.attempts?.filter(({ by }) => by === 'set_rule');
	t.deepEqual(bySets(denied.debug), [
		{
			passed: false,
			by: 'set_rule',
			chain,
			policy,
			add: [],
			remove: [],
			compare: [
				{
					set: 'drafts',
					attribute: 'resource.status',
					operator: 'equals',
					operand: 'draft',
					negated: false,
					met: false,
					change: 'resource.status',
					now: 'old',
					example: 'draft',
				},
			],
		},
	]);
	const sign = { ...edit({ key: 'cleo' }, { key: 'd1' }), action: 'sign' };
	const byRole = (await ask(sign)).debug.attempts?.find((attempt) => JSON.stringify(attempt).includes('"drafts"'));
	t.deepEqual(byRole?.chain, [
		{ type: 'set_rule', role: 'admin', resourceset: 'drafts' },
		{ type: 'role_assignment', role: 'admin', resource: '__tenant:acme' },
	]);
	t.deepEqual(byRole?.add, [{ fact: 'role_assignment', user: 'cleo', role: 'admin', tenant: 'acme' }]);
	const ofTheCloud = await serving(t, model, { mode: 'cloud' });
	const there = await ofTheCloud.http.post<Explained>('/allowed', sign);
	t.deepEqual(bySets(there.body.debug), []);
});

test('the number of attempts is limited, and there are none while an older policy is active', (t) => {
	const roles = Array.from({ length: 60 }, (_, index) => ({
		key: `role-${index}`,
		name: 'Role',
		description: null,
		permissions: [{ resource: 'document', action: 'read' }],
		extends: [],
	}));
	const facts = FactsIndex.read(documentBytes({ ...acme, schema: { ...acme.schema, roles } }));
	const resource = { type: 'document', tenant: 'acme' };
	const check = {
		input: { user: { key: 'idle' }, action: 'read', resource, time: 0 },
		allowed: false,
		reasons: { request: {} },
	};
	const at = { facts, revision: 7, time: 0 };
	const found = runToEnd(findAttempts({ ...at, policyRevision: 7 }, check));
	t.deepEqual([found.attempts.length, found.truncated], [50, true]);
	t.deepEqual(runToEnd(findAttempts({ ...at, policyRevision: 6 }, check)), {
		attempts: [],
		truncated: true,
		granted: true,
	});
});

test('list items count toward the step limit, so a long list cannot block a decision point', (t) => {
	const member = { m: { equals: 1 } };
	const holders = {
		key: 'holders',
		name: 'Holders',
		description: null,
		type: 'userset',
		resource: null,
		parent: null,
		selects: {
			conditions: { 'user.items': { any_match: { match: { anyOf: Array.from({ length: 100 }, () => member) } } } },
		},
	} as const;
	const all = {
		...holders,
		key: 'all',
		type: 'resourceset',
		resource: 'document',
		selects: { conditions: {} },
	} as const;
	const rule = { user_set: 'holders', resource_set: 'all', resource: 'document', action: 'read' };
	const schema = { ...acme.schema, condition_sets: [holders, all], set_rules: [rule] };
	const facts = FactsIndex.read(documentBytes({ ...acme, schema }));
	const truncatedWith = (items: number) => {
		const attributes = { items: Array.from({ length: items }, () => ({ m: 2 })) };
		const input = {
			user: { key: 'idle', attributes },
			action: 'read',
			resource: { type: 'document', tenant: 'acme' },
			time: 0,
		};
		const reasons = { request: { user: { attributes }, resource: { attributes: {} } } };
		const found = findAttempts({ facts, revision: 7, time: 0, policyRevision: 7 }, { input, allowed: false, reasons });
		return runToEnd(found).truncated;
	};
	t.false(truncatedWith(3));
	t.true(truncatedWith(3_000));
});

test('no example value contains half of a surrogate pair', (t) => {
	const named = { name: 'Set', description: null, parent: null } as const;
	const conditions = { 'user.face': { 'less-than': '!\u{1F600}' } };
	const users = { ...named, key: 'plain', type: 'userset', resource: null, selects: { conditions } } as const;
	const all = {
		...named,
		key: 'all',
		type: 'resourceset',
		resource: 'document',
		selects: { conditions: {} },
	} as const;
	const rule = { user_set: 'plain', resource_set: 'all', resource: 'document', action: 'read' };
	const schema = { ...acme.schema, condition_sets: [users, all], set_rules: [rule] };
	const facts = FactsIndex.read(documentBytes({ ...acme, schema }));
	const attributes = { face: '\u{1F600}' };
	const input = {
		user: { key: 'idle', attributes },
		action: 'read',
		resource: { type: 'document', tenant: 'acme' },
		time: 0,
	};
	const reasons = { request: { user: { attributes }, resource: { attributes: {} } } };
	const { attempts } = runToEnd(
		findAttempts({ facts, revision: 7, time: 0, policyRevision: 7 }, { input, allowed: false, reasons }),
	);
	const examples = attempts.flatMap(({ compare }) => compare.map(({ example }) => example));
	t.deepEqual(examples, ['!']);
});

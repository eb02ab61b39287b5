import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { operators } from '../../compiler/condition/operator.js';
import type { Attempt, DecisionDebug } from '../../src/console/model/check/attempt.js';
import {
	attemptSentence,
	attemptsTitle,
	blockingWords,
	comparisonWords,
	exampleWords,
	factWords,
	stopWords,
} from '../../src/console/model/check/attempt-words.js';
import {
	type CheckForm,
	checkBody,
	checkQuery,
	emptyCheckForm,
	filterBody,
	formProblem,
	loggedCheckForm,
	readCheckForm,
	withAttribute,
} from '../../src/console/model/check/check-form.js';
import {
	checkTestForm,
	checkTestValue,
	suggestedTestKey,
	testCountText,
	testedCheckPhrases,
} from '../../src/console/model/check/check-test.js';
import {
	contextualFactsBody,
	readContextualRows,
	writeContextualRows,
} from '../../src/console/model/check/contextual-rows.js';
import { decisiveReason, reasonSections } from '../../src/console/model/check/decided.js';
import {
	auditLogParameters,
	type DecisionFilter,
	readDecisionFilter,
} from '../../src/console/model/check/decision-filter.js';
import { denialCodes, explainCode } from '../../src/console/model/check/denial-codes.js';
import { decisionForm, newRows, readDecisionNote } from '../../src/console/model/check/logged-decision.js';
import { isContextualSource, roleSourcePhrases } from '../../src/console/model/check/role-source.js';
import { comparisonPhrases, type FilterComparison } from '../../src/console/model/filter/comparison-phrases.js';
import { writeFilterSql } from '../../src/console/model/filter/write-filter-sql.js';
import { phraseText, reasonPhrases } from '../../src/console/model/phrase.js';
import { visibleText } from '../../src/console/model/visible-text.js';
import type { Residual } from '../../src/filter/residual.js';
import { anyCodePoint } from '../support/any-code-point.js';
import { root } from '../support/root.js';

/** Logic of "Check and why" and the decision log, without a page. */

const check = { user: 'ann', action: 'read', type: 'document', instance: 'document:budget' };
const policy = { package: 'p', file: 'f', rule: 'r' };
const nothing = { policy, add: [], remove: [], compare: [] };

const onBudget = {
	type: 'role_derivation',
	role: 'document:budget#editor',
	resource: 'document:budget',
	relation: 'parent',
	subject: 'folder:plans',
	file: 'f',
} as const;
const onPlans = { type: 'role_assignment', role: 'folder:plans#editor', resource: 'folder:plans', file: 'f' } as const;
const inAcme = { type: 'role_assignment', role: 'editor', resource: '__tenant:acme' } as const;
const related = {
	fact: 'relationship_tuple',
	subject: 'folder:plans',
	relation: 'parent',
	object: 'document:budget',
	tenant: 'acme',
} as const;
const assigned = {
	fact: 'role_assignment',
	user: 'ann',
	role: 'editor',
	tenant: 'acme',
	resource_instance: 'folder:plans',
} as const;

const sentences: readonly (readonly [string, Attempt])[] = [
	[
		'ann is `editor` in tenant acme, and `editor` grants `read` on `document`',
		{ passed: true, by: 'role_in_tenant', chain: [inAcme], ...nothing },
	],
	[
		'ann would be `editor` in tenant acme, and `editor` grants `read` on `document`',
		{
			passed: false,
			by: 'role_in_tenant',
			chain: [inAcme],
			...nothing,
			add: [{ fact: 'role_assignment', user: 'ann', role: 'editor', tenant: 'acme' }],
		},
	],
	[
		'ann is `editor` on folder:plans, which has the relation `parent` to document:budget; so ann is `editor` on ' +
			'document:budget, which grants `read`',
		{ passed: true, by: 'role_on_instance', chain: [onBudget, onPlans], ...nothing },
	],
	[
		'ann would be `editor` on folder:plans, which has the relation `parent` to document:budget; so ann would be `editor` on ' +
			'document:budget, which grants `read`',
		{ passed: false, by: 'role_on_instance', chain: [onBudget, onPlans], ...nothing, add: [assigned] },
	],
	[
		'ann is `editor` on folder:plans, which would have the relation `parent` to document:budget; so ann would be ' +
			'`editor` on document:budget, which grants `read`',
		{ passed: false, by: 'role_on_instance', chain: [onBudget, onPlans], ...nothing, add: [related] },
	],
	[
		'ann is in the user set `managers`, document:budget is in the resource set `drafts`, and a rule grants `read` on these resources to these users',
		{
			passed: true,
			by: 'set_rule',
			chain: [{ type: 'set_rule', userset: 'managers', resourceset: 'drafts' }],
			...nothing,
		},
	],
	[
		'ann is `editor` in tenant acme, document:budget is a `document`, and a rule grants `read` on these resources to these users',
		{
			passed: true,
			by: 'set_rule',
			chain: [{ type: 'set_rule', role: 'editor', resource_type: 'document' }, inAcme],
			...nothing,
		},
	],
];

test('an attempt is described in a sentence', (t) => {
	for (const [sentence, attempt] of sentences) t.is(phraseText(attemptSentence(attempt, check)), sentence);
});

test('facts and failing comparisons are described in words', (t) => {
	t.is(phraseText(factWords(assigned)), 'ann as `editor` on folder:plans');
	t.is(phraseText(factWords(related)), 'folder:plans as `parent` of document:budget');
	t.is(phraseText(factWords({ fact: 'tenant', tenant: 'acme' })), 'tenant acme');
	t.is(phraseText(factWords({ fact: 'user', user: 'a\u202eb' })), 'user a\\u{202e}b');
	const comparison = {
		set: 'seniors',
		attribute: 'user.level',
		operator: 'greater-than-equals',
		operand: 3,
		negated: false,
		met: false,
		change: 'user.level',
		now: 2,
		example: 3,
	};
	t.is(
		phraseText(comparisonWords(comparison)),
		'`user.level` is `2`; it must be at least `3`, for condition set `seniors`',
	);
	t.is(
		phraseText(comparisonWords({ ...comparison, negated: true, now: null, operand: { ref: 'resource.level' } })),
		'`user.level` is missing; it must not be at least `resource.level`, for condition set `seniors`',
	);
	t.is(phraseText(exampleWords(comparison)), '`user.level` = `3`');
	t.is(phraseText(exampleWords({ ...comparison, example: null })), 'without `user.level`');
	for (const { name, aliases } of operators) {
		for (const operator of [name, ...aliases]) {
			const text = phraseText(comparisonWords({ ...comparison, operator, operand: true }));
			t.notRegex(text, /satisfy/, operator);
		}
	}
});

test('keys are marked in a decision point’s sentence', (t) => {
	t.deepEqual(reasonPhrases('user `ann` does not exist'), ['user ', { key: 'ann' }, ' does not exist']);
	t.deepEqual(reasonPhrases('user `a`b` does not exist'), ['user `a`b` does not exist']);
	const reasons = fc.string({ unit: fc.oneof(fc.constantFrom('`', '\u202e'), anyCodePoint) });
	const law = fc.property(reasons, (reason) => {
		const pairs = reason.split('`').length % 2 === 1;
		t.is(phraseText(reasonPhrases(reason)), visibleText(pairs ? reason.replaceAll('`', '') : reason));
	});
	t.notThrows(() => fc.assert(law));
});

test('the heading above the attempts says whether there may be more', (t) => {
	t.is(attemptsTitle(true, 1, {}), 'Allowed by');
	t.is(attemptsTitle(false, 2, {}), 'Any of these changes would allow the check');
	t.is(attemptsTitle(false, 0, { truncated: true }), 'Search limit reached. There may be a way to allow this check.');
	t.is(attemptsTitle(false, 0, {}), 'No single role, relationship or attribute would allow the check');
	t.is(attemptsTitle(false, 0, { granted: false }), 'No role and no rule grants this action');
});

test('exactly the documented codes are explained', (t) => {
	const guide = readFileSync(join(root, 'docs/develop/denial-codes.md'), 'utf8');
	const titles = Array.from(guide.matchAll(/^## (.+)$/gm), ([, code]) => code);
	t.deepEqual(denialCodes, titles as string[]);
	t.is(explainCode('__proto__'), null);
});

test('the reason for a check comes from the kind of grant that decided it', (t) => {
	const said = (code: string) => ({ allow: false, code, reason: `why ${code}` });
	const cases: readonly (readonly [string, DecisionDebug])[] = [
		['no_permission', { rbac: said('no_permission'), rebac: said('no_graph_roles') }],
		['no_graph_roles', { rbac: said('no_user_roles'), rebac: said('no_graph_roles') }],
		['no_user_roles', { rbac: said('no_user_roles'), abac: said('no_matching_usersets') }],
		['cloud_pdp_not_supporting_abac', { rbac: said('no_user_roles'), abac: said('cloud_pdp_not_supporting_abac') }],
		['policy_pending', { rbac: said('no_user_roles'), pending: said('policy_pending') }],
		['environment_deleted', { code: 'environment_deleted' }],
		['unknown', {}],
	];
	for (const [code, debug] of cases) t.is(decisiveReason(false, debug).code, code);
	t.is(decisiveReason(true, { rbac: { allow: true, code: 'allow', reason: '' } }).code, 'allow');
	const sections = reasonSections({ abac: said('a'), rbac: said('b') });
	t.deepEqual(
		sections.map(([title, { code }]) => [title, code]),
		[
			['Roles in the tenant', 'b'],
			['Condition sets', 'a'],
		],
	);
});

const anyRows = fc.record({
	role_assignments: fc.array(fc.record({ role: fc.string(), resource_instance: fc.string() })),
	relationship_tuples: fc.array(fc.record({ subject: fc.string(), relation: fc.string(), object: fc.string() })),
});

/** Forms with any text that the fields can contain. */
const anyForm = fc.record<CheckForm>({
	token: fc.string(),
	user: fc.string({ unit: 'grapheme' }),
	action: fc.string(),
	resource: fc.string().map((text) => text.replaceAll(':', '')),
	instance: fc.string({ unit: 'grapheme' }),
	tenant: fc.string(),
	userAttributes: fc.oneof(fc.constant(''), fc.json(), fc.string()),
	resourceAttributes: fc.oneof(fc.constant(''), fc.json()),
	context: fc.oneof(fc.constant(''), fc.json()),
	contextualFacts: fc.oneof(fc.constant(''), anyRows.map(writeContextualRows), fc.string()),
	revision: fc.oneof(fc.constant(''), fc.nat().map(String)),
	at: fc.constantFrom('', '2026-01-31T08:00:00.000Z'),
});

test('a form is restored from its URL', (t) => {
	const law = fc.property(anyForm, (form) => {
		const given = Object.entries(checkQuery(form)).filter(([, value]) => value !== '');
		const parameters = new URLSearchParams(new URLSearchParams(given).toString());
		t.deepEqual(
			readCheckForm((name) => parameters.get(name) ?? ''),
			form,
		);
	});
	t.notThrows(() => fc.assert(law));
});

test('a logged check is replayed unchanged', (t) => {
	const law = fc.property(anyForm, (form) => {
		const body = checkBody(form);
		if (body === null) return;
		const contextual_facts = contextualFactsBody(form.contextualFacts, form.user);
		const input = JSON.parse(JSON.stringify({ ...body, contextual_facts }));
		const logged = loggedCheckForm(input, { revision: '3', at: '' });
		t.deepEqual(checkBody(logged), withoutNothing(body));
		t.deepEqual(contextualFactsBody(logged.contextualFacts, logged.user), contextual_facts);
	});
	t.notThrows(() => fc.assert(law));
});

/** Returns a check body without empty attributes and contexts. */
function withoutNothing({ user, action, resource, context }: NonNullable<ReturnType<typeof checkBody>>): object {
	const filled = (name: string, value: object | undefined) =>
		value === undefined || Object.keys(value).length === 0 ? {} : { [name]: value };
	const { attributes: ofUser, ...who } = user;
	const { attributes: ofResource, ...what } = resource;
	return {
		user: { ...who, ...filled('attributes', ofUser) },
		action,
		resource: { ...what, ...filled('attributes', ofResource) },
		...filled('context', context),
	};
}

test('a complete form becomes a check', (t) => {
	const form = { ...emptyCheckForm, user: 'ann', action: 'read', resource: 'document' };
	t.deepEqual(checkBody(form), { user: { key: 'ann' }, action: 'read', resource: { type: 'document' } });
	t.is(checkBody({ ...form, action: '' }), null);
	t.is(formProblem(form), null);
	t.is(formProblem({ ...form, userAttributes: '[1]' }), 'User attributes: must be a JSON object, such as {"level": 3}');
	t.regex(formProblem({ ...form, context: '{' }) ?? '', /^Context: /);
	t.is(formProblem({ ...form, revision: 'x' }), 'Revision: must be a whole number');
	const query = (name: string) => ({ resource: 'document:a:b', user: 'ann' })[name] ?? '';
	t.like(readCheckForm(query), { resource: 'document', instance: 'a:b', user: 'ann' });
});

test('contextual facts are sent for the user of the check, without a revision', (t) => {
	const rows = {
		role_assignments: [{ role: 'member', resource_instance: 'team:eng' }],
		relationship_tuples: [{ subject: 'folder:plans', relation: 'parent', object: 'document:budget' }],
	};
	const contextualFacts = writeContextualRows(rows);
	const form = { ...emptyCheckForm, user: 'ann', action: 'read', resource: 'document', contextualFacts };
	const facts = { ...rows, role_assignments: [{ user: 'ann', role: 'member', resource_instance: 'team:eng' }] };
	t.deepEqual(contextualFactsBody(form.contextualFacts, 'ann'), facts);
	t.is(contextualFactsBody('', 'ann'), undefined);
	t.is(formProblem({ ...form, revision: '3' }), 'Contextual facts: only checks at the newest revision support them');
	t.not(filterBody({ ...form, revision: '3' }), null, 'a filter has no contextual facts');
	const half = writeContextualRows({ ...rows, role_assignments: [{ role: '', resource_instance: 'team:eng' }] });
	t.is(formProblem({ ...form, contextualFacts: half }), 'Contextual facts: fill in all fields, or remove the row');
	for (const text of ['{', '[]', '{"tuples":[]}', '{"role_assignments":[1]}', '{"relationship_tuples":{}}']) {
		t.is(readContextualRows(text), null, text);
		t.regex(formProblem({ ...form, contextualFacts: text }) ?? '', /^Contextual facts: /, text);
	}
	// Other users' roles do not affect the check.
	const others = [...facts.role_assignments, { user: 'bob', role: 'member', resource_instance: 'team:ops' }];
	const input = { ...checkBody(form), contextual_facts: { ...facts, role_assignments: others } };
	t.deepEqual(loggedCheckForm(input, { revision: '3', token: 'x', at: '2026-01-31T08:00:00.000Z' }), form);
});

test('role sources are described in words, and contextual sources are marked', (t) => {
	const facts = {
		role_assignments: [{ user: 'ann', role: 'member', resource_instance: 'team:eng' }],
		relationship_tuples: [],
	};
	const onTeam = { role: 'team:eng#member', resource: 'team:eng' };
	const cases = [
		[{ type: 'role_assignment', ...onTeam }, 'assigned on the instance', true],
		[{ type: 'role_assignment', user: '*', ...onTeam }, 'assigned to everyone', false],
		[
			{ type: 'role_assignment', condition: { set: 'below', values: { limit: 5 } }, ...onTeam },
			'assigned on the instance under `below` with limit 5',
			false,
		],
		[
			{ type: 'role_derivation', relation: 'readers', ...onTeam },
			'from `member` on team:eng, via the relation `readers`',
			true,
		],
		[
			{ type: 'role_derivation', relation: 'readers', role: 'team:ops#member', resource: 'team:ops', contextual: true },
			'from `member` on team:ops, via the relation `readers`',
			true,
		],
		[{ type: 'computed_role', role: 'team:eng#lead', resource: 'team:eng' }, 'from `lead` on team:eng', false],
	] as const;
	for (const [source, words, contextual] of cases) {
		t.is(phraseText(roleSourcePhrases(source)), words);
		t.is(isContextualSource(source, facts), contextual, words);
	}
});

test('roles that deny a check are shown with the set or role that excludes them', (t) => {
	t.is(
		phraseText(blockingWords('ann', 'document:budget#blocked')),
		'ann is `blocked` on document:budget, and a user set or a computed role excludes users with this role.',
	);
	const chain = [
		{ type: 'computed_role', role: 'r', resource: 'document:budget', excludes: ['blocked'], file: 'f' },
	] as const;
	const blocked = { ...assigned, role: 'blocked' };
	t.is(stopWords({ by: 'role_on_instance', chain }, blocked), 'A computed role excludes this role.');
	t.is(stopWords({ by: 'role_on_instance', chain }, assigned), 'It blocks a derived role on this instance.');
	t.is(stopWords({ by: 'set_rule', chain: [] }, blocked), 'A user set excludes this role.');
});

test('a saved check test can be edited in its form again', (t) => {
	const anyTest = fc.record({
		check: anyForm,
		expected: fc.constantFrom('allow' as const, 'deny' as const),
		description: fc.string(),
	});
	const law = fc.property(anyTest, (form) => {
		const value = checkTestValue(form);
		if (value === null) return;
		const returned = checkTestValue(checkTestForm(JSON.parse(JSON.stringify(value))));
		const { contextual_facts, ...check } = value.check;
		const facts = contextual_facts === undefined ? {} : { contextual_facts };
		t.deepEqual(returned, { ...value, check: { ...withoutNothing(check), ...facts } });
	});
	t.notThrows(() => fc.assert(law));
	const abbreviated = { check: { user: 'ann', action: 'read', resource: 'document:plan' }, expected: 'deny' };
	const { check, expected } = checkTestForm(abbreviated);
	t.like(check, { user: 'ann', resource: 'document', instance: 'plan' });
	t.is(expected, 'deny');
	t.is(checkTestValue({ check: emptyCheckForm, expected: 'allow', description: 'incomplete' }), null);
});

test('a check test has a suggested key and a sentence', (t) => {
	const form = { ...emptyCheckForm, user: 'ann@example.com', action: 'read', resource: 'document', instance: 'plan' };
	t.is(suggestedTestKey(form), 'ann-example-com-read-document-plan');
	t.is(suggestedTestKey(emptyCheckForm), '');
	const law = fc.property(anyForm, (any) => {
		t.regex(suggestedTestKey(any), /^[A-Za-z0-9_-]{0,60}$/);
	});
	t.notThrows(() => fc.assert(law));
	const check = { user: { key: 'ann' }, action: 'read', resource: { type: 'document', key: 'plan', tenant: 'acme' } };
	t.is(phraseText(testedCheckPhrases(check)), 'ann `read` document:plan in acme');
	t.is(
		phraseText(testedCheckPhrases({ user: 'ann', action: 'read', resource: 'document', context: { ip: '::1' } })),
		'ann `read` document in default, with attributes',
	);
	const role = { user: 'ann', role: 'editor', resource_instance: 'folder:plans' };
	t.is(
		phraseText(testedCheckPhrases({ ...check, contextual_facts: { role_assignments: [role] } })),
		'ann `read` document:plan in acme, with contextual facts',
	);
});

for (const [passed, failed, text] of [
	[1, 0, 'The test passes'],
	[0, 1, 'The test fails'],
	[40, 0, 'All 40 tests pass'],
	[39, 1, '1 of 40 tests fails'],
	[37, 3, '3 of 40 tests fail'],
] as const) {
	test(`${passed} passed and ${failed} failed tests are described in words`, (t) => {
		t.is(testCountText({ passed, failed }), text);
	});
}

test('adding an attribute to a form keeps the values that the conditions read', (t) => {
	const seen = { user: { address: { city: 'Rome', zip: 1 }, level: 2 }, resource: {} };
	const form = { ...emptyCheckForm, userAttributes: '{"age":7}' };
	const attributes = (path: string, value: unknown) =>
		JSON.parse(withAttribute(form, seen, path, value).userAttributes);
	t.deepEqual(attributes('user.level', 3), { age: 7, level: 3 });
	t.deepEqual(attributes('user.address.city', 'Oslo'), { age: 7, address: { city: 'Oslo', zip: 1 } });
	t.deepEqual(attributes('user.age', null), { age: null });
	t.is(withAttribute(form, seen, 'context.ip', '::1').context, '{"ip":"::1"}');
	t.deepEqual(withAttribute(form, seen, 'tenant.plan', 1), form, 'tenant attributes come from the store');
	const own = JSON.parse(withAttribute(emptyCheckForm, seen, 'user.__proto__', 1).userAttributes);
	t.deepEqual(Object.keys(own), ['__proto__']);
});

test('a logged decision opens its check at its revision', (t) => {
	const row = {
		id: '1',
		timestamp: '2026-01-31T08:00:00.000Z',
		user_key: 'ann',
		action: 'read',
		resource_type: 'document',
		tenant: 'acme',
		decision: false,
		reason: 'no_permission',
		input: {
			user: { key: 'ann', attributes: { level: 1 } },
			action: 'read',
			resource: { type: 'document', key: 'plan', tenant: 'acme' },
		},
		raw_data: { labels: { id: 'rack-7' }, bundles: { environment: { revision: '12' } }, erased: ['/context/token'] },
	};
	t.deepEqual(readDecisionNote(row), {
		instance: 'plan',
		revision: '12',
		decisionPoint: 'rack-7',
		truncated: false,
		erased: ['/context/token'],
	});
	t.like(decisionForm(row), {
		user: 'ann',
		instance: 'plan',
		userAttributes: '{"level":1}',
		revision: '12',
		token: '',
		at: row.timestamp,
	});
	const custom = { custom: { token: '8843d7f92416211d' }, ...row.raw_data };
	t.like(decisionForm({ ...row, raw_data: custom }), { revision: '12', token: '8843d7f92416211d' });
	const bare = { ...row, input: null, raw_data: 'nothing' };
	t.like(decisionForm(bare), { user: 'ann', resource: 'document', tenant: 'acme', instance: '', revision: '', at: '' });
	t.deepEqual(newRows([{ id: 'c' }, { id: 'b' }, { id: 'a' }], [{ id: 'a' }]), [{ id: 'c' }, { id: 'b' }]);
});

test('a filter becomes API parameters, and the URL contains the whole filter', (t) => {
	const filter: DecisionFilter = {
		user: 'ann',
		action: 'read',
		resource: 'document',
		tenant: 'acme',
		decision: 'deny',
		code: 'no_permission',
		pdp: '0f1e5a3c-94a5-4d3c-8b0e-3d6a1c9f2b71',
		from: '2026-01-31T08:00:00.500Z',
		to: '2026-01-31T09:00:00.500Z',
	};
	t.deepEqual(auditLogParameters(filter), {
		users: ['ann'],
		action: 'read',
		resources: ['document'],
		tenant: 'acme',
		decision: 'false',
		code: 'no_permission',
		pdp_id: filter.pdp,
		timestamp_from: String(Date.parse('2026-01-31T08:00:00Z') / 1000),
		timestamp_to: String(Date.parse('2026-01-31T09:00:01Z') / 1000),
	});
	t.deepEqual(
		readDecisionFilter((name) => filter[name as keyof DecisionFilter]),
		filter,
	);
	t.deepEqual(auditLogParameters(readDecisionFilter(() => '')), {});
	t.deepEqual(auditLogParameters({ ...filter, ...readDecisionFilter(() => ''), decision: 'perhaps', from: 'x' }), {});
});

test('comparisons in filters are shown in words', (t) => {
	const level = { column: { kind: 'attribute', path: ['level'] }, name: 'set' } as const;
	const cases: readonly (readonly [FilterComparison, string])[] = [
		[
			{ ...level, kind: 'comparison', operator: 'less-than', operand: { value: 3 } },
			'`resource.level` is less than `3`',
		],
		[
			{ ...level, kind: 'comparison', operator: 'less-than', operand: { value: 3 }, reversed: true },
			'`3` is less than `resource.level`',
		],
		[
			{ ...level, kind: 'mistyped', operator: 'less-than', operand: { value: 3 } },
			'`resource.level` cannot be compared with `3`',
		],
		[
			{ ...level, kind: 'comparison', operator: 'is-null', operand: { value: true } },
			'`resource.level` is missing or null',
		],
		[{ ...level, kind: 'comparison', operator: 'is-null', operand: { value: false } }, '`resource.level` has a value'],
		[
			{ ...level, kind: 'comparison', operator: 'equals', operand: { column: { kind: 'key' } } },
			'`resource.level` equals `resource.key`',
		],
		[
			{
				column: { kind: 'key' },
				name: 'roles',
				kind: 'comparison',
				operator: 'in',
				operand: { value: Array(12).fill('a') },
			},
			`\`resource.key\` is in ${Array(10).fill('`"a"`').join(', ')} and 2 more`,
		],
	];
	for (const [comparison, words] of cases) t.is(phraseText(comparisonPhrases(comparison)), words);
});

test('a filter is written for a table with a column per attribute', (t) => {
	const compared = (path: readonly string[], value: string | number): Residual => {
		return {
			kind: 'comparison',
			column: { kind: 'attribute', path },
			operator: 'equals',
			operand: { value },
			name: 'set',
		};
	};
	const both: Residual = { kind: 'any', parts: [compared(['a.b'], 'x'), compared(['a_b'], 3), compared(['id'], 'y')] };
	const written = writeFilterSql(both, 'sqlite', new Map([['a_b', 'number']]));
	if (typeof written === 'string') return t.fail(written);
	t.deepEqual(written.columns, [
		['a.b', 'a_b'],
		['a_b', 'a_b_2'],
		['id', 'id'],
	]);
	// Comparisons in SQLite may repeat a parameter.
	t.deepEqual([...new Set(written.parameters)].sort(), [3, 'x', 'y']);
	t.regex(written.sql, /`a_b_2` = \?/);
	const refused = writeFilterSql(compared(['kind'], 'x'), 'sqlite', new Map([['kind', 'json']]));
	t.regex(String(refused), /`sql\.sqlite` cannot express the condition `set`/);
});

import test from 'ava';
import fc from 'fast-check';
import { explainedText } from '../../src/command/decide/explained-text.js';
import type { Reason } from '../../src/command/decide/reasons.js';
import { decisionCode } from '../../src/command/decide/reasons.js';
import { readTime } from '../../src/command/observe/logs.js';
import { type Found, healthProblem, statusProblems, statusText } from '../../src/command/observe/status.js';
import { requireRevision } from '../../src/command/revision-word.js';
import { path } from '../../src/command/server.js';
import { jsonText, table, visible, visibleLines } from '../../src/command/terminal.js';
import { ConfigError } from '../../src/config.js';
import type { Attempt } from '../../src/wire/decision/attempt.js';
import type { Health } from '../../src/wire/decision/check.js';
import { anyCodePoint } from '../support/any-code-point.js';

/** Tests command output and argument parsing. Untrusted text in the output cannot control a terminal. */

const shown: readonly (readonly [text: string, visible: string])[] = [
	['ann@example.com', 'ann@example.com'],
	['Zoë 李 🙂', 'Zoë 李 🙂'],
	['\u001b[31mred', '\\u001b[31mred'],
	['a\nb\tc\r', 'a\\nb\\tc\\u000d'],
	['\u009b2J', '\\u009b2J'],
	['\u007f', '\\u007f'],
	['safe\u202egnp.exe', 'safe\\u202egnp.exe'],
	['line\u2028line', 'line\\u2028line'],
	['zero\u200bwidth', 'zero\\u200bwidth'],
	['soft\u00adhyphen', 'soft\\u00adhyphen'],
	['tag \u{e0041}', 'tag \\udb40\\udc41'],
	['half \ud83d', 'half \\ud83d'],
];

for (const [text, expected] of shown) {
	test(`a terminal gets ${JSON.stringify(expected)}`, (t) => t.is(visible(text), expected));
}

test('multi-line text keeps its lines, and JSON contains the same text with escapes', (t) => {
	t.is(visibleLines('a\tb\n\u001bc\n'), 'a\tb\n\\u001bc\n');
	fc.assert(
		fc.property(fc.string({ unit: anyCodePoint }), (text) => {
			t.notRegex(visible(text), /\p{Cc}/u);
			const json = jsonText({ [text]: text });
			t.notRegex(json.replaceAll('\n', ''), /[\p{Cc}\u202a-\u202e]/u);
			t.deepEqual(JSON.parse(json), { [text]: text });
		}),
	);
});

test('columns are aligned by their displayed width', (t) => {
	const rows = [
		['ann', 'reader', ''],
		['李\u001b', 'e\u0301', 'x'],
	];
	const expected = ['USER      ROLE    ON', 'ann       reader', '李\\u001b  e\u0301       x', ''];
	t.is(table(['USER', 'ROLE', 'ON'], rows), expected.join('\n'));
});

test('a value becomes a single path segment', (t) => {
	t.is(path`/v2/facts/${'a/b'}/x/${'?#%'}`, '/v2/facts/a%2Fb/x/%3F%23%25');
	for (const value of ['.', '..']) t.throws(() => path`/v2/${value}`, { message: /cannot be part of a URL.*the ID/ });
	t.throws(() => path`/v2/${''}`, { message: /not a valid key or ID/ });
	fc.assert(
		fc.property(fc.string({ unit: anyCodePoint, minLength: 3 }), (value) => {
			const { pathname, search } = new URL(`http://a${path`/v2/${value}/end`}`);
			t.regex(pathname, /^\/v2\/[^/]+\/end$/);
			t.is(search, '');
		}),
	);
});

const moments: readonly (readonly [text: string, time: string])[] = [
	['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
	['2026-01-31T08:00:00.5+02:00', '2026-01-31T06:00:00.500Z'],
	['2024-02-29T08:00Z', '2024-02-29T08:00:00.000Z'],
];

for (const [text, time] of moments) {
	test(`parses the time ${text}`, (t) => t.is(readTime('--since', text)?.toISOString(), time));
}

const periods: readonly (readonly [text: string, seconds: number])[] = [
	['90s', 90],
	['15m', 900],
	['2h', 7_200],
	['1d', 86_400],
];

for (const [text, seconds] of periods) {
	test(`parses the age ${text}`, (t) => {
		const [before, time, after] = [Date.now(), readTime('--until', text)?.getTime() ?? 0, Date.now()];
		t.true(time >= before - seconds * 1_000 && time <= after - seconds * 1_000);
	});
}

const noTimes: readonly string[] = [
	'',
	'5',
	'foo 1',
	'2026',
	'2026-01-31',
	'2026-01-31T08:00:00',
	'2026-02-30T08:00:00Z',
	'2026-01-31 08:00:00Z',
	'31 Jan 2026 08:00 UTC',
	'1w',
	'-1h',
	'1.5h',
	'1h ',
];

for (const text of noTimes) {
	test(`rejects ${JSON.stringify(text)} as a time`, (t) => {
		const error = t.throws(() => readTime('--since', text), { instanceOf: ConfigError });
		t.true(error.message.startsWith(`--since: \`${text}\` `));
		t.false(error.message.includes('\n'));
	});
}

test('a revision is a whole number', (t) => {
	for (const word of ['0', '12', '9'.repeat(15)]) t.is(requireRevision(word), word);
	for (const word of ['', '✓', '-1', '1.5', '1e3', ' 1', '1\n', '9'.repeat(16)]) {
		t.throws(() => requireRevision(word, '--min-revision'), {
			instanceOf: ConfigError,
			message: /^--min-revision: `.*` is not a revision/,
		});
	}
});

const health: Health = {
	status: 'ok',
	online: true,
	state: 'ready',
	detail: null,
	lineage: 'd3b07384d113edec',
	left_lineage: null,
	update_id: null,
	revision: 12,
	policy_revision: 12,
	degraded: null,
};
const degraded = { reason: 'failed', since: '2026-01-31T08:00:00.000Z', revisions_behind: 3 } as const;
const unwell: readonly (readonly [state: string, health: Health, problem: string | null])[] = [
	['ready', health, null],
	['stale', { ...health, online: false, state: 'stale' }, 'the decision point is stale'],
	[
		'untrusted',
		{ ...health, online: false, state: 'stale', detail: 'not signed' },
		'the decision point is stale: not signed',
	],
	[
		'degraded',
		{ ...health, status: 'degraded', degraded },
		'the decision point uses an outdated or incomplete policy: failed',
	],
];

for (const [state, told, problem] of unwell) {
	test(`reports the problem of a decision point in state ${state}`, (t) => t.is(healthProblem(told), problem));
}

const policyFound: NonNullable<Found['policy']> = {
	revision: 12,
	lineage: 'd3b07384d113edec',
	schema_revision: 8,
	hash: 'abc',
	compiled_revision: 8,
	published_at: '2026-01-31T08:00:00.000Z',
	failure: null,
	degraded: null,
};
const found: Found = {
	api: { url: 'http://api', environment: 'default/dev' },
	policy: policyFound,
	decision_point: { url: 'http://pdp', health, lag: 0 },
};

test('the status shows a decision point’s lead and its lineage', (t) => {
	const ahead = { ...found, decision_point: { ...found.decision_point, lag: -6 } };
	t.regex(statusText(ahead, []), /12, lineage d3b07384d113edec \(6 ahead\)/);
	t.regex(statusText(found, []), /\(0 behind\)/);
	const lost = { ...health, lineage: 'c157a79031e1c40f' };
	const apart = { ...found, decision_point: { ...found.decision_point, health: lost, lag: null } };
	t.regex(statusText(apart, []), /12, lineage c157a79031e1c40f\n/);
	t.deepEqual(statusProblems(apart), [
		'the lineage of the decision point (c157a79031e1c40f) differs from the database lineage',
	]);
});

test('the status gives a reason while the newest schema is being compiled', (t) => {
	const since = '2026-01-31T08:00:00.000Z';
	const compiling: NonNullable<typeof policyFound.degraded> = {
		reason: 'compiling',
		since,
		detail: '',
		policy_revision: 7,
		revisions_behind: 5,
		left_out: [],
	};
	t.deepEqual(statusProblems({ ...found, policy: { ...policyFound, degraded: compiling } }), [
		`the active policy is out of date: the newest schema has been compiling since ${since}`,
	]);
});

const section = (code: string) => ({ allow: false, code, reason: code });
const codes: readonly (readonly [code: string, reasons: Parameters<typeof decisionCode>[1]])[] = [
	['data_outdated', { code: 'data_outdated' }],
	['no_user_roles', { rbac: section('no_user_roles') }],
	['no_permission', { rbac: section('no_permission'), rebac: section('no_graph_roles') }],
	['no_graph_roles', { rbac: section('no_role_in_tenant'), rebac: section('no_graph_roles') }],
	['no_role_in_tenant', { rbac: section('no_role_in_tenant'), abac: section('no_matching_usersets') }],
	['policy_pending', { rbac: section('no_permission'), pending: section('policy_pending') }],
	['cloud_pdp_not_supporting_abac', { rbac: section('no_permission'), abac: section('cloud_pdp_not_supporting_abac') }],
];

test('a denial has the code of the deciding kind of grants', (t) => {
	for (const [code, reasons] of codes) t.is(decisionCode(false, reasons), code);
	t.is(decisionCode(true, { rbac: section('no_permission') }), 'allow');
});

const reasons: readonly Reason[] = [
	{ by: 'tenant_roles', allow: false, code: 'no_user_roles', reason: 'user `ann` has no role in any tenant' },
];
const policy = {
	package: 'regolith.resources.report',
	file: 'regolith/resources/report/permits.rego',
	rule: 'permits',
};
const attempt: Attempt = {
	passed: false,
	by: 'role_in_tenant',
	chain: [{ type: 'role_assignment', role: 'reader', resource: '__tenant:acme' }],
	policy,
	add: [{ fact: 'role_assignment', user: 'ann', role: 'reader', tenant: 'acme' }],
	remove: [],
	compare: [],
};
const derived: Attempt = {
	...attempt,
	by: 'role_on_instance',
	chain: [
		{
			type: 'role_derivation',
			role: 'document:q3#viewer',
			resource: 'document:q3',
			relation: 'parent',
			subject: 'folder:a',
			file: 'roles.rego',
		},
		{ type: 'role_assignment', role: 'folder:a#viewer', resource: 'folder:a' },
	],
	add: [
		{ fact: 'tenant', tenant: 'acme' },
		{ fact: 'user', user: 'ann' },
		{ fact: 'resource_instance', resource_instance: 'document:q3', tenant: 'acme' },
		{ fact: 'relationship_tuple', subject: 'folder:a', relation: 'parent', object: 'document:q3', tenant: 'acme' },
	],
	remove: [{ fact: 'role_assignment', user: 'ann', role: 'owner', tenant: 'acme', resource_instance: 'document:q3' }],
};
const ruled: Attempt = {
	...attempt,
	by: 'set_rule',
	chain: [{ type: 'set_rule', userset: 'auditors', resource_type: 'report' }],
	add: [],
	compare: [
		{
			set: 'auditors',
			attribute: 'user.department',
			operator: 'equals',
			operand: 'au\u001bdit',
			negated: false,
			met: false,
			change: 'user.department',
			now: null,
			example: 'audit',
		},
	],
};

test('an explained denial lists the changes that would allow the check', (t) => {
	const found = { attempts: [attempt, derived, ruled], truncated: true, granted: true };
	t.is(
		explainedText({ allow: false, code: 'no_user_roles', reasons }, found),
		`denied: no_user_roles
  roles in the tenant: user \`ann\` has no role in any tenant

Any of these changes would allow the check:
  1. add role reader for user ann in tenant acme
     policy: regolith/resources/report/permits.rego, permits
  2. add tenant acme
     add user ann
     add instance document:q3 in tenant acme
     add relationship: folder:a as parent of document:q3
     remove role owner for user ann on document:q3
     through role document:q3#viewer, from folder:a (relation parent to document:q3):
     through role folder:a#viewer, assigned on folder:a
     policy: regolith/resources/report/permits.rego, permits
  3. change user.department (now null; such as "audit") so that user.department equals "au\\u001bdit", for set auditors
     through rule for user set auditors on resource report
     policy: regolith/resources/report/permits.rego, permits
This list may be incomplete.
`,
	);
	const nothing = { attempts: [], truncated: false, granted: true };
	t.regex(explainedText({ allow: false, code: 'no_such_action', reasons: [] }, nothing), /No single role/);
	const ungranted = { ...nothing, granted: false };
	t.regex(
		explainedText({ allow: false, code: 'no_permission', reasons: [] }, ungranted),
		/^No role and no condition set rule grants/m,
	);
});

test('an allowed check is printed as one word; if explained, with the attempts that pass', (t) => {
	const granted = [{ by: 'tenant_roles', allow: true, code: 'allow', reason: 'granted' }] as const;
	t.is(explainedText({ allow: true, code: 'allow', reasons: granted }, null), 'allowed\n');
	const found = { attempts: [attempt], truncated: false, granted: true };
	t.is(
		explainedText({ allow: true, code: 'allow', reasons: granted }, found),
		`allowed
  roles in the tenant: granted

Allowed by:
  1. role reader, assigned in tenant acme
     policy: regolith/resources/report/permits.rego, permits
`,
	);
});

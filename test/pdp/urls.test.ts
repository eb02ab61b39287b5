import test, { type ExecutionContext } from 'ava';
import type { MappingRule, Patch } from '../../compiler/model.js';
import { createLogger } from '../../src/log.js';
import { PatternThread } from '../../src/pdp/gateway/pattern-thread.js';
import { urlPattern } from '../../src/pdp/gateway/url-pattern.js';
import { serving } from './cases.js';
import { acme, policyWasm, step } from './environment.js';
import type { Served } from './served.js';

/** Checks of requests by their URL and method. */

test.before('build the policy', async () => {
	await policyWasm(acme);
});

interface Case {
	readonly rule: string;
	readonly regex?: true;
	readonly url: string;
	/** Resource attributes from the URL; null if the rule does not match. */
	readonly attributes: Readonly<Record<string, string | null>> | null;
}

const api = 'https://api.example.com';
const safe = 'https://api\\.example\\.com';
const profile = `^${safe}/api/v1/users/(?P<user_id>[0-9]+)/profile$`;
const search = `^${safe}/search(?=.*[?&]q=(?P<q>[^&]+))(?=.*[?&]page=(?P<page>[0-9]+))(?=.*[?&]sort=(?P<sort>asc|desc))`;

/** Cases from the contract, and cases that the contract leaves open. */
const cases: readonly Case[] = [
	{ rule: 'https://some.url/important_resource', url: 'https://some.url/important_resource', attributes: {} },
	{ rule: profile, regex: true, url: `${api}/api/v1/users/123/profile`, attributes: { user_id: '123' } },
	{ rule: profile, regex: true, url: `${api}/api/v1/users/abc/profile`, attributes: null },
	{ rule: profile, regex: true, url: `${api}/api/v1/users/123/profile/../../../sensitive`, attributes: null },
	{
		rule: `^${safe}/v2/organizations/(?P<org_id>[\\w-]+)/users/(?P<user_id>[0-9]+)/settings$`,
		regex: true,
		url: `${api}/v2/organizations/org123/users/456/settings`,
		attributes: { org_id: 'org123', user_id: '456' },
	},
	{
		rule: `^${safe}/api/users(?:/(?P<user_id>[0-9]+))?$`,
		regex: true,
		url: `${api}/api/users`,
		attributes: { user_id: null },
	},
	{
		rule: `^${safe}/profile(?:\\?(?P<query>.*))?$`,
		regex: true,
		url: `${api}/profile?include=details`,
		attributes: { query: 'include=details' },
	},
	{
		rule: '^https?://api\\.example\\.com/api/v1/users/(?P<user_id>[0-9]+)$',
		regex: true,
		url: 'http://api.example.com/api/v1/users/123',
		attributes: { user_id: '123' },
	},
	{
		rule: '^https://[\\w-]+\\.example\\.com/api/v1/users/(?P<user_id>[0-9]+)$',
		regex: true,
		url: 'https://subdomain.example.com/api/v1/users/123',
		attributes: { user_id: '123' },
	},
	{ rule: '[invalid regex', regex: true, url: `${api}/any`, attributes: null },
	{ rule: `^${safe}/profile[!@#$%]+$`, regex: true, url: `${api}/profile!@#$%`, attributes: {} },
	{ rule: `${api}/users/{user_id}/profile`, url: `${api}/users/123/profile`, attributes: { user_id: '123' } },
	{ rule: `${api}/users/{user_id}/profile`, url: `${api}/users/invalid/profile`, attributes: { user_id: 'invalid' } },
	{
		rule: `${api}/orgs/{org_id}/repos/{repo_id}`,
		url: `${api}/orgs/org123/repos/repo456`,
		attributes: { org_id: 'org123', repo_id: 'repo456' },
	},
	{
		rule: `${api}/search?q={query}&page={page_num}`,
		url: `${api}/search?q=test&page=1`,
		attributes: { query: 'test', page_num: '1' },
	},
	{
		rule: `${api}/users/{user_id}/settings/{setting_type}`,
		url: `${api}/users/123/settings/notifications`,
		attributes: { user_id: '123', setting_type: 'notifications' },
	},
	{ rule: `^${safe}/profile%20space$`, regex: true, url: `${api}/profile%20space`, attributes: {} },
	{ rule: `^${safe}/profile%E2%98%BA$`, regex: true, url: `${api}/profile%E2%98%BA`, attributes: {} },
	{
		rule: search,
		regex: true,
		url: `${api}/search?q=test&page=1&sort=desc`,
		attributes: { q: 'test', page: '1', sort: 'desc' },
	},
	{
		rule: `^${safe}/filter\\?ids=\\[(?P<ids>[0-9,]+)\\]$`,
		regex: true,
		url: `${api}/filter?ids=[1,2,3]`,
		attributes: { ids: '1,2,3' },
	},
	{
		rule: `^${safe}/users/(?P<user_id>[0-9]*)/profile$`,
		regex: true,
		url: `${api}/users//profile`,
		attributes: { user_id: '' },
	},
	{ rule: `^${safe}/profile/?$`, regex: true, url: `${api}/profile/`, attributes: {} },

	// Text after the path is not part of the last segment.
	{ rule: `${api}/users/{id}`, url: `${api}/users/7?full=yes`, attributes: { id: '7' } },
	{ rule: `${api}/users`, url: `${api}/users?full=yes`, attributes: {} },
	{ rule: `${api}/users`, url: `${api}/users/`, attributes: null },
	{ rule: `${api}/users`, url: 'http://api.example.com/users', attributes: null },
	{ rule: '{any}//{host}/users', url: `${api}/users`, attributes: { any: 'https:', host: 'api.example.com' } },
	{ rule: `${api}/a/{x}b`, url: `${api}/a/{x}b`, attributes: {} },
	{ rule: `${api}/a/{}`, url: `${api}/a/b`, attributes: null },
	{ rule: `${api}/{__proto__}`, url: `${api}/a`, attributes: { ['__proto__']: 'a' } },
	// Rules with queries.
	{ rule: `${api}/s?q={q}`, url: `${api}/s`, attributes: null },
	{ rule: `${api}/s?q={q}`, url: `${api}/s?p=1`, attributes: null },
	{ rule: `${api}/s?q=1`, url: `${api}/s?x=2&q=1&y`, attributes: {} },
	{ rule: `${api}/s?q=1`, url: `${api}/s?q=2`, attributes: null },
	{ rule: `${api}/s?q=1`, url: `${api}/s?q=1&q=2`, attributes: null },
	{ rule: `${api}/s?q=1`, url: `${api}/s?q=1&q=1`, attributes: {} },
	{ rule: `${api}/s?q={q}`, url: `${api}/s?q=a=b%20c`, attributes: { q: 'a=b%20c' } },
	{ rule: `${api}/s?`, url: `${api}/s`, attributes: null },
	// Expressions are anchored only at the start, and are case-sensitive.
	{ rule: 'https://api', regex: true, url: `${api}/any`, attributes: {} },
	{ rule: 'api', regex: true, url: `${api}/any`, attributes: null },
	{ rule: `^${safe}/Users`, regex: true, url: `${api}/users`, attributes: null },
	{ rule: '(?P<a>h)ttp(?!x)', regex: true, url: `${api}/users`, attributes: { a: 'h' } },
	{ rule: '(?!x)ttp', regex: true, url: `${api}/users`, attributes: null },
	{ rule: 'h(?P<t>t)(?P=t)ps', regex: true, url: `${api}/users`, attributes: { t: 't' } },
	{ rule: `(?=h)${safe}\\Z`, regex: true, url: `${api}Z`, attributes: null },
	{ rule: `(?=h)${safe}/[(?P<]+(?P<rest>.*)`, regex: true, url: `${api}/(?a`, attributes: { rest: 'a' } },
	{ rule: `h(?:.{0,1000}){3}users`, regex: true, url: `${api}/users`, attributes: {} },
];

const method = (index: number) => `method-${index}`;
const rule = (url: string, more: Partial<MappingRule> = {}): MappingRule => ({
	url,
	url_type: null,
	http_method: 'get',
	resource: 'document',
	action: 'write',
	priority: null,
	...more,
});

/** Serves a model with these rules, in two proxy configs. By default, even slow expressions have enough time. */
function mapping(
	t: ExecutionContext,
	rules: readonly MappingRule[],
	others: readonly MappingRule[] = [],
	limit = 60_000,
) {
	const mapping_rules = [
		{ config: 'second', rules: others },
		{ config: 'first', rules },
	];
	return serving(t, { ...acme, mapping_rules }, { patternLimit: limit });
}

interface Answer {
	readonly allow: boolean;
	readonly query: { readonly resource: { readonly attributes?: object }; readonly action: string };
	readonly debug: { readonly code?: string };
}

/** Sends a check for ann. */
async function ask({ http }: Served, url: string, more: object = {}) {
	const asked = { user: 'ann', http_method: 'GET', url, tenant: 'acme', use_debugger: true };
	return (await http.post<Answer>('/allowed_url', { ...asked, ...more })).body;
}

test('a mapping rule matches URLs as documented', async (t) => {
	// Each case has a separate method, so that only its own rule can match.
	const rules = cases.map(({ rule: url, regex }, index) =>
		rule(url, { url_type: regex ? 'regex' : null, http_method: method(index) }),
	);
	const served = await mapping(t, rules);
	for (const [index, { rule: url, url: asked, attributes }] of cases.entries()) {
		const { allow, query, debug } = await ask(served, asked, { http_method: method(index).toUpperCase() });
		t.is(allow, attributes !== null, `${url} of ${asked}`);
		if (attributes === null) t.is(debug.code, 'no_matching_mapping_rule', url);
		else t.deepEqual(query.resource.attributes ?? {}, attributes, url);
	}
});

test('among matching rules, the highest priority wins, then the first rule', async (t) => {
	const any = `${api}/{any}`;
	const named = (action: string | null, priority: number | null = null) => rule(any, { action, priority });
	for (const [rules, others, action] of [
		[[named('a'), named('b')], [], 'a'],
		[[named('a'), named('b', 1)], [], 'b'],
		[[named('a', -1), named('b')], [], 'b'],
		[[named('a', 0), named('b')], [named('c', 1)], 'c'],
		[[named('a')], [named('c')], 'a'],
		[[named(null)], [], 'get'],
		[[rule(`${api}/x`, { action: 'a', priority: 5 }), named('b')], [], 'b'],
	] as const) {
		const { query } = await ask(await mapping(t, rules, others), `${api}/y`);
		t.is(query.action, action);
	}
});

test('a request gets the decision of its mapped check', async (t) => {
	const served = await mapping(t, [rule(`${api}/documents/{id}`), rule(`${api}/odd`, { resource: 'nothing' })]);
	const { http } = served;
	const at = (user: unknown, url: string, tenant = 'acme') =>
		http.post('/allowed_url', { user, http_method: 'get', url, tenant });
	const yes = { allow: true, result: true };
	const no = { allow: false, result: false };
	t.deepEqual((await at('ann', `${api}/documents/1`)).body, yes);
	t.deepEqual((await at({ key: 'ann', attributes: { a: 1 } }, `${api}/documents/1`)).body, yes);
	t.deepEqual((await at('ben', `${api}/documents/1`)).body, no);
	t.deepEqual((await at('ben', `${api}/documents/1`, 'default')).body, yes);
	t.deepEqual((await at('ann', `${api}/odd`)).body, no);
	const unmatched = await at('ann', `${api}/folders/1`);
	t.is(unmatched.status, 200);
	t.is(unmatched.revision, 7);
	t.deepEqual(unmatched.body, {
		...no,
		query: { user: { key: 'ann' }, http_method: 'get', url: `${api}/folders/1`, tenant: 'acme' },
		debug: {
			code: 'no_matching_mapping_rule',
			reason: "no mapping rule matches the request's method and URL",
		},
	});
	t.is((await ask(served, `${api}/documents/1`, { http_method: 'POST' })).debug.code, 'no_matching_mapping_rule');
});

const wrong: readonly (readonly [change: object, loc: string])[] = [
	[{ user: undefined }, 'user'],
	[{ http_method: 3 }, 'http_method'],
	[{ http_method: 'x'.repeat(65) }, 'http_method'],
	[{ url: undefined }, 'url'],
	[{ url: '/documents' }, 'url'],
	[{ url: 'ftp://example.com/' }, 'url'],
	[{ url: 'https://' }, 'url'],
	[{ url: `https://example.com/${'x'.repeat(8_192)}` }, 'url'],
	[{ tenant: undefined }, 'tenant'],
	[{ context: [] }, 'context'],
];

test('reports the location of a problem in a request', async (t) => {
	const { http } = await mapping(t, []);
	for (const [change, loc] of wrong) {
		const right = { user: 'ann', http_method: 'GET', url: `${api}/x`, tenant: 'acme' };
		const { status, body } = await http.post<{ detail: { loc: unknown }[] }>('/allowed_url', { ...right, ...change });
		t.is(status, 422, loc);
		t.deepEqual(
			body.detail.map((problem) => problem.loc),
			[['body', loc]],
		);
	}
});

test('deltas update the mapping rules', async (t) => {
	const served = await mapping(t, [rule(`${api}/a`)]);
	const { feed, replica } = served;
	const path = ['regolith', 'mapping_rules', 'third'];
	let revision = 7;
	const change = async (patch: Patch) => {
		const base = revision;
		revision += 1;
		const bundle = await step({ base, revision, patches: [patch] });
		feed.publish({ revision, snapshot: Buffer.from(''), step: bundle });
		await replica.reached(revision);
	};
	const allowed = async () => [(await ask(served, `${api}/a`)).allow, (await ask(served, `${api}/b`)).allow];
	t.deepEqual(await allowed(), [true, false]);
	await change({
		op: 'upsert',
		path,
		value: [{ url: `${api}/b`, http_method: 'get', resource: 'document', action: 'write' }],
	});
	t.deepEqual(await allowed(), [true, true]);
	await change({ op: 'upsert', path, value: [{ url: 3 }, 'x', null] });
	t.deepEqual(await allowed(), [true, false], 'malformed rules are ignored');
	await change({ op: 'remove', path: ['regolith', 'mapping_rules', 'first'] });
	t.deepEqual(await allowed(), [false, false]);
	await change({ op: 'remove', path: ['regolith', 'mapping_rules'] });
	t.deepEqual(await allowed(), [false, false]);
});

test('a URL with several values for a parameter matches no rule, and later rules are not tried', async (t) => {
	const strict = rule(`${api}/s?mode=admin&x={x}`, { action: 'print', priority: 1 });
	const served = await mapping(t, [strict, rule(`${api}/s`)]);
	for (const [query, allow] of [
		['', true],
		['?mode=user&x=1', true],
		['?mode=admin&x=1', false],
		['?mode=user&mode=admin&x=1', false],
		['?mode=admin&x=1&x=2', false],
		['?mode=user&x=1&x=2', true],
		['?mode=user&mode=user&x=1', true],
	] as const) {
		t.is((await ask(served, `${api}/s${query}`)).allow, allow, query);
	}
});

/** An expression that takes far too long in JavaScript's backtracking matcher. */
const endless = '^(?=h)https://api\\.example\\.com/(?:a+)+$';
const bait = `${api}/${'a'.repeat(60)}!`;

test('an expression that takes too long matches nothing, and later rules are not tried', async (t) => {
	const after = rule(`${api}/{any}`, { priority: -1 });
	const served = await mapping(t, [rule(endless, { url_type: 'regex' }), after], [], 200);
	t.is((await ask(served, bait)).debug.code, 'no_matching_mapping_rule');
	const before = rule(`${api}/{any}`, { priority: 1 });
	const other = await mapping(t, [rule(endless, { url_type: 'regex' }), before], [], 200);
	t.true((await ask(other, bait)).allow, 'an earlier rule applies');
	t.true(
		(await ask(await mapping(t, [rule(endless, { url_type: 'regex' })]), `${api}/aaa`)).allow,
		'it works otherwise',
	);
});

test('the thread is replaced after a slow expression, and waiting requests are served', async (t) => {
	const thread = new PatternThread({ log: createLogger('silent'), limit: 500 });
	const [slow, ...others] = await Promise.all([
		thread.match(endless, bait),
		thread.match('(?<a>h)', bait),
		thread.match('(', bait),
		thread.match('x', bait),
	]);
	t.is(slow, 'late');
	t.deepEqual(others, [{ a: 'h' }, null, null]);
	const many = await Promise.allSettled(Array.from({ length: 150 }, () => thread.match('h', bait)));
	t.is(many.filter(({ status }) => status === 'rejected').length, 50, 'this many requests may wait');
	t.deepEqual(await thread.match('h', bait), {});
});

test('checks are served between the expressions of a request', async (t) => {
	const slow = Array.from({ length: 30 }, (_, index) =>
		rule(`^${safe}/(?:.*a){${100 - index}}b`, { url_type: 'regex' }),
	);
	const served = await mapping(t, slow);
	const ended: string[] = [];
	const asked = ask(served, `${api}/${'a'.repeat(8_000)}`).then(() => ended.push('url'));
	const check = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'acme' } };
	await Promise.all([asked, served.http.post('/allowed', check).then(() => ended.push('check'))]);
	t.deepEqual(ended, ['check', 'url']);
});

test('expressions with linear matching time are matched without the thread', (t) => {
	const kinds = cases.filter(({ regex }) => regex).map(({ rule: url }) => [url, urlPattern(url, true).kind]);
	t.true(kinds.filter(([, kind]) => kind === 'linear').length > 12);
	for (const [url, kind] of kinds) {
		const refused = /\(\?[=!]|\(\?P=|invalid|1000/.test(url ?? '');
		t.is(kind, refused ? 'backtracking' : 'linear', url);
	}
});

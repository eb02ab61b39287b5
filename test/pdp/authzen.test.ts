import test, { type ExecutionContext } from 'ava';
import type { ConditionSet, Json, Model } from '../../compiler/model.js';
import type { DecisionPointOptions } from '../../src/pdp/endpoints.js';
import { client } from '../support/client.js';
import { serving } from './cases.js';
import { assign, policyWasm, resource, step } from './environment.js';
import { key, type Served, serve } from './served.js';

/** Requirements of the AuthZEN Authorization API 1.0. */

function conditionSet(name: string, type: ConditionSet['type'], conditions: Json): ConditionSet {
	const of = type === 'resourceset' ? 'book' : null;
	return {
		key: name,
		name,
		description: null,
		type,
		resource: of,
		parent: null,
		selects: { conditions },
	} as ConditionSet;
}

/**
 * Ann writes books in acme. Senior users sign drafts, and stamp a book if the ink in the action's properties is the
 * book's ink.
 */
const library: Model = {
	schema: {
		resources: [resource('book', ['read', 'sign', 'stamp', 'write'])],
		roles: [
			{
				key: 'clerk',
				name: 'clerk',
				description: null,
				permissions: ['read', 'write'].map((action) => ({ resource: 'book', action })),
				extends: [],
			},
		],
		condition_sets: [
			conditionSet('seniors', 'userset', { 'user.level': { equals: 'senior' } }),
			conditionSet('named', 'userset', { 'user.email': { equals: 'cid@example.com' } }),
			conditionSet('drafts', 'resourceset', { 'resource.status': { equals: 'draft' } }),
			conditionSet('stamped', 'resourceset', { 'resource.ink': { equals: { ref: 'context.action.ink' } } }),
		],
		set_rules: [
			{ user_set: 'seniors', resource_set: 'drafts', resource: 'book', action: 'sign' },
			{ user_set: 'named', resource_set: 'drafts', resource: 'book', action: 'sign' },
			{ user_set: 'seniors', resource_set: 'stamped', resource: 'book', action: 'stamp' },
		],
	},
	facts: {
		users: ['ann', 'ben', 'cid'],
		tenants: ['acme', 'beta', 'default'].map((name) => ({ key: name, attributes: {} })),
		role_assignments: [
			{ user: 'ann', role: 'clerk', tenant: 'acme' },
			{ user: 'ben', role: 'clerk', tenant: 'default' },
		],
		instances: [
			{ type: 'book', key: 'b1', tenant: 'acme' },
			{ type: 'book', key: 'b2', tenant: 'beta' },
		],
		user_attributes: [{ user: 'cid', attributes: { level: 'senior' } }],
		instance_attributes: [{ type: 'book', key: 'b1', attributes: { status: 'draft', ink: 'red' } }],
		instance_assignments: [],
		relationships: [],
	},
};

const serveLibrary = (t: ExecutionContext, options: Partial<DecisionPointOptions> = {}): Promise<Served> =>
	serving(t, library, options);

test.before('build the policy', async () => {
	await policyWasm(library);
});

const ann = { type: 'user', id: 'ann' };
const ben = { type: 'user', id: 'ben' };
const cid = { type: 'user', id: 'cid' };
const read = { name: 'read' };
const write = { name: 'write' };
const b1 = { type: 'book', id: 'b1' };
const b2 = { type: 'book', id: 'b2' };
const annReads = { subject: ann, action: read, resource: b1 };
const benReads = { ...annReads, subject: ben };

const evaluation = '/access/v1/evaluation';
const evaluations = '/access/v1/evaluations';
const subjects = '/access/v1/search/subject';
const resources = '/access/v1/search/resource';
const actions = '/access/v1/search/action';
const configuration = '/.well-known/authzen-configuration';

const yes = { decision: true };
const no = { decision: false };
const none = { results: [] };

interface Rule {
	readonly must: string;
	readonly path: string;
	readonly body: unknown;
	readonly answer: unknown;
}

const rules: readonly Rule[] = [
	{ must: 'a decision is a boolean', path: evaluation, body: annReads, answer: yes },
	{ must: 'a denial is a normal result', path: evaluation, body: benReads, answer: no },
	{
		must: 'the context is optional',
		path: evaluation,
		body: { ...annReads, context: { time: '2030-06-27T18:03-07:00', ip: '192.0.2.1' } },
		answer: yes,
	},
	{
		must: 'unknown fields are ignored at every level',
		path: evaluation,
		body: {
			subject: { ...ann, more: 1 },
			action: { ...read, more: [] },
			resource: { ...b1, more: {} },
			more: { nested: true },
			evaluations: 'of the other endpoint',
		},
		answer: yes,
	},
	{
		must: 'properties are optional, of any number and shape',
		path: evaluation,
		body: {
			subject: { ...ann, properties: { department: 'Sales', tags: ['a'], address: { city: 'Oslo' } } },
			action: { ...read, properties: { method: 'GET' } },
			resource: { ...b1, properties: { library_record: { isbn: '978' } } },
		},
		answer: yes,
	},
	{
		must: 'null counts as absent, as some clients write it',
		path: evaluation,
		body: { subject: { ...ann, properties: null }, action: read, resource: b1, context: null },
		answer: yes,
	},
	{
		must: 'an unknown subject is denied',
		path: evaluation,
		body: { ...annReads, subject: { type: 'user', id: 'x' } },
		answer: no,
	},
	{ must: 'an unknown action is denied', path: evaluation, body: { ...annReads, action: { name: 'x' } }, answer: no },
	{
		must: 'an unknown resource type is denied',
		path: evaluation,
		body: { ...annReads, resource: { type: 'x', id: 'b1' } },
		answer: no,
	},

	{
		must: 'results are in evaluation order',
		path: evaluations,
		body: { evaluations: [annReads, benReads, annReads] },
		answer: { evaluations: [yes, no, yes] },
	},
	{
		must: 'request fields are defaults for evaluations',
		path: evaluations,
		body: { subject: ann, action: read, evaluations: [{ resource: b1 }, { resource: b2 }] },
		answer: { evaluations: [yes, no] },
	},
	{
		must: 'an evaluation can replace each field',
		path: evaluations,
		body: { ...annReads, evaluations: [{}, { subject: ben }, { action: { name: 'sign' } }, { resource: b2 }] },
		answer: { evaluations: [yes, no, no, no] },
	},
	{
		must: 'an evaluation field replaces the whole default',
		path: evaluations,
		body: {
			subject: { ...ann, properties: { level: 'senior' } },
			action: { name: 'sign' },
			resource: { ...b1, properties: { tenant: 'acme' } },
			context: { tenant: 'beta' },
			evaluations: [{}, { subject: ann }, { resource: b1 }, { resource: b1, context: {} }],
		},
		answer: { evaluations: [yes, no, no, yes] },
	},
	{
		must: 'a default that no evaluation uses may be incomplete',
		path: evaluations,
		body: { subject: ann, action: read, resource: { type: 'book' }, evaluations: [{ resource: b1 }] },
		answer: { evaluations: [yes] },
	},
	{ must: 'a request without evaluations is a single evaluation', path: evaluations, body: annReads, answer: yes },
	{
		must: 'a request with an empty list of evaluations is a single evaluation',
		path: evaluations,
		body: { ...benReads, evaluations: [] },
		answer: no,
	},
	{
		must: 'execute_all decides all evaluations',
		path: evaluations,
		body: { evaluations: [benReads, annReads], options: { evaluations_semantic: 'execute_all', other: 1 } },
		answer: { evaluations: [no, yes] },
	},
	{
		must: 'deny_on_first_deny ends with the first denial',
		path: evaluations,
		body: { evaluations: [annReads, benReads, annReads], options: { evaluations_semantic: 'deny_on_first_deny' } },
		answer: { evaluations: [yes, no] },
	},
	{
		must: 'permit_on_first_permit ends with the first permit',
		path: evaluations,
		body: { evaluations: [benReads, annReads, benReads], options: { evaluations_semantic: 'permit_on_first_permit' } },
		answer: { evaluations: [no, yes] },
	},
	{
		must: 'options may be empty',
		path: evaluations,
		body: { evaluations: [annReads], options: {} },
		answer: { evaluations: [yes] },
	},

	{
		must: 'a subject search ignores the subject id',
		path: subjects,
		body: { subject: { type: 'user', id: 'ben' }, action: read, resource: b1 },
		answer: { results: [ann] },
	},
	{
		must: 'a resource search ignores the resource id',
		path: resources,
		body: { subject: ann, action: read, resource: { type: 'book', id: 'b2' } },
		answer: { results: [b1] },
	},
	{
		must: 'an action search finds action names',
		path: actions,
		body: { subject: ann, resource: b1 },
		answer: { results: [read, write] },
	},
	{
		must: 'an action search ignores the action',
		path: actions,
		body: { subject: ann, action: { name: 7 }, resource: b1 },
		answer: { results: [read, write] },
	},
	{
		must: 'a search uses subject properties',
		path: subjects,
		body: { subject: { type: 'user', properties: { level: 'senior' } }, action: { name: 'sign' }, resource: b1 },
		answer: { results: [ann, ben, cid] },
	},
	{
		must: 'a search uses the context',
		path: actions,
		body: { subject: cid, resource: b1, context: { action: { ink: 'red' } } },
		answer: { results: [{ name: 'sign' }, { name: 'stamp' }] },
	},
	{
		must: 'a search with an unknown subject finds nothing',
		path: actions,
		body: { subject: { type: 'user', id: 'nobody' }, resource: b1 },
		answer: none,
	},
	{
		must: 'a search with an unknown subject type finds nothing',
		path: subjects,
		body: { subject: { type: 'spaceship' }, action: read, resource: b1 },
		answer: none,
	},
	{
		must: 'a search with an unknown resource type finds nothing',
		path: resources,
		body: { subject: ann, action: read, resource: { type: 'spaceship' } },
		answer: none,
	},
	{
		must: 'a search with an unknown action finds nothing',
		path: resources,
		body: { subject: ann, action: { name: 'fly' }, resource: { type: 'book' } },
		answer: none,
	},
	{
		must: 'a page with all results has an empty token',
		path: actions,
		body: { subject: ann, resource: b1, page: {} },
		answer: { results: [read, write], page: { next_token: '' } },
	},
	{
		must: 'an empty page has an empty token',
		path: subjects,
		body: { subject: { type: 'spaceship' }, action: read, resource: b1, page: { limit: 5, properties: { x: 1 } } },
		answer: { results: [], page: { next_token: '' } },
	},
];

test('responses follow the AuthZEN specification', async (t) => {
	const { http } = await serveLibrary(t);
	for (const { must, path, body, answer } of rules) {
		const { status, headers, body: given, revision } = await http.post<unknown>(path, body);
		t.is(status, 200, must);
		t.deepEqual(given, answer, must);
		t.is(headers.get('content-type'), 'application/json', must);
		t.is(revision, 7, must);
	}
});

const wrongItems: readonly (readonly [item: unknown, message: RegExp])[] = [
	[{ subject: { type: 'user' } }, /^subject\.id: field required$/],
	[{ subject: { id: 'ann' } }, /^subject\.type: field required$/],
	[{ subject: 'ann' }, /^subject: /],
	[{ action: {} }, /^action\.name: field required$/],
	[{ action: { name: 3 } }, /^action\.name: /],
	[{ resource: { type: 'book' } }, /^resource\.id: field required$/],
	[{ resource: { ...b1, properties: { tenant: 5 } } }, /^resource\.properties\.tenant: must be a string$/],
	[{ resource: { ...b1, properties: [] } }, /^resource\.properties: must be an object$/],
	[{ context: 'now' }, /^context: must be an object$/],
	[{ context: { tenant: ['acme'] } }, /^context\.tenant: must be a string$/],
	['text', /^the evaluation must be an object$/],
	[null, /^the evaluation must be an object$/],
	[[annReads], /^the evaluation must be an object$/],
];

interface Decided {
	readonly evaluations: readonly { decision: boolean; context?: { error?: { status: number; message: string } } }[];
}

test('a problem in one evaluation does not affect other evaluations', async (t) => {
	const { http } = await serveLibrary(t);
	for (const [item, message] of wrongItems) {
		const body = { ...annReads, evaluations: [{}, item, {}] };
		const answer = await http.post<Decided>(evaluations, body);
		t.is(answer.status, 200);
		const [first, second, third] = answer.body.evaluations;
		t.deepEqual([first, third], [yes, yes]);
		t.is(second?.decision, false);
		t.is(second?.context?.error?.status, 400);
		t.regex(second?.context?.error?.message ?? '', message);
		const ended = { ...body, options: { evaluations_semantic: 'deny_on_first_deny' } };
		t.is((await http.post<Decided>(evaluations, ended)).body.evaluations.length, 2, 'a failure counts as a denial');
	}
	const missing = await http.post<Decided>(evaluations, {
		subject: ann,
		action: read,
		evaluations: [{ resource: b1 }, {}],
	});
	t.like(missing.body.evaluations, [
		yes,
		{ decision: false, context: { error: { message: 'resource: field required' } } },
	]);
	const merged = {
		subject: ann,
		action: read,
		resource: { type: 'book' },
		evaluations: [{ resource: { id: 'b1' } }, annReads],
	};
	t.deepEqual(
		(await http.post<Decided>(evaluations, merged)).body.evaluations.map(({ decision }) => decision),
		[false, true],
		'members are never merged',
	);
});

const json = { 'content-type': 'application/json' };

interface Refused {
	readonly must: string;
	readonly path?: string;
	readonly body?: unknown;
	readonly raw?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly says: RegExp;
}

const { subject: _s, ...noSubject } = annReads;
const { action: _a, ...noAction } = annReads;
const { resource: _r, ...noResource } = annReads;

const wrongEvaluations: readonly Refused[] = [
	{ must: 'a body', says: /body/ },
	{ must: 'a subject', body: noSubject, says: /subject: field required/ },
	{ must: 'an action', body: noAction, says: /action: field required/ },
	{ must: 'a resource', body: noResource, says: /resource: field required/ },
	{
		must: 'a type of the subject',
		body: { ...annReads, subject: { id: 'ann' } },
		says: /subject\.type: field required/,
	},
	{
		must: 'an id of the subject',
		body: { ...annReads, subject: { type: 'user' } },
		says: /subject\.id: field required/,
	},
	{ must: 'a name of the action', body: { ...annReads, action: {} }, says: /action\.name: field required/ },
	{
		must: 'a type of the resource',
		body: { ...annReads, resource: { id: 'b1' } },
		says: /resource\.type: field required/,
	},
	{
		must: 'an id of the resource',
		body: { ...annReads, resource: { type: 'book' } },
		says: /resource\.id: field required/,
	},
	{ must: 'a subject that is an object', body: { ...annReads, subject: 'ann' }, says: /subject/ },
	{ must: 'a name that is a string', body: { ...annReads, action: { name: 123 } }, says: /action\.name/ },
	{
		must: 'properties that are an object',
		body: { ...annReads, subject: { ...ann, properties: [] } },
		says: /properties/,
	},
	{ must: 'a context that is an object', body: { ...annReads, context: 'x' }, says: /context/ },
	{ must: 'a tenant that is a string', body: { ...annReads, context: { tenant: 1 } }, says: /context\.tenant/ },
	{ must: 'an object', body: [annReads], says: /body/ },
	{ must: 'JSON', raw: '{"subject":', says: /not valid JSON/ },
	{ must: 'JSON without trailing text', raw: `${JSON.stringify(annReads)} x`, says: /not valid JSON/ },
	{ must: 'Unicode', raw: '{"subject":"\\ud800"}', says: /surrogate/ },
	{ must: 'the JSON content type', body: annReads, headers: { 'content-type': 'text/plain' }, says: /content type/ },
	{
		must: 'the JSON content type instead of a form content type',
		body: annReads,
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
		says: /content type/,
	},
];

const wrongLimits = [0, -1, 1.5, '5'].map((limit) => ({
	must: `a limit, not ${JSON.stringify(limit)}`,
	path: actions,
	body: { subject: ann, resource: b1, page: { limit } },
	says: /page\.limit/,
}));

const wrongTokens = ['x', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAA', '\u00e9', '='].map((token) => ({
	must: `a token of the search, not ${token}`,
	path: actions,
	body: { subject: ann, resource: b1, page: { token } },
	says: /page\.token/,
}));

const wrongRequests: readonly Refused[] = [
	...wrongEvaluations.map((refused) => ({ path: evaluation, ...refused })),
	...wrongEvaluations.map((refused) => ({ path: evaluations, ...refused })),
	{ must: 'a list of evaluations', path: evaluations, body: { ...annReads, evaluations: {} }, says: /evaluations/ },
	{
		must: 'a known evaluations_semantic',
		path: evaluations,
		body: { evaluations: [annReads], options: { evaluations_semantic: 'whatever' } },
		says: /evaluations_semantic/,
	},
	{
		must: 'a known evaluations_semantic for a single evaluation',
		path: evaluations,
		body: { ...annReads, options: { evaluations_semantic: 'whatever' } },
		says: /evaluations_semantic/,
	},
	{
		must: 'options that are an object',
		path: evaluations,
		body: { evaluations: [annReads], options: 'x' },
		says: /options/,
	},
	{
		must: 'at most 10,000 evaluations',
		path: evaluations,
		body: { ...annReads, evaluations: Array.from({ length: 10_001 }, () => ({})) },
		says: /at most 10000 evaluations/,
	},
	{
		must: 'at most 1,000 evaluations with reasons',
		path: evaluations,
		body: { ...annReads, evaluations: Array.from({ length: 1_001 }, () => ({})) },
		headers: { 'x-debug': 'true' },
		says: /at most 1000 evaluations .* got 1001/,
	},
	{
		must: 'an action to search subjects',
		path: subjects,
		body: { subject: { type: 'user' }, resource: b1 },
		says: /action/,
	},
	{
		must: 'a type of subjects',
		path: subjects,
		body: { subject: {}, action: read, resource: b1 },
		says: /subject\.type/,
	},
	{
		must: 'an id of the resource to search subjects',
		path: subjects,
		body: { subject: { type: 'user' }, action: read, resource: { type: 'book' } },
		says: /resource\.id: field required/,
	},
	{
		must: 'a subject to search resources',
		path: resources,
		body: { action: read, resource: { type: 'book' } },
		says: /subject/,
	},
	{
		must: 'an id of the subject to search resources',
		path: resources,
		body: { subject: { type: 'user' }, action: read, resource: { type: 'book' } },
		says: /subject\.id: field required/,
	},
	{ must: 'a type of resources', path: resources, body: { ...annReads, resource: {} }, says: /resource\.type/ },
	{ must: 'a resource to search actions', path: actions, body: { subject: ann }, says: /resource: field required/ },
	{
		must: 'an id of the resource to search actions',
		path: actions,
		body: { subject: ann, resource: { type: 'book' } },
		says: /id/,
	},
	...wrongLimits,
	...wrongTokens,
	{
		must: 'a token that is a string',
		path: actions,
		body: { subject: ann, resource: b1, page: { token: 1 } },
		says: /page\.token/,
	},
];

test('rejects invalid requests with 400 and a message', async (t) => {
	const { http } = await serveLibrary(t);
	for (const { must, path = '', body, raw, headers = {}, says } of wrongRequests) {
		const sent = { ...json, ...headers, 'x-request-id': 'r-1' };
		const answer = await http.post<unknown>(path, body, raw === undefined ? { headers: sent } : { headers: sent, raw });
		t.is(answer.status, 400, `${path}: ${must}`);
		t.regex(answer.body as string, says, `${path}: ${must}`);
		t.is(answer.headers.get('content-type'), 'application/json', must);
		t.is(answer.headers.get('x-request-id'), 'r-1', must);
		t.is(answer.revision, 7, must);
	}
	const withCharset = { headers: { 'content-type': 'Application/JSON ; charset=utf-8' } };
	t.deepEqual((await http.post<unknown>(evaluation, annReads, withCharset)).body, yes);
});

const posted = [evaluation, evaluations, subjects, resources, actions];

test('requires the key, and returns 401 without it', async (t) => {
	const { url } = await serveLibrary(t);
	const anyone = client(url);
	for (const path of posted) {
		for (const authorization of [undefined, 'Bearer wrong', `Basic ${key}`, `Bearer ${key}x`]) {
			const headers = { 'x-request-id': 'r-2', ...(authorization === undefined ? {} : { authorization }) };
			const answer = await anyone.post<unknown>(path, undefined, { headers, raw: 'no JSON' });
			t.is(answer.status, 401, `${path} with ${authorization}`);
			t.is(typeof answer.body, 'string');
			t.is(answer.headers.get('content-type'), 'application/json');
			t.is(answer.headers.get('x-request-id'), 'r-2');
			t.is(answer.headers.get('www-authenticate'), 'Bearer');
		}
		const named = { headers: { authorization: `bearer ${key}` } };
		t.is((await anyone.post(path, annReads, named)).status, 200);
	}
	t.is((await anyone.get(configuration)).status, 200, 'the metadata is public');
});

test('repeats the request id in every response', async (t) => {
	const { http } = await serveLibrary(t);
	const sent = async (path: string, id: string | undefined, body: unknown = annReads) => {
		const extra = id === undefined ? {} : { headers: { 'x-request-id': id } };
		const { headers } = path.startsWith('/.well') ? await http.get(path, extra) : await http.post(path, body, extra);
		return headers.get('x-request-id');
	};
	const made = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
	for (const path of [
		...posted,
		configuration,
		`${configuration}/tenant1`,
		'/access/v1/nothing',
		'//access/v1//evaluation',
	]) {
		for (const id of ['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', 'a b; c="d"', '~', 'x'.repeat(256)]) {
			t.is(await sent(path, id), id, path);
		}
		t.regex((await sent(path, undefined)) ?? '', made, path);
		for (const id of ['x'.repeat(257), 'caf\u00e9', '']) t.regex((await sent(path, id)) ?? '', made, `${path} ${id}`);
	}
	t.regex((await sent('/allowed', 'mine')) ?? '', made, 'other endpoints return a generated id');
});

test('errors with other statuses also have a message as the body', async (t) => {
	const { http } = await serveLibrary(t, { budget: 0 });
	const answers = [
		[await http.get<unknown>(evaluation), 405],
		[await http.post<unknown>('/access/v1/search', {}), 404],
		[await http.post<unknown>(`${evaluation}/`, annReads), 404],
		[await http.post<unknown>(evaluation, annReads, { headers: { 'x-min-revision': 'x' } }), 400],
		[await http.post<unknown>(evaluation, undefined, { raw: `"${'x'.repeat(5 * 1024 * 1024)}"` }), 413],
		[await http.post<unknown>(evaluations, { evaluations: [annReads] }), 503],
		[await http.post<unknown>(subjects, annReads), 503],
		[await http.post<unknown>(resources, annReads), 503],
		[await http.post<unknown>(actions, annReads), 503],
	] as const;
	for (const [answer, status] of answers) {
		t.is(answer.status, status);
		t.is(typeof answer.body, 'string');
		t.is(answer.headers.get('content-type'), 'application/json');
	}
	t.is((await http.post(evaluation, annReads)).status, 200);
	const early = await serve(t);
	for (const path of posted) {
		const answer = await early.http.post<unknown>(path, annReads);
		t.is(answer.status, 503, path);
		t.regex(answer.body as string, /no revision is loaded/, path);
	}
	t.is((await early.http.get(configuration)).status, 200);
});

const signs = { name: 'sign' };

/** Evaluations with the expected decision. */
const mapped: readonly (readonly [must: string, body: object, decision: boolean])[] = [
	['the default tenant of a stored resource is its own tenant', annReads, true],
	['the resource can specify the tenant', { ...annReads, resource: { ...b1, properties: { tenant: 'beta' } } }, false],
	['the context can specify the tenant', { ...annReads, context: { tenant: 'beta' } }, false],
	[
		'the resource tenant overrides the context tenant',
		{ ...annReads, resource: { ...b1, properties: { tenant: 'acme' } }, context: { tenant: 'beta' } },
		true,
	],
	[
		'an empty tenant counts as absent',
		{ ...annReads, resource: { ...b1, properties: { tenant: '' } }, context: { tenant: null } },
		true,
	],
	[
		'a resource that is not stored is in the tenant default',
		{ ...benReads, resource: { type: 'book', id: 'new' } },
		true,
	],
	[
		'a resource that is not stored is in no other tenant',
		{ ...annReads, resource: { type: 'book', id: 'new' } },
		false,
	],
	[
		'the request can specify the tenant for a resource that is not stored',
		{ ...annReads, resource: { type: 'book', id: 'new', properties: { tenant: 'acme' } } },
		true,
	],
	['a subject with the type identity is a user', { ...annReads, subject: { type: 'identity', id: 'ann' } }, true],
	['a subject with any other type is not a user', { ...annReads, subject: { type: 'service', id: 'ann' } }, false],
	['subject types are case-sensitive', { ...annReads, subject: { type: 'User', id: 'ann' } }, false],
	['conditions read stored attributes', { subject: cid, action: signs, resource: b1 }, true],
	[
		'subject properties replace stored attributes',
		{ subject: { ...cid, properties: { level: 'junior' } }, action: signs, resource: b1 },
		false,
	],
	[
		'subject properties also apply without stored attributes',
		{ subject: { ...ann, properties: { level: 'senior' } }, action: signs, resource: b1 },
		true,
	],
	[
		'the property email is the attribute user.email',
		{ subject: { ...ann, properties: { email: 'cid@example.com' } }, action: signs, resource: b1 },
		true,
	],
	[
		'resource properties replace stored attributes',
		{ subject: cid, action: signs, resource: { ...b1, properties: { status: 'done' } } },
		false,
	],
	[
		'resource properties also apply to a resource that is not stored',
		{ subject: cid, action: signs, resource: { type: 'book', id: 'new', properties: { status: 'draft' } } },
		true,
	],
	[
		'action properties are context.action',
		{ subject: cid, action: { name: 'stamp', properties: { ink: 'red' } }, resource: b1 },
		true,
	],
	[
		'a condition compares action properties',
		{ subject: cid, action: { name: 'stamp', properties: { ink: 'blue' } }, resource: b1 },
		false,
	],
	[
		'action properties replace context.action',
		{
			subject: cid,
			action: { name: 'stamp', properties: { ink: 'blue' } },
			resource: b1,
			context: { action: { ink: 'red' } },
		},
		false,
	],
	[
		'without action properties, context.action is missing',
		{ subject: cid, action: { name: 'stamp' }, resource: b1 },
		false,
	],
];

test('subject, action, resource and context are converted to a check', async (t) => {
	const { http } = await serveLibrary(t);
	for (const [must, body, decision] of mapped) {
		t.deepEqual((await http.post<unknown>(evaluation, body)).body, { decision }, must);
	}
	const { body } = await http.post<Decided>(evaluations, { evaluations: mapped.map(([, one]) => one) });
	t.deepEqual(
		body.evaluations.map(({ decision }) => decision),
		mapped.map(([, , decision]) => decision),
		'several evaluations in one request have the same results',
	);
});

test('a setting determines the subject types that are users', async (t) => {
	const { http } = await serveLibrary(t, { authzen: { publicUrl: null, subjectTypes: ['service'] } });
	t.deepEqual(
		(await http.post<unknown>(evaluation, { ...annReads, subject: { type: 'service', id: 'ann' } })).body,
		yes,
	);
	t.deepEqual((await http.post<unknown>(evaluation, annReads)).body, no);
	const found = await http.post<unknown>(subjects, { ...annReads, subject: { type: 'service' } });
	t.deepEqual(found.body, { results: [{ type: 'service', id: 'ann' }] });
});

test('a decision point in cloud mode ignores conditions', async (t) => {
	const { http } = await serveLibrary(t, { mode: 'cloud' });
	t.deepEqual((await http.post<unknown>(evaluation, { subject: cid, action: signs, resource: b1 })).body, no);
	t.deepEqual((await http.post<unknown>(evaluation, annReads)).body, yes);
	t.deepEqual((await http.post<unknown>(subjects, { subject: ann, action: signs, resource: b1 })).body, none);
});

test('reasons are returned on request', async (t) => {
	const { http } = await serveLibrary(t);
	const headers = { 'x-debug': 'true' };
	const { body } = await http.post(evaluation, benReads, { headers });
	t.like(body, { decision: false, context: { request: { action: 'read' }, rbac: { allow: false } } });
	const stranger = { ...annReads, subject: { type: 'service', id: 'ann' } };
	const many = await http.post<Decided>(evaluations, { evaluations: [annReads, stranger] }, { headers });
	t.like(many.body.evaluations, [
		{ decision: true, context: { rbac: { allow: true } } },
		{ decision: false, context: { reason: 'subjects of type `service` are not users' } },
	]);
});

test('evaluations in one request have one revision despite concurrent writes', async (t) => {
	const { feed, replica, http } = await serveLibrary(t);
	const body = { ...annReads, evaluations: Array.from({ length: 5_000 }, () => ({})) };
	const asked = http.post<Decided>(evaluations, body);
	const patches = assign('ann', 'acme', []);
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches }) });
	await replica.reached(8);
	const answer = await asked;
	t.is(answer.status, 200);
	t.is(answer.body.evaluations.length, 5_000);
	t.true(answer.body.evaluations.every(({ decision }) => decision === (answer.revision === 7)));
	t.deepEqual((await http.post<unknown>(evaluation, annReads)).body, no);
});

interface Configuration {
	readonly policy_decision_point: string;
	readonly capabilities: readonly string[];
}

test('publishes the endpoint URLs in its metadata', async (t) => {
	const { url, http } = await serveLibrary(t);
	const anyone = client(url);
	const { status, headers, body } = await anyone.get<Configuration>(configuration);
	t.is(status, 200);
	t.is(headers.get('content-type'), 'application/json');
	t.deepEqual(body as object, {
		policy_decision_point: `http://${new URL(url).host}`,
		access_evaluation_endpoint: `http://${new URL(url).host}${evaluation}`,
		access_evaluations_endpoint: `http://${new URL(url).host}${evaluations}`,
		search_subject_endpoint: `http://${new URL(url).host}${subjects}`,
		search_resource_endpoint: `http://${new URL(url).host}${resources}`,
		search_action_endpoint: `http://${new URL(url).host}${actions}`,
		capabilities: ['urn:ietf:params:authzen:capability:search-pagination'],
	});
	const behind = { headers: { host: 'pdp.example.com', 'x-forwarded-proto': 'https' } };
	const at = async (path: string) => (await http.get<Configuration>(path, behind)).body.policy_decision_point;
	t.is(await at(configuration), 'https://pdp.example.com');
	t.is(await at(`${configuration}/tenant1`), 'https://pdp.example.com/tenant1');
	t.is(await at(`${configuration}/a/b-c`), 'https://pdp.example.com/a/b-c');
	for (const path of ['/%22', '/a%2f..', '/%2e%2e%2fb', '/a%3fb', '/a%0ab', '/%']) {
		const refused = await http.get<unknown>(configuration + path, behind);
		t.true([400, 404].includes(refused.status), path);
		t.is(typeof refused.body, 'string', path);
	}
	t.is((await http.post(configuration, {})).status, 405);
});

test('a setting determines the URLs in the metadata', async (t) => {
	const authzen = { publicUrl: 'https://pdp.example.com/tenant1', subjectTypes: ['user'] };
	const { http } = await serveLibrary(t, { authzen });
	const behind = { headers: { host: 'other.example.com' } };
	for (const path of [configuration, `${configuration}/tenant1`]) {
		const { body } = await http.get<Configuration>(path, behind);
		t.like(body as object, {
			policy_decision_point: 'https://pdp.example.com/tenant1',
			access_evaluation_endpoint: `https://pdp.example.com/tenant1${evaluation}`,
		});
	}
	t.is((await http.get(`${configuration}/tenant2`, behind)).status, 404);
});

// @rest

import test from 'ava';
import fc from 'fast-check';
import { anyCodePoint } from '../support/any-code-point.js';
import { type Answer, client } from '../support/client.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Bad input to a decision point gets the documented status and body, never a 5xx, and never an accidental allow. */

let stack: Stack;

test.before('create an environment where auth0|ann may read documents in acme', async () => {
	stack = await startStack();
	const { environment: http } = stack;
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const role_assignments = [{ role: 'viewer', tenant: 'acme' }];
	await stack.reached((await http.post(`${facts}/users`, { key: 'auth0|ann', role_assignments })).revision);
});

test.after.always(async () => stack.stop());

const right = { user: { key: 'auth0|ann' }, action: 'read', resource: { type: 'document', tenant: 'acme' } };
const checks = ['/allowed', '/allowed/bulk'];
const paths = [...checks, '/user-permissions', '/user-tenants', '/authorized_users'];

/**
 * Returns the problem with a failure response from the decision point, or `null` if there is none. A failure has the
 * form `{"detail": ...}`.
 */
function complaint({ headers, body, status }: Answer<unknown>): string | null {
	if (headers.get('content-type') !== 'application/json') return `content type ${headers.get('content-type')}`;
	const { detail, ...rest } = body as { readonly detail?: unknown };
	if (Object.keys(rest).length > 0) return 'fields besides `detail`';
	if (status === 422)
		return Array.isArray(detail) && detail.every(isProblem) ? null : '`detail` is not a list of problems';
	return typeof detail === 'string' && detail !== '' ? null : '`detail` is empty';
}

function isProblem(problem: { readonly loc?: unknown; readonly msg?: unknown; readonly type?: unknown }): boolean {
	return Array.isArray(problem.loc) && typeof problem.msg === 'string' && typeof problem.type === 'string';
}

const wrongChecks: Readonly<Record<string, readonly [body: unknown, place: string]>> = {
	'no user': [{ ...right, user: undefined }, 'body.user'],
	'a user that is null': [{ ...right, user: null }, 'body.user'],
	'a user without key': [{ ...right, user: {} }, 'body.user.key'],
	'a user whose key is a number': [{ ...right, user: { key: 5 } }, 'body.user.key'],
	'attributes that are a string': [{ ...right, user: { key: 'ann', attributes: 'x' } }, 'body.user.attributes'],
	'attributes that are a list': [
		{ ...right, resource: { type: 'document', attributes: [] } },
		'body.resource.attributes',
	],
	'an e-mail address that is a number': [{ ...right, user: { key: 'ann', email: 5 } }, 'body.user.email'],
	'no action': [{ ...right, action: undefined }, 'body.action'],
	'an action that is null': [{ ...right, action: null }, 'body.action'],
	'no resource': [{ ...right, resource: undefined }, 'body.resource'],
	'a resource without type': [{ ...right, resource: { tenant: 'acme' } }, 'body.resource.type'],
	'a tenant that is a list': [{ ...right, resource: { type: 'document', tenant: ['acme'] } }, 'body.resource.tenant'],
	'a context that is a string': [{ ...right, context: 'x' }, 'body.context'],
	'a string as the body': ['text', 'body'],
	'null as the body': [null, 'body'],
	'a list as the body': [[right], 'body'],
};

test('the error for an invalid check includes the location, alone and in bulk', async (t) => {
	for (const [what, [body, at]] of Object.entries(wrongChecks)) {
		const alone = await stack.pdp.post<Problems>('/allowed', body);
		t.is(alone.status, 422, what);
		t.is(complaint(alone), null, what);
		t.true(
			problemPlaces(alone).some((place) => place.startsWith(at)),
			`${what}: ${problemPlaces(alone)}`,
		);
		const among = await stack.pdp.post<Problems>('/allowed/bulk', [right, body]);
		t.is(among.status, 422, what);
		t.true(
			problemPlaces(among).some((place) => place.startsWith(at.replace('body', 'body.1'))),
			`${what}: ${problemPlaces(among)}`,
		);
	}
	for (const wrong of [
		{},
		{ user: null },
		{ user: {} },
		{ ...right, tenants: 'acme' },
		{ ...right, resources: [5] },
		[],
		5,
	]) {
		const answer = await stack.pdp.post('/user-permissions', wrong);
		t.is(answer.status, 422, JSON.stringify(wrong));
		t.is(complaint(answer), null);
	}
});

interface Problems {
	readonly detail: readonly { readonly loc: readonly unknown[] }[];
}

const problemPlaces = ({ body }: Answer<Problems>) => body.detail.map(({ loc }) => loc.join('.'));

test('unknown fields have no effect, and null means absent in optional fields', async (t) => {
	const spellings = [
		right,
		{ ...right, user: 'auth0|ann' },
		{ ...right, user: { key: 'auth0|ann', firstName: null, attributes: null, roles: ['x'], id: 5 } },
		{ ...right, context: null, sdk: 'x', unknown: {}, constructor: 1, use_debugger: null },
		{ ...right, resource: { type: 'document', tenant: 'acme', key: null, attributes: null, context: {} } },
	];
	for (const body of spellings) {
		const answer = await stack.pdp.post('/allowed', body);
		t.deepEqual([answer.status, answer.body], [200, { allow: true, result: true }], JSON.stringify(body));
	}
});

test('bodies that are not JSON, too large or too deep are rejected', async (t) => {
	const { pdp } = stack;
	for (const path of paths) {
		for (const raw of ['{', '{"a":}', 'undefined', '\0', `${'['.repeat(500)}${']'.repeat(500)}`]) {
			const answer = await pdp.send('POST', path, undefined, { raw });
			t.is(answer.status, 400, `${path} ${raw.slice(0, 20)}`);
			t.is(complaint(answer), null);
		}
		const huge = await pdp.send('POST', path, undefined, {
			raw: JSON.stringify({ ...right, context: { a: 'x'.repeat(10_000_000) } }),
		});
		t.is(huge.status, 413);
		t.is(complaint(huge), null);
		t.is((await pdp.post(path)).status, 422, 'no body');
		t.is((await pdp.get(path)).status, 405);
	}
	t.is((await pdp.post('/nothing', right)).status, 404);
	t.is((await pdp.post('/allowed', right)).body['allow'], true, 'it keeps responding');
});

test('a field called `__proto__` is an ordinary field, and nothing inherits from it', async (t) => {
	const granting = '{"__proto__":{"user":"auth0|ann","action":"read","resource":{"type":"document","tenant":"acme"}}}';
	for (const path of paths) {
		const answer = await stack.pdp.send('POST', path, undefined, { raw: granting });
		t.is(answer.status, 422, path);
		t.is(complaint(answer), null);
	}
	const beside = JSON.stringify({ ...right, context: {} }).replace('"context":{}', '"context":{"__proto__":{"a":1}}');
	t.deepEqual((await stack.pdp.send('POST', '/allowed', undefined, { raw: beside })).body, {
		allow: true,
		result: true,
	});
	t.is(({} as { readonly user?: unknown }).user, undefined);
	t.is((await stack.pdp.post('/allowed', {})).status, 422);
});

test('requests without the environment’s key are rejected', async (t) => {
	const { url } = stack.decisionPoint.listening;
	for (const path of paths) {
		const none = await client(url).post(path, right);
		t.is(none.status, 401);
		t.is(complaint(none), null);
		for (const key of ['x', stack.keys.organization, stack.keys.project, `${stack.keys.environment}0`]) {
			const wrong = await client(url, key).post(path, right);
			t.is(wrong.status, 403);
			t.is(complaint(wrong), null);
			t.false(JSON.stringify(wrong.body).includes(key) && key.length > 10, 'no secret is repeated');
		}
	}
	t.is((await client(url).get('/healthy')).status, 200);
});

const strange = fc.oneof(
	fc.string({ unit: anyCodePoint }),
	fc.constantFrom(
		'auth0|ann',
		'document',
		'read',
		'acme',
		'default',
		'__proto__',
		'constructor',
		'\0',
		'\ud800',
		'"',
		'\\',
		'',
		'../',
		'a:b:c',
	),
);
const json = fc.oneof(fc.jsonValue({ stringUnit: anyCodePoint, maxDepth: 3 }), strange, fc.double());
const subject = fc.oneof(
	strange,
	fc.record({ key: fc.oneof(strange, json), attributes: json, email: json }, { requiredKeys: ['key'] }),
);
const object = fc.oneof(
	strange,
	fc.record({ type: fc.oneof(strange, json), tenant: json, key: json, attributes: json }, { requiredKeys: [] }),
);
const check = fc.record(
	{ user: subject, action: fc.oneof(strange, json), resource: object, context: json },
	{ requiredKeys: ['user', 'action'] },
);

test('every check gets a response, and only granted access is allowed', async (t) => {
	const property = fc.asyncProperty(
		fc.constantFrom(...paths),
		fc.oneof({ weight: 9, arbitrary: check }, json),
		async (path, question) => {
			const answer = await stack.pdp.post<Decided>(path, path === '/allowed/bulk' ? [question] : question);
			const shown = `${path} ${JSON.stringify(question)}: ${answer.status} ${JSON.stringify(answer.body)}`;
			if (answer.status >= 500) throw new Error(shown);
			if (answer.status >= 400 && complaint(answer) !== null) throw new Error(`${complaint(answer)}: ${shown}`);
			const allow = path === '/allowed/bulk' ? answer.body.allow?.[0]?.allow : answer.body.allow;
			if (checks.includes(path) && answer.status === 200 && allow !== granted(question)) throw new Error(shown);
		},
	);
	await fc.assert(property, { numRuns: 600 });
	t.pass();
});

interface Decided {
	readonly allow?: readonly { readonly allow: boolean }[] & boolean;
}

/** True if a well-formed check is for the only granted permission. */
function granted(question: unknown): boolean {
	const { user, action, resource } = question as { user: unknown; action: unknown; resource: unknown };
	const key = typeof user === 'string' ? user : (user as { key: unknown }).key;
	if (typeof resource === 'string') return false;
	const { type, tenant } = resource as { type: unknown; tenant: unknown };
	return key === 'auth0|ann' && action === 'read' && type === 'document' && tenant === 'acme';
}

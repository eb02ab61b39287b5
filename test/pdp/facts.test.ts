import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import type { FactsWait } from '../../src/pdp/endpoint/facts-wait.js';
import type { DecisionPointOptions } from '../../src/pdp/endpoints.js';
import { acme, snapshot } from './environment.js';
import { key, serve } from './served.js';

/** Calls to the facts API through a decision point. The control plane echoes them, never publishes them, or is down. */

const never = { milliseconds: 5, policy: 'ignore' } as const satisfies FactsWait;

/** Keeps idle connections open. Otherwise, the server may close a connection while a request is being sent. */
const alive = { keepAliveTimeout: 0 };

/** Starts a control plane that responds to every request with revision 99, which the feed never reaches. */
async function farAhead(t: ExecutionContext): Promise<string> {
	const server = createServer(alive, (request, response) => {
		request.resume();
		response.writeHead(request.method === 'DELETE' ? 204 : 200, {
			'content-type': 'application/json',
			'x-revision': '99',
		});
		response.end(request.method === 'DELETE' ? undefined : '{"key":"ann"}');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/facts/p/e`;
}

/** Starts a control plane that echoes each request. */
async function echo(t: ExecutionContext): Promise<string> {
	const server = createServer(alive, async ({ method, url }, response) => {
		response.end(method === 'HEAD' ? undefined : `${method} ${url}`);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/facts/p/e`;
}

async function serveFacts(t: ExecutionContext, url: string, options: Partial<DecisionPointOptions> = {}) {
	return (await serveFactsAt(t, url, options)).http;
}

async function serveFactsAt(t: ExecutionContext, url: string, options: Partial<DecisionPointOptions> = {}) {
	const served = await serve(t, { facts: { find: async () => url, wait: never }, ...options });
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await served.replica.reached(7);
	return served;
}

test('a write that does not arrive in time gets its response or 424', async (t) => {
	const http = await serveFacts(t, await farAhead(t));
	const waited = await http.post('/facts/users', { key: 'ann' });
	t.is(waited.status, 200);
	t.deepEqual(waited.body, { key: 'ann' });
	t.is((await http.delete('/facts/users/ann')).status, 204);
	const failed = await http.post('/facts/users', { key: 'ann' }, { headers: { 'x-timeout-policy': 'fail' } });
	t.is(failed.status, 424);
	t.deepEqual(failed.body, { detail: 'Timeout waiting for update to be received' });
	const headers = { 'x-timeout-policy': 'fail', 'x-wait-timeout': '0' };
	t.is((await http.post('/facts/users', { key: 'ann' }, { headers })).status, 200, 'no request waits');
	t.is(
		(await http.get('/facts/users/ann', { headers: { 'x-timeout-policy': 'fail' } })).status,
		200,
		'reads do not wait',
	);
});

test('returns 502 if the control plane is unreachable', async (t) => {
	const http = await serveFacts(t, 'http://127.0.0.1:9/v2/facts/p/e');
	const answer = await http.post('/facts/users', { key: 'ann' });
	t.is(answer.status, 502);
	t.regex(String(answer.body['detail']), /control plane did not respond/);
});

interface Asked {
	readonly method: string;
	/** The raw request target. */
	readonly target: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
}

function ask(url: string, { method, target, headers, body }: Asked): Promise<readonly [status: number, text: string]> {
	const sent = { authorization: `Bearer ${key}`, ...headers };
	const { hostname, port } = new URL(url);
	return new Promise((resolve, reject) => {
		request({ hostname, port, method, path: target, headers: sent }, async (response) => {
			resolve([response.statusCode ?? 0, await text(response)]);
		})
			.on('error', reject)
			.end(body);
	});
}

test('a call is forwarded to the same path of the facts API, with the same method', async (t) => {
	const { url } = await serveFactsAt(t, await echo(t));
	const empty = { 'content-length': '0' };
	for (const [asked, expected] of [
		[{ method: 'GET', target: '/facts/users/a%7Cb?x=\\' }, 'GET /v2/facts/p/e/users/a%7Cb?x=\\'],
		[{ method: 'POST', target: '/facts/users', headers: empty }, 'POST /v2/facts/p/e/users'],
		[{ method: 'PUT', target: '/facts/users/a', headers: empty }, 'PUT /v2/facts/p/e/users/a'],
		[{ method: 'PATCH', target: '/facts/users/a', headers: empty }, 'PATCH /v2/facts/p/e/users/a'],
		[{ method: 'DELETE', target: '/facts/users/a' }, 'DELETE /v2/facts/p/e/users/a'],
		[{ method: 'GET', target: '//facts//users' }, 'GET /v2/facts/p/e/users'],
		[{ method: 'GET', target: 'http://other.example/facts/users' }, 'GET /v2/facts/p/e/users'],
		[{ method: 'GET', target: 'http://other.example/v2/facts/x/y/users?a' }, 'GET /v2/facts/p/e/users?a'],
		[{ method: 'GET', target: '/v2/facts/../%2e%2e/users' }, 'GET /v2/facts/p/e/users'],
		// A GET body has no meaning.
		[{ method: 'GET', target: '/facts/users', headers: empty }, 'GET /v2/facts/p/e/users'],
		[
			{ method: 'GET', target: '/facts/users', headers: { 'content-length': '2' }, body: '{}' },
			'GET /v2/facts/p/e/users',
		],
		[{ method: 'GET', target: '/facts/users', headers: { 'transfer-encoding': 'chunked' } }, 'GET /v2/facts/p/e/users'],
		[{ method: 'HEAD', target: '/facts/users', headers: empty }, ''],
	] satisfies readonly (readonly [Asked, string])[]) {
		t.deepEqual(await ask(url, asked), [200, expected], JSON.stringify(asked));
	}
});

test('no call reaches paths outside the facts API', async (t) => {
	const { url } = await serveFactsAt(t, await echo(t));
	for (const target of [
		'/facts/../x',
		'/facts/users/..',
		'/facts/%2e%2E/x',
		'/facts/.%2e/x',
		'/facts/x\\..\\..\\..\\..\\api-key/scope',
		'/facts/x/..\\..',
		'/facts/\\..#',
		'/facts/..#/x',
		'/facts/..?x',
		'http://other.example/facts/../x',
		'http://other.example/facts/x\\..\\..',
	]) {
		const [status, answer] = await ask(url, { method: 'GET', target });
		t.is(status, 404, target);
		t.regex(answer, /no endpoint is served/, target);
	}
});

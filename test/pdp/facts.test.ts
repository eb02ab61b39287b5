import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { DecisionPointOptions } from '../../src/pdp/endpoints.js';
import type { FactsWait } from '../../src/pdp/facts-wait.js';
import { acme, snapshot } from './environment.js';
import { serve } from './served.js';

/** Facts through a decision point whose control plane is not there, or whose writes do not arrive. */

const never = { milliseconds: 5, policy: 'ignore' } as const satisfies FactsWait;

/** A control plane that answers everything with revision 99, which no feed sends. */
async function farAhead(t: ExecutionContext): Promise<string> {
	const server = createServer((request, response) => {
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

async function serveFacts(t: ExecutionContext, url: string, options: Partial<DecisionPointOptions> = {}) {
	const served = await serve(t, { facts: { find: async () => url, wait: never }, ...options });
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await served.replica.reached(7);
	return served.http;
}

test('a write that does not arrive in time is answered, or 424', async (t) => {
	const http = await serveFacts(t, await farAhead(t));
	const waited = await http.post('/facts/users', { key: 'ann' });
	t.is(waited.status, 200);
	t.deepEqual(waited.body, { key: 'ann' });
	t.is((await http.delete('/facts/users/ann')).status, 204);
	const failed = await http.post('/facts/users', { key: 'ann' }, { headers: { 'x-timeout-policy': 'fail' } });
	t.is(failed.status, 424);
	t.deepEqual(failed.body, { detail: 'Timeout waiting for update to be received' });
	const headers = { 'x-timeout-policy': 'fail', 'x-wait-timeout': '0' };
	t.is((await http.post('/facts/users', { key: 'ann' }, { headers })).status, 200, 'nothing waits');
	t.is(
		(await http.get('/facts/users/ann', { headers: { 'x-timeout-policy': 'fail' } })).status,
		200,
		'reads do not wait',
	);
});

test('a control plane that cannot be reached is 502', async (t) => {
	const http = await serveFacts(t, 'http://127.0.0.1:9/v2/facts/p/e');
	const answer = await http.post('/facts/users', { key: 'ann' });
	t.is(answer.status, 502);
	t.regex(String(answer.body['detail']), /control plane did not answer/);
});

import test, { type ExecutionContext } from 'ava';
import { type Answer, client } from '../support/client.js';
import { cookieOf, sending, signIn, spend } from '../support/element.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { Service } from '../support/service.js';
import { secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Several API processes on one database know the same users of elements, and log no secret of them. */

const me = '/v2/auth/me';
const logout = '/v2/auth/logout';

test('of two processes, one spends a ticket; no log says a secret', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const nodes = await Promise.all([startNode(t, database.url), startNode(t, database.url)]);
	await Promise.all(nodes.map((node) => node.start()));
	const urls = nodes.map(({ url }) => url);
	const http = client(urls[0] ?? '', secretFor('test-environment'));
	t.is((await http.post('/v2/facts/default/dev/tenants/default/users', { key: 'ann' })).status, 200);
	const secrets: string[] = [];
	for (let round = 0; round < 3; round++) {
		const { token, element_bearer_token, redirect_url } = await signIn({ http }, 'ann', 'default');
		t.true(redirect_url.startsWith(urls[0] ?? 'no url'));
		const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => spend(urls[index % 2] ?? '', token)));
		const [won, ...others] = answers.filter(({ status }) => status === 200);
		t.is(others.length, 0);
		const cookie = cookieOf(won as Answer<unknown>);
		for (const url of urls) {
			t.is((await sending(url, { cookie }).get(me)).status, 200);
			t.is((await client(url, element_bearer_token).get(me)).status, 200);
		}
		secrets.push(token, element_bearer_token, cookie.replace('permit_session=', ''));
		t.is((await sending(urls[1] ?? '', { cookie }).get(logout)).status, 204);
		t.is((await sending(urls[0] ?? '', { cookie }).get(me)).status, 401);
	}
	for (const node of nodes) {
		const output = node.output();
		t.true(output.includes('loginElements'), 'requests are logged');
		for (const secret of secrets) t.false(output.includes(secret));
	}
});

async function startNode(t: ExecutionContext, databaseUrl: string): Promise<Service> {
	const port = await freePort();
	const env = {
		...settings(temporary(t), 'test'),
		API_PORT: String(port),
		DATABASE_URL: databaseUrl,
		SECRET_KEY: 'the same passphrase on every node of the cluster',
		LOG_LEVEL: 'debug',
	};
	const serve = new Service(`http://127.0.0.1:${port}`, { command: ['serve'], env });
	t.teardown(() => serve.kill().then(() => undefined));
	return serve;
}

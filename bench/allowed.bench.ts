import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { type Stack, startStack } from '../test/support/stack.js';

/**
 * `POST /allowed` over HTTP: the whole way of one check, of which the engine is a few microseconds. The load comes from
 * a thread of its own over kept-alive connections; each run is repeated and the median of the runs is told.
 */

const users = 1_000;
const connections = 10;
const seconds = 4;
const rounds = 3;

/** What is read of autocannon's report. */
interface Load {
	readonly requests: { readonly average: number };
	/** Milliseconds. */
	readonly latency: { readonly p50: number; readonly p99: number };
	readonly non2xx: number;
	readonly errors: number;
}

const autocannon = createRequire(import.meta.url).resolve('autocannon');
const execute = promisify(execFile);

async function load(url: string, headers: Readonly<Record<string, string>>, body: unknown, duration: number) {
	const options = ['--json', '-n', '-m', 'POST', '-c', String(connections), '-d', String(duration)];
	const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
	const run = [autocannon, ...options, ...sent, '-b', JSON.stringify(body), url];
	return JSON.parse((await execute(process.execPath, run)).stdout) as Load;
}

async function populate({ environment: api, reached }: Stack): Promise<void> {
	await api.post('/v2/schema/default/dev/resources', { key: 'document', name: 'Document', actions: { read: {} } });
	await api.post('/v2/schema/default/dev/roles', { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	const rows = Array.from({ length: users }, (_, index) => ({
		user: `user-${index}@example.com`,
		role: 'reader',
		tenant: 'default',
	}));
	const path = '/v2/facts/default/dev/role_assignments/bulk?missing_user_policy=create';
	await reached((await api.post(path, rows)).revision);
}

const check = {
	user: 'user-7@example.com',
	action: 'read',
	resource: { type: 'document', tenant: 'default' },
};
const kinds: Readonly<
	Record<string, { readonly path: string; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }>
> = {
	'one check': { path: '/allowed', body: check },
	'one check, X-Min-Revision': { path: '/allowed', headers: { 'x-min-revision': '1' }, body: check },
	'100 checks at once': { path: '/allowed/bulk', body: Array.from({ length: 100 }, () => check) },
};

const median = (values: readonly number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measure({ decisionPoint, keys }: Stack): Promise<void> {
	for (const [title, { path, headers, body }] of Object.entries(kinds)) {
		const url = `${decisionPoint.listening.url}${path}`;
		const all = { authorization: `Bearer ${keys.environment}`, 'content-type': 'application/json', ...headers };
		await load(url, all, body, 2);
		const runs: Load[] = [];
		for (let round = 0; round < rounds; round += 1) runs.push(await load(url, all, body, seconds));
		if (runs.some(({ non2xx, errors }) => non2xx + errors > 0)) throw new Error(`${title}: not every answer was 200`);
		const rate = median(runs.map(({ requests }) => requests.average));
		const [p50, p99] = [median(runs.map(({ latency }) => latency.p50)), median(runs.map(({ latency }) => latency.p99))];
		console.log(
			`${title.padEnd(28)} ${rate.toFixed(0).padStart(6)} requests/s, p50 ${p50} ms, p99 ${p99} ms at ${connections} connections`,
		);
	}
}

const stack = await startStack('embedded');
try {
	await populate(stack);
	const answer = await stack.pdp.post('/allowed', check);
	if (answer.body['allow'] !== true) throw new Error('what is measured does not allow');
	await measure(stack);
} finally {
	await stack.stop();
}

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { type Stack, startStack } from '../test/support/stack.js';

/**
 * Measures checks over HTTP (`/allowed`, an AuthZEN evaluation and bulk checks): the complete path, in which the engine
 * takes a few microseconds. A separate process generates the load over kept-alive connections. Runs alternate with runs
 * against a bare server, which reads the same body and returns a constant response. Prints medians.
 */

const users = 1_000;
const connections = 16;
const seconds = 4;
const rounds = 3;

/** Used part of autocannon's report. */
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
/** A request, either to the decision point or to the bare server. */
interface Kind {
	readonly bare?: true;
	readonly path: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body: unknown;
}

const bare = 'a bare server';
const kinds: Readonly<Record<string, Kind>> = {
	[bare]: { bare: true, path: '/', body: check },
	'one check': { path: '/allowed', body: check },
	'one check, the normal path': { path: '/allowed', headers: { 'x-min-revision': '1' }, body: check },
	'an evaluation (AuthZEN)': {
		path: '/access/v1/evaluation',
		body: {
			subject: { type: 'user', id: check.user },
			action: { name: 'read' },
			resource: { type: 'document', id: 'plan', properties: { tenant: 'default' } },
		},
	},
	'100 checks at once': { path: '/allowed/bulk', body: Array.from({ length: 100 }, () => check) },
};

const median = (values: readonly number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Starts a server that reads a body and returns `{"allow":true}`. Returns its address. */
async function startBare(): Promise<string> {
	const server = createServer((request, response) => {
		request.on('data', () => {});
		request.on('end', () => {
			response.writeHead(200, { 'content-type': 'application/json', 'content-length': 14 }).end('{"allow":true}');
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	server.unref();
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function measure({ decisionPoint, keys }: Stack): Promise<void> {
	const bareUrl = await startBare();
	const ask = ({ bare: isBare, path, headers, body }: Kind, duration: number) => {
		const url = `${isBare ? bareUrl : decisionPoint.listening.url}${path}`;
		const all = { authorization: `Bearer ${keys.environment}`, 'content-type': 'application/json', ...headers };
		return load(url, all, body, duration);
	};
	const runs = new Map<string, Load[]>();
	for (const kind of Object.values(kinds)) await ask(kind, 2);
	for (let round = 0; round < rounds; round += 1) {
		for (const [title, kind] of Object.entries(kinds)) {
			runs.set(title, [...(runs.get(title) ?? []), await ask(kind, seconds)]);
		}
	}
	const rates = new Map([...runs].map(([title, all]) => [title, median(all.map(({ requests }) => requests.average))]));
	for (const [title, all] of runs) {
		if (all.some(({ non2xx, errors }) => non2xx + errors > 0)) throw new Error(`${title}: not every response was 200`);
		const rate = rates.get(title) ?? Number.NaN;
		const [p50, p99] = [median(all.map(({ latency }) => latency.p50)), median(all.map(({ latency }) => latency.p99))];
		const share = (100 * rate) / (rates.get(bare) ?? Number.NaN);
		console.log(
			`${title.padEnd(28)} ${rate.toFixed(0).padStart(6)} requests/s, ${share.toFixed(0).padStart(3)} % of bare, ` +
				`p50 ${p50} ms, p99 ${p99} ms at ${connections} connections`,
		);
	}
}

const stack = await startStack('embedded');
try {
	await populate(stack);
	const answer = await stack.pdp.post('/allowed', check);
	if (answer.body['allow'] !== true) throw new Error('the measured check is denied');
	await measure(stack);
} finally {
	await stack.stop();
}

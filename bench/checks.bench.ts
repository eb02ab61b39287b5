import { randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { client } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import { freePort } from '../test/support/ports.js';
import { createDatabase } from '../test/support/postgres.js';
import { launch, type Running } from '../test/support/processes.js';
import { Service } from '../test/support/service.js';
import { secretFor, settings } from '../test/support/stack.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary.js';
import { casbin, type Decide } from './rivals/deciders.js';
import { mapLookups } from './rivals/map-lookups.js';
import { kinds, type Question, questions, worldDocument } from './rivals/world.js';
import { accepted } from './support/api.js';
import { processorTime } from './support/processor-time.js';
import { quantile } from './support/quantile.js';
import { sendLoad } from './support/request-load.js';

/**
 * Compares the cost of a check over HTTP: a decision point with default settings and with fewer features, and plain
 * `node:http` servers with the same data (`bench/rivals`). Every server is a separate process, and the servers take
 * turns. Shows requests per second, and the CPU time per request: of the server itself and, separately, of the API and
 * PostgreSQL, which store the decisions. CPU time is comparable even on a busy machine.
 *
 * `SERVERS` selects servers by parts of their names, `MIXES` selects kinds of requests; `ROUNDS` and `SECONDS` set the
 * length.
 */

const rounds = Number(process.env['ROUNDS'] ?? 3);
const seconds = Number(process.env['SECONDS'] ?? 3);
const clients = 16;
const key = secretFor('checks-environment');
/** Name of the plain server to run in this process; absent in the measuring process. */
const role = process.env['PLAIN_SERVER'];

/** Plain servers, with the functions that decide checks. All except the first check the key and parse the body. */
const plainServers = {
	'bare node:http, constant answer': null,
	'with body, JSON, key, request id, no decision': async () => () => true,
	'Map lookups (floor)': async () => mapLookups(),
	'casbin per permission': casbin,
} satisfies Readonly<Record<string, (() => Promise<Decide>) | null>>;

/** Decision points, by their settings. */
const decisionPoints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	'Regolith, default settings': { PDP_DECISION_LOG: 'api' },
	'Regolith, log to a file': { PDP_DECISION_LOG: 'file:/dev/null' },
	'Regolith, log off': {},
	'Regolith, 2 workers, default settings': { PDP_DECISION_LOG: 'api', PDP_WORKERS: '2' },
	'Regolith, 2 workers, log off': { PDP_WORKERS: '2' },
};

/** Requests in a run: a path, and the bodies to send in turn. */
interface Mix {
	readonly path: string;
	readonly bodies: readonly unknown[];
	/** Number of checks per request. */
	readonly checks: number;
	/** True if only decision points serve the path. */
	readonly own?: true;
}

const single = (asked: readonly Question[]): Mix => ({
	path: '/allowed',
	bodies: asked.map(({ body }) => body),
	checks: 1,
});
/** One check of each kind in turn. */
const mixed = questions('rbac', 600).flatMap((question, index) => [
	question,
	...kinds.slice(1).flatMap((kind) => questions(kind, 600)[index] ?? []),
]);
const mixes: Readonly<Record<string, Mix>> = {
	roles: single(questions('rbac', 600)),
	mixed: single(mixed),
	'bulk of 100, mixed': {
		path: '/allowed/bulk',
		bodies: Array.from({ length: 18 }, (_, index) =>
			mixed.slice(index * 100, index * 100 + 100).map(({ body }) => body),
		),
		checks: 100,
		own: true,
	},
};

const wanted = (name: string, variable: string) =>
	(process.env[variable] ?? '').split(',').some((part) => name.includes(part));

/** A server to measure. */
interface Measured {
	readonly name: string;
	readonly url: string;
	readonly pid: number;
	readonly own: boolean;
	stop(): Promise<unknown>;
}

/** Serves checks without Regolith, and prints the address. */
async function servePlain(name: keyof typeof plainServers): Promise<void> {
	const decider = plainServers[name];
	const decide = await decider?.();
	const expected = Buffer.from(`Bearer ${key}`);
	const answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => {
		if (decide === undefined) {
			response.writeHead(200, { 'content-type': 'application/json', 'content-length': 14 }).end('{"allow":true}');
			return;
		}
		const given = Buffer.from(request.headers.authorization ?? '');
		if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
			response.writeHead(403).end();
			return;
		}
		const allow = decide(JSON.parse(body.toString()));
		const text = JSON.stringify({ allow, result: allow });
		response
			.writeHead(200, {
				'x-request-id': randomUUID(),
				'content-type': 'application/json',
				'content-length': Buffer.byteLength(text),
				'x-revision': '7',
				'x-policy-revision': '7',
				'x-data-age': '0',
			})
			.end(text);
	};
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => answer(request, response, Buffer.concat(chunks)));
	});
	server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

async function startPlain(name: string): Promise<Measured> {
	const running = launch({ command: [], program: fileURLToPath(import.meta.url), env: { PLAIN_SERVER: name } });
	const url = await eventually(
		async () => running.stdout().trim(),
		(text) => text !== '',
		{ deadline: 60_000 },
	);
	return { name, url, pid: running.pid, own: false, stop: () => running.kill('SIGTERM') };
}

async function startDecisionPoint(name: string, api: string): Promise<Measured> {
	const folder = temporaryFolder();
	const port = await freePort();
	const env = {
		...settings(folder, 'checks'),
		LOG_LEVEL: 'warn',
		PDP_PORT: String(port),
		PDP_CONTROL_PLANE: api,
		PDP_API_KEY: key,
		...decisionPoints[name],
	};
	const running: Running = launch({ command: ['pdp'], env, optimized: true });
	const url = `http://127.0.0.1:${port}`;
	await running.answering(`${url}/ready`);
	return {
		name,
		url,
		pid: running.pid,
		own: true,
		async stop() {
			await running.kill('SIGTERM');
			removeFolder(folder);
		},
	};
}

/** Sends every query once and compares the results. */
async function requireRightAnswers({ name, url }: Measured): Promise<void> {
	const http = client(url, key);
	for (const { body, allow } of mixed) {
		const answer = await http.post<{ readonly allow: boolean }>('/allowed', body);
		if (answer.status !== 200 || answer.body.allow !== allow) {
			throw new Error(`${name}: ${JSON.stringify(body)} is ${answer.status} ${JSON.stringify(answer.body)}`);
		}
	}
}

/** Results of one turn. Times are in microseconds per request. */
interface Figures {
	readonly rate: number;
	readonly own: number;
	readonly api: number;
	readonly postgres: number;
}

async function measure(server: Measured, mix: Mix, readOthers: () => Promise<{ api: number; postgres: number }>) {
	const before = { own: processorTime(server.pid), ...(await readOthers()) };
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
	const { total, rate } = await sendLoad({
		url: server.url + mix.path,
		headers,
		bodies: mix.bodies,
		connections: clients,
		seconds,
	});
	// Decisions are stored up to a second later.
	if (server.own) await new Promise((resolve) => setTimeout(resolve, 1_500));
	const after = { own: processorTime(server.pid), ...(await readOthers()) };
	const each = (name: 'own' | 'api' | 'postgres') => ((after[name] - before[name]) / total) * 1e6;
	return { rate, own: each('own'), api: each('api'), postgres: each('postgres') };
}

async function compareServers(): Promise<void> {
	const folder = temporaryFolder();
	const database = await createDatabase();
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const env = { ...settings(folder, 'checks'), API_PORT: String(port), DATABASE_URL: database.url, LOG_LEVEL: 'warn' };
	const service = new Service(url, { command: ['serve'], env, optimized: true });
	await service.start();
	const http = client(url, key);
	accepted(
		await http.post('/v2/projects/default/envs/dev/import?conflict_strategy=overwrite', undefined, {
			raw: JSON.stringify(worldDocument()),
		}),
	);
	const connection = new pg.Client({ connectionString: database.url });
	await connection.connect();
	/**
	 * CPU time per connection. Keeps the last value of a closed connection, because its PostgreSQL process has ended.
	 */
	const connections = new Map<number, number>();
	const readOthers = async () => {
		const { rows } = await connection.query<{ readonly pid: number }>(
			'select pid from pg_stat_activity where datname = current_database()',
		);
		for (const { pid } of rows) connections.set(pid, processorTime(pid));
		return { api: processorTime(service.pid ?? 0), postgres: [...connections.values()].reduce((a, b) => a + b, 0) };
	};
	const servers: Measured[] = [];
	for (const name of Object.keys(plainServers)) if (wanted(name, 'SERVERS')) servers.push(await startPlain(name));
	for (const name of Object.keys(decisionPoints)) {
		if (wanted(name, 'SERVERS')) servers.push(await startDecisionPoint(name, url));
	}
	for (const server of servers)
		if (!server.name.includes('no decision') && !server.name.includes('constant')) await requireRightAnswers(server);
	const chosen = Object.entries(mixes).filter(([name]) => wanted(name, 'MIXES'));
	const runs = new Map<string, Figures[]>();
	for (let round = 0; round <= rounds; round += 1) {
		for (const [title, mix] of chosen) {
			for (const server of servers.filter(({ own }) => own || !mix.own)) {
				const figures = await measure(server, mix, readOthers);
				// The first round only warms the servers up.
				const name = `${title}: ${server.name}`;
				if (round > 0) runs.set(name, [...(runs.get(name) ?? []), figures]);
			}
		}
	}
	for (const [title, { checks }] of chosen) {
		console.log(`\n${title}`.padEnd(50), 'requests/s   CPU µs per request: server      API  PostgreSQL');
		for (const { name } of servers) {
			const all = runs.get(`${title}: ${name}`);
			if (all === undefined) continue;
			const of = (figure: keyof Figures) =>
				quantile(
					all.map((figures) => figures[figure]),
					0.5,
				);
			const per = checks === 1 ? '' : `   ${(of('own') / checks).toFixed(1)} µs a check`;
			const columns = [of('own'), of('api'), of('postgres')].map((value) => value.toFixed(1).padStart(8));
			console.log(
				`  ${name.padEnd(47)} ${of('rate').toFixed(0).padStart(10)} ${' '.repeat(20)} ${columns.join(' ')}${per}`,
			);
		}
	}
	for (const server of servers) await server.stop();
	await connection.end();
	await service.stop();
	await database.drop();
	removeFolder(folder);
}

if (role !== undefined && role in plainServers) await servePlain(role as keyof typeof plainServers);
else await compareServers();

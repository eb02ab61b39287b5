// @rest

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { type Client, client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { readScrape, undocumented } from '../support/metrics.js';
import { freePort } from '../support/ports.js';
import { launch, type Running } from '../support/processes.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';

/** A decision point with several worker processes, as seen by its clients and operators. */

let stack: Stack;
/** A decision point that logs every decision to `log`. */
let point: { readonly running: Running; readonly url: string; readonly pdp: Client; readonly log: string };
/** Number of requested decisions. */
let asked = 0;

const workers = 2;
const folder = temporaryFolder();

function settingsOn(port: number | string) {
	return {
		DATA_DIR: folder,
		PDP_PORT: String(port),
		PDP_API_KEY: stack.keys.environment,
		PDP_CONTROL_PLANE: stack.api.listening.url,
		PDP_WORKERS: String(workers),
	};
}

test.before(async () => {
	stack = await startStack();
	const { environment: api } = stack;
	await api.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await api.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	const port = await freePort();
	const log = join(folder, 'decisions.log');
	const logging = { PDP_DECISION_LOG: `file:${log}`, PDP_DECISION_LOG_SAMPLING: '[{"rate":1}]' };
	const running = launch({ command: ['pdp'], env: { ...settingsOn(port), ...logging } });
	const url = `http://127.0.0.1:${port}`;
	await running.answering(`${url}/ready`);
	point = { running, url, pdp: client(url, stack.keys.environment), log };
});

test.after.always(async () => {
	await point.running.kill('SIGKILL');
	await stack.stop();
	removeFolder(folder);
});

/** Returns a process's living child processes. */
function children(pid: number): readonly number[] {
	return readdirSync('/proc')
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.filter((candidate) => parentPid(candidate) === pid);
}

function parentPid(pid: number): number {
	try {
		const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /);
		return Number(rest.split(' ')[1]);
	} catch {
		return -1;
	}
}

/** Sends checks over separate connections, so that every worker may serve some of them. */
function askAnew(user: string): Promise<readonly { readonly allow: boolean; readonly revision: number }[]> {
	return Promise.all(Array.from({ length: 2 * workers }, () => askOnce(user)));
}

/** Sends a check over a separate connection. Rejects after `patience` milliseconds without a response. */
async function askOnce(
	user: string,
	patience = 90_000,
): Promise<{ readonly allow: boolean; readonly revision: number }> {
	asked += 1;
	const agent = new Agent();
	const payload = JSON.stringify(check(user));
	const headers = {
		authorization: `Bearer ${stack.keys.environment}`,
		'content-length': Buffer.byteLength(payload),
	};
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		const sent = request(`${point.url}/allowed`, { method: 'POST', headers, agent }, resolve);
		sent.setTimeout(patience, () => sent.destroy(new Error('no answer')));
		sent.on('error', reject).end(payload);
	});
	const { allow } = JSON.parse(await text(response));
	agent.destroy();
	return { allow, revision: Number(response.headers['x-revision']) };
}

async function opening(port: number, host: string): Promise<Socket> {
	const socket = connect(port, host);
	await once(socket, 'connect');
	return socket;
}

/** Requests the health over a connection. Resolves to the first line of the response. */
async function healthOver(socket: Socket): Promise<string> {
	socket.write('GET /healthy HTTP/1.1\r\nHost: x\r\n\r\n');
	const [chunk] = await once(socket, 'data');
	return String(chunk).split('\r\n')[0] ?? '';
}

const check = (user: string) => ({ user, action: 'read', resource: { type: 'document', tenant: 'default' } });

test.serial('once a client has waited for a revision at one worker, every worker has the revision', async (t) => {
	t.is(children(point.running.pid).length, workers);
	for (const index of Array.from({ length: 20 }).keys()) {
		const user = `waiter-${index}`;
		const assignment = { user, role: 'reader', tenant: 'default' };
		await stack.environment.post(`${facts}/users`, { key: user });
		const { revision = 0 } = await stack.environment.post(`${facts}/role_assignments`, assignment);
		asked += 1;
		const waited = await point.pdp.post('/allowed', check(user), { headers: { 'x-min-revision': String(revision) } });
		t.true(waited.body['allow']);
		const others = await askAnew(user);
		t.true(
			others.every((answer) => answer.allow && answer.revision >= revision),
			JSON.stringify({ revision, others }),
		);
	}
});

test.serial('all workers have a write by the time any worker responds to it', async (t) => {
	for (const index of Array.from({ length: 10 }).keys()) {
		const user = `through-${index}`;
		t.is((await point.pdp.post('/facts/users', { key: user })).status, 200);
		const given = await point.pdp.post('/facts/role_assignments', { user, role: 'reader', tenant: 'default' });
		t.is(given.status, 200, JSON.stringify(given.body));
		t.true((await askAnew(user)).every(({ allow }) => allow));
	}
});

test.serial('the decisions of all workers reach the same log, each once', async (t) => {
	const lines = await eventually(
		() => readFileSync(point.log, 'utf8').trimEnd().split('\n'),
		(seen) => seen.length >= asked,
	);
	t.is(lines.length, asked);
	t.is(new Set(lines.map((line) => JSON.parse(line).decision_id)).size, asked);
});

test.serial('any worker reports the metrics of all workers', async (t) => {
	const { body } = await point.pdp.get<string>('/metrics');
	const scrape = readScrape(body);
	t.deepEqual(undocumented(scrape), []);
	t.is(scrape.sum('regolith_pdp_decisions_total'), asked);
	t.is(scrape.sum('regolith_pdp_decision_log_events_total', { receiver: 'file', result: 'sent' }), asked);
	t.is(scrape.sum('regolith_pdp_workers'), workers);
	t.is(scrape.sum('regolith_pdp_state', { state: 'ready' }), workers);
	t.is(scrape.sum('regolith_pdp_revision'), (await point.pdp.get('/ready')).revision);
});

test.serial('a decision point’s report counts the checks of all workers', async (t) => {
	// The decision point reports every minute, and after each change of its state, such as a policy that compiles.
	await stack.environment.post(`${schema}/resources`, { key: 'reported', name: 'Reported', actions: { read: {} } });
	const reported = async () => {
		const { body } = await stack.environment.get<readonly Reported[]>('/v2/pdps/default/dev/instances');
		return body.map(({ state }) => state.pdp).find((pdp) => pdp?.workers === workers);
	};
	const said = await eventually(reported, (pdp) => Number(pdp?.checks_per_second) > 0);
	t.is(said?.mode, 'edge');
});

interface Reported {
	readonly state: {
		readonly pdp?: { readonly workers?: number; readonly mode?: string; readonly checks_per_second?: number };
	};
}

test.serial('ten thousand connections are served without blocking other connections', async (t) => {
	const { hostname, port } = new URL(point.url);
	const sockets: Socket[] = [];
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
	});
	// In batches, because the system queues only a limited number of unaccepted connections.
	for (const _ of Array.from({ length: 100 })) {
		const opened = await Promise.all(Array.from({ length: 100 }, () => opening(Number(port), hostname)));
		sockets.push(...opened);
	}
	t.true((await askAnew('through-0')).every(({ allow }) => allow));
	const answers = await Promise.all(sockets.map((socket) => healthOver(socket)));
	t.deepEqual([...new Set(answers)], ['HTTP/1.1 200 OK']);
});

test.serial('if the port is in use, the start fails and names the setting to change', async (t) => {
	const again = launch({ command: ['pdp'], env: settingsOn(new URL(point.url).port) });
	t.deepEqual(await again.exited, { code: 1, signal: null });
	t.regex(again.stderr(), /^PDP_PORT: port \d+ of [^\n]+ is in use\. Stop [^\n]+\n$/);
});

/** Signals that end a worker: from an operator, for unreachable code, and for an invalid memory access. */
for (const [index, signal] of (['SIGKILL', 'SIGILL', 'SIGSEGV'] as const).entries()) {
	test.serial(`a worker ended by ${signal} is replaced, and other workers serve requests until then`, async (t) => {
		const before = children(point.running.pid);
		const measured =
			readScrape((await point.pdp.get<string>('/metrics')).body).sum('regolith_pdp_decisions_total') ?? 0;
		const [victim = 0] = before;
		process.kill(victim, signal);
		const after = await eventually(
			async () => {
				// A connection that is being passed to a worker when the worker is killed never gets a response.
				t.true((await askOnce('through-0', 5_000)).allow);
				return children(point.running.pid);
			},
			(pids) => pids.length === workers && !pids.includes(victim),
		);
		t.is(after.filter((pid) => before.includes(pid)).length, workers - 1);
		const counted = readScrape((await point.pdp.get<string>('/metrics')).body);
		t.true((counted.sum('regolith_pdp_decisions_total') ?? 0) >= measured, 'its counts are kept');
		t.is(counted.sum('regolith_pdp_workers_replaced_total'), index + 1);
		const { revision = 0 } = await stack.environment.post(`${facts}/users`, { key: `late-${index}` });
		await eventually(
			() => askAnew(`late-${index}`),
			(answers) => answers.every((answer) => answer.revision >= revision),
		);
	});
}

test.serial('a decision point stops on a signal even after its workers were replaced', async (t) => {
	t.deepEqual(await point.running.kill('SIGTERM'), { code: 0, signal: null });
});

test.serial('if the environment is deleted, its workers deny with a code, and the copy is deleted', async (t) => {
	const { organization } = stack;
	await organization.post('/v2/projects/default/envs', { key: 'temporary', name: 'Temporary' });
	const secret = String((await organization.get('/v2/api-key/default/temporary')).body['secret']);
	const [port, own] = [await freePort(), temporaryFolder()];
	const env = { ...settingsOn(port), PDP_API_KEY: secret, PDP_ENABLE_OFFLINE_MODE: 'true', DATA_DIR: own };
	const running = launch({ command: ['pdp'], env });
	t.teardown(async () => {
		await running.kill('SIGKILL');
		removeFolder(own);
	});
	const url = `http://127.0.0.1:${port}`;
	await running.answering(`${url}/ready`);
	const copy = join(own, 'offline', 'environment.copy');
	await eventually(
		() => existsSync(copy),
		(exists) => exists,
	);
	t.is((await organization.delete('/v2/projects/default/envs/temporary')).status, 204);
	const pdp = client(url, secret);
	await eventually(
		() => Promise.all(Array.from({ length: 2 * workers }, () => pdp.get('/healthy'))),
		(answers) => answers.every(({ body }) => body['state'] === 'deleted'),
	);
	const asking = { headers: { 'x-min-revision': '99' } };
	const denied = await pdp.post('/allowed', { ...check('ann'), use_debugger: true }, asking);
	t.like(denied.body, { allow: false, debug: { code: 'environment_deleted' } });
	await eventually(
		() => existsSync(copy),
		(exists) => !exists,
	);
});

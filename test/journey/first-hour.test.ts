// @alone @long @rest

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { type Client, client } from '../support/client.js';
import { onAllStores } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { opaPath } from '../support/opa.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { launch, type Running } from '../support/processes.js';
import { fencedBlocks, firstHourPages, printedAs, Terminal } from '../support/readme-reader.js';
import { root } from '../support/root.js';
import { type Stack, schema, secretFor, startStack } from '../support/stack.js';
import { type Cleanup, removeFolder, temporary, temporaryFolder } from '../support/temporary.js';

/**
 * The first hour with the program. Runs every command in the README and the first pages, in order, in a fresh folder.
 * Also tests the program's error messages. Needs `bash` and `curl`. Tests run serially, because tests in the fresh
 * folder continue from the previous test, and each test starts processes.
 */

const main = join(root, 'dist/program/main.js');
const fresh = temporaryFolder();
test.after.always(() => removeFolder(fresh));

const refusedPort = (setting: string, port: string) =>
	new RegExp(
		`^${setting}: port ${port} of 127\\.0\\.0\\.1 is in use\\. [^\\n]* set ${setting} to a different port\\n$`,
	);

test.serial('if the port is in use, the very first start ends before it creates anything', async (t) => {
	for (const setting of ['API_PORT', 'PDP_PORT', 'PDP_OPA_PORT']) {
		const env = { ...(await surroundings(fresh)), PDP_OPA_PORT: String(await freePort()) };
		const port = String(env[setting as keyof typeof env]);
		const other = await listening(t, Number(port));
		const start = launch({ command: ['start'], env });
		t.deepEqual(await start.exited, { code: 1, signal: null }, setting);
		t.regex(start.stderr(), refusedPort(setting, port));
		t.is(start.stdout(), '');
		t.deepEqual(readdirSync(join(fresh, 'data')), [], 'no key and no database');
		other.close();
		await once(other, 'close');
	}
});

/** The program in the fresh folder since its first start, and the reader's terminal. */
let running: Running;
let terminal: Terminal;
let secret: string;

test.serial('every command on the first pages runs in order and prints the output on the page', async (t) => {
	const env = await surroundings(fresh);
	const { API_PORT: api, PDP_PORT: pdp } = env;
	const opaPort = String(await freePort());
	const [apiUrl, pdpUrl] = [`http://127.0.0.1:${api}`, `http://127.0.0.1:${pdp}`];
	terminal = new Terminal(
		fresh,
		{ API_PORT: api, PERMIT_API_URL: apiUrl, PERMIT_PDP_URL: pdpUrl },
		{
			'http://localhost:8000': apiUrl,
			'http://127.0.0.1:8000': apiUrl,
			'http://localhost:7766': pdpUrl,
			'http://127.0.0.1:7766': pdpUrl,
			'localhost:8181': `localhost:${opaPort}`,
			'npm run opa --': opaPath,
		},
	);
	const ends: (() => void)[] = [];
	t.teardown(() => {
		for (const end of ends) end();
	});
	for (const path of firstHourPages) {
		let printed = '';
		for (const { language, text, before, notRun } of fencedBlocks(readFileSync(join(root, path), 'utf8'))) {
			const [, saved = 'example.mjs'] = /Save this as `([^`]+)`/.exec(before) ?? [];
			if (notRun !== null) continue;
			if (text === 'npm start\n') {
				running = launch({ command: ['start'], env });
				printed = await banner(running);
				[, secret = ''] = /PERMIT_API_KEY=(permit_key_\S+)/.exec(printed) ?? [];
				const lines = printed.slice(printed.indexOf('  export PERMIT_API_KEY='));
				await terminal.run(lines.replaceAll(/^\S.*$/gm, ''));
			} else if (language === 'sh') {
				const ready = () => eventually(async () => (await fetch(`http://localhost:${opaPort}/health?bundles`)).ok);
				const ran = await terminal.runBlock(text, ready);
				ends.push(ran.stop);
				printed = ran.printed;
				t.false(/error_code|"detail"/.test(printed), `${text}\nprinted\n${printed}`);
				if (text.includes('localhost:8181'))
					t.regex(printed, /"allow":true/, 'a stock OPA decides like the decision point');
			} else if (language === 'js') {
				terminal.save(saved, text);
				printed = await terminal.run(`node ${saved}`);
			} else if (before.startsWith('Save this as')) {
				terminal.save(saved, text);
			} else if (language === 'python') {
				printed = onAllStores ? await runPython(terminal, text) : '';
			} else if (language === 'text' && printed !== '') {
				// The program prints the ticket only to a terminal, and this output is not a terminal.
				const promised = printedAs(terminal.here(text.replace('#ticket=…\n', '\n…\n')));
				const ended = printed.replace(/(?<!\n)$/, '\n');
				t.regex(ended, promised, `expected, from ${path}:\n${text}\nprinted:\n${printed}`);
			}
		}
	}
	t.is(await terminal.variable('PERMIT_API_KEY'), secret, 'the lost key is recovered');
});

async function runPython(reader: Terminal, text: string): Promise<string> {
	reader.save('example.py', text);
	return reader.run(
		'python3 -m venv python >&2 && python/bin/pip install --quiet --disable-pip-version-check permit==3.0.0 >&2 && python/bin/python example.py',
	);
}

test.serial(
	'browsers are redirected from `/` to the console or the reference, and other clients are not',
	async (t) => {
		const api = await terminal.variable('PERMIT_API_URL');
		const pdp = await terminal.variable('PERMIT_PDP_URL');
		const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
		for (const [url, page] of [
			[api, '/console'],
			[pdp, '/docs'],
		] as const) {
			const answer = await fetch(url, { headers: { accept }, redirect: 'manual' });
			t.is(answer.status, 302);
			t.is(answer.headers.get('location'), page);
			t.is((await fetch(url, { headers: { accept } })).headers.get('content-type'), 'text/html; charset=utf-8');
		}
		t.is((await client(api).get('/')).status, 404);
		t.like(await client(pdp).get('/'), { status: 200, body: { status: 'ok', online: true } });
	},
);

test.serial('Ctrl-C prints a farewell, and the second start prints all URLs, without a secret', async (t) => {
	t.deepEqual(await running.kill('SIGINT'), { code: 0, signal: null });
	t.regex(running.stdout(), /\nRegolith has stopped\. Goodbye\.\n$/);
	const env = await surroundings(fresh);
	const second = launch({ command: ['start'], env });
	const said = await banner(second);
	t.regex(said, new RegExp(`127\\.0\\.0\\.1:${env.API_PORT}[\\s\\S]*127\\.0\\.0\\.1:${env.PDP_PORT}`));
	t.true(said.includes(`DATA_DIR=${env.DATA_DIR} node ${main} keys create`));
	const asked = { user: 'ann', action: 'read', resource: { type: 'report', tenant: 'acme' } };
	const answer = await client(`http://127.0.0.1:${env.PDP_PORT}`, secret).post('/allowed', asked);
	t.like(answer, { status: 200, body: { allow: true } }, 'it responds once it has printed that it runs');
	t.deepEqual(await second.kill('SIGINT'), { code: 0, signal: null });
	t.notRegex(`${second.stdout()}${second.stderr()}`, /permit_key_/);
	t.notRegex(second.stderr(), /^regolith: (preparing|creating)/m);
});

test.serial('every start prints the first key, until a start has printed it completely', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const env = { ...(await surroundings(temporary(t))), DATABASE_URL: database.url, SECRET_KEY: 's'.repeat(32) };
	const unknown = secretFor('of-another');
	const refused = launch({ command: ['start'], env: { ...env, PDP_API_KEY: unknown } });
	t.deepEqual(await refused.exited, { code: 3, signal: null }, 'the keys were created, but not shown');
	t.notRegex(refused.stdout(), /permit_key_/);
	t.regex(problem(refused), /^PDP_API_KEY: http:\/\/127\.0\.0\.1:\d+ rejected the key: [^\n]*--wait[^\n]*\n$/);
	// A second process on the same store, with a separate folder.
	const shown = launch({ command: ['serve'], env: { ...env, DATA_DIR: temporary(t) } });
	const printed = await banner(shown);
	const [, secret = ''] = /\n {2}export PERMIT_API_KEY=(permit_key_\S+)\n$/.exec(printed) ?? [];
	t.is((await client(`http://127.0.0.1:${env.API_PORT}`, secret).get('/v2/api-key/scope')).status, 200);
	t.deepEqual(await shown.kill('SIGTERM'), { code: 0, signal: null });
	const later = launch({ command: ['serve'], env });
	t.notRegex(await banner(later), /permit_key_/);
	t.deepEqual(await later.kill('SIGTERM'), { code: 0, signal: null });
	const waiting = launch({ command: ['start', '--wait'], env: { ...env, PDP_API_KEY: unknown } });
	await eventually(() => progress(waiting).length > 0);
	t.regex(
		progress(waiting).join('\n'),
		/^regolith: waiting for http:\S+: the control plane responded with 401: [^\n]*$/,
	);
	t.is((await client(`http://127.0.0.1:${env.PDP_PORT}`, secret).get('/ready')).status, 503);
	t.deepEqual(await waiting.kill('SIGTERM'), { code: 0, signal: null });
	t.is(waiting.stdout(), 'Regolith has stopped. Goodbye.\n');
});

/** The API for decision points in separate processes. */
let stack: Stack;
test.before(async () => {
	stack = await startStack();
	await stack.environment.post(`${schema}/resources`, { key: 'report', name: 'Report', actions: { read: {} } });
});
test.after.always(() => stack.stop());

const check = { user: 'ann', action: 'read', resource: { type: 'report', tenant: 'default' } };
const anyKey = secretFor('of-anybody');

/** Returns the statuses without a key, with the right key, and with a wrong key. */
async function statuses(url: string, right: string): Promise<readonly number[]> {
	const callers: readonly Client[] = [client(url), client(url, right), client(url, anyKey)];
	const answers = await Promise.all(callers.map((caller) => caller.post('/allowed', check)));
	return answers.map(({ status }) => status);
}

for (const workers of ['1', '2']) {
	test.serial(`with ${workers} workers, a decision point waits for an unreachable API, and reports it`, async (t) => {
		const { environment: right } = stack.keys;
		const [place, port] = [await freePort(), await freePort()];
		const controlPlane = `http://127.0.0.1:${place}`;
		const settings = { PDP_CONTROL_PLANE: controlPlane, PDP_API_KEY: right, PDP_PORT: String(port) };
		const point = launch({ command: ['pdp'], env: { ...settings, PDP_WORKERS: workers, LOG_LEVEL: 'silent' } });
		t.teardown(async () => {
			await point.kill('SIGKILL');
		});
		const url = `http://127.0.0.1:${port}`;
		await eventually(() => progress(point).some((line) => line.includes('ECONNREFUSED')));
		t.is(point.stdout(), '', 'it does not report that it runs');
		t.deepEqual(await statuses(url, right), [401, 503, 503]);
		const told = (await client(url, right).post('/allowed', check)).body['detail'];
		t.regex(String(told), /no revision is loaded: the control plane cannot be reached: [\s\S]*ECONNREFUSED/);
		const untold = (await client(url, anyKey).post('/allowed', check)).body['detail'];
		t.is(untold, 'no revision is loaded: this decision point has not received its environment from the API yet');
		t.is((await client(url).get('/ready')).status, 503);
		const lines = progress(point);
		t.is(new Set(lines).size, lines.length, 'each reason is printed once');
		t.true(lines.every((line) => line.startsWith(`regolith: waiting for ${controlPlane}: `)));
		await passOn(t, place, Number(new URL(stack.api.listening.url).port));
		t.regex(await banner(point), new RegExp(`^Regolith is running\\.\\n\\n {2}Decision point {2}${url} `));
		t.deepEqual(await statuses(url, right), [401, 200, 403]);
		t.deepEqual(await point.kill('SIGTERM'), { code: 0, signal: null });
	});

	test.serial(
		`with ${workers} workers, a rejected key makes a decision point exit with code 3, unless --wait is set`,
		async (t) => {
			const [port, controlPlane] = [await freePort(), stack.api.listening.url];
			const settings = { PDP_CONTROL_PLANE: controlPlane, PDP_PORT: String(port), PDP_WORKERS: workers };
			const keys = { [anyKey]: 'responded with 401', [stack.keys.project]: 'belongs to a project' };
			for (const [key, reason] of Object.entries(keys)) {
				const point = launch({ command: ['pdp'], env: { ...settings, PDP_API_KEY: key, LOG_LEVEL: 'silent' } });
				t.deepEqual(await point.exited, { code: 3, signal: null }, reason);
				t.regex(
					problem(point),
					new RegExp(`^PDP_API_KEY: ${controlPlane} rejected the key: [^\\n]*${reason}[^\\n]*\\n$`),
				);
				t.false(point.stderr().includes(key));
				t.is(point.stdout(), '');
			}
			const env = { ...settings, PDP_API_KEY: anyKey, LOG_LEVEL: 'silent' };
			const patient = launch({ command: ['pdp', '--wait'], env });
			t.teardown(async () => {
				await patient.kill('SIGKILL');
			});
			await eventually(() => progress(patient).some((line) => line.includes('responded with 401')));
			const url = `http://127.0.0.1:${port}`;
			t.deepEqual(
				await statuses(url, stack.keys.environment),
				[401, 503, 503],
				'the correct key is not reported as wrong',
			);
			const { body } = await client(url, stack.keys.environment).post('/allowed', check);
			t.is(body['detail'], "no revision is loaded: the API rejected this decision point's key");
			t.deepEqual(await patient.kill('SIGINT'), { code: 0, signal: null });
			t.is(patient.stdout(), 'Regolith has stopped. Goodbye.\n');
		},
	);
}

test('a database that does not respond is reported in one sentence', async (t) => {
	const port = await freePort();
	await listening(t, port);
	const env = { ...(await surroundings(temporary(t))), DATABASE_URL: `postgres://ann:hunter2@127.0.0.1:${port}/x` };
	const serve = launch({ command: ['serve'], env });
	t.deepEqual(await serve.exited, { code: 1, signal: null });
	t.regex(
		problem(serve),
		new RegExp(
			`^DATABASE_URL: cannot use the database at 127\\.0\\.0\\.1:${port}/x: [^\\n]* does not respond\\. [^\\n]*\\n$`,
		),
	);
	t.deepEqual(progress(serve), ['regolith: connecting to the database']);
	t.false(serve.stderr().includes('hunter2'));
});

/** Unusable data directories, each with its preparation and the message. */
const unusable: readonly {
	readonly title: string;
	readonly make: (folder: string) => string;
	readonly says: RegExp;
}[] = [
	{
		title: 'is a file',
		make: (folder) => written(join(folder, 'data')),
		says: /^DATA_DIR: \S+ is a file, not a folder\. Set DATA_DIR to a folder that this user \(id \d+\) can write to\n$/,
	},
	{
		title: 'is below a file',
		make: (folder) => join(written(join(folder, 'file')), 'data'),
		says: /^DATA_DIR: \S+ cannot be a folder, because a part of that path is a file\. Set DATA_DIR to [^\n]*\n$/,
	},
	{
		title: 'is where folders cannot be created',
		make: () => '/proc/regolith',
		says: /^DATA_DIR: the folder \/proc\/regolith cannot be created\. Set DATA_DIR to [^\n]*\n$/,
	},
	{
		title: 'has a file for its database',
		make: (folder) => dirname(written(join(folder, 'postgres'))),
		says: /^DATA_DIR: \S+\/postgres is not a folder\. Move it away, or set DATA_DIR to a different folder\n$/,
	},
	{
		title: 'has a folder for its server key',
		make: (folder) => {
			mkdirSync(join(folder, 'server.key'));
			return folder;
		},
		says: /^DATA_DIR: \S+\/server\.key is not a file\. Move it away, or set DATA_DIR to a different folder\n$/,
	},
];

for (const { title, make, says } of unusable) {
	test.serial(`a DATA_DIR that ${title} is reported in one sentence`, async (t) => {
		const DATA_DIR = make(temporary(t));
		const env = { ...(await surroundings(temporary(t))), DATA_DIR };
		for (const command of ['serve', 'start']) {
			const server = launch({ command: [command], env });
			t.deepEqual(await server.exited, { code: 1, signal: null }, command);
			t.regex(server.stderr(), says);
		}
		const keys = launch({ command: ['keys', 'create'], env });
		t.deepEqual(await keys.exited, { code: 2, signal: null });
		t.regex(keys.stderr(), /^DATA_DIR: [^\n]+\n$/);
	});
}

/** Folders that the current user cannot use, because of their owner. */
const foreign: readonly {
	readonly title: string;
	readonly make: (folder: string) => void;
	readonly says: RegExp;
}[] = [
	{
		title: 'a folder without write permission',
		make: (folder) => chmodSync(folder, 0o755),
		says: /^DATA_DIR: this user \(id 65534\) may not use \S+, which belongs to the user with the id 0\. Set DATA_DIR to [^\n]*\n$/,
	},
	{
		title: 'a different user’s server key',
		make: (folder) => {
			chmodSync(folder, 0o777);
			chmodSync(written(join(folder, 'server.key')), 0o600);
		},
		says: /^DATA_DIR: this user \(id 65534\) may not use \S+server\.key, which belongs to the user with the id 0\. [^\n]*\n$/,
	},
	{
		title: 'a different user’s database',
		make: (folder) => {
			chmodSync(folder, 0o777);
			mkdirSync(join(folder, 'postgres'), { mode: 0o700 });
		},
		says: /^DATA_DIR: this user \(id 65534\) may not use \S+postgres, which belongs to the user with the id 0\. [^\n]*\n$/,
	},
];

// File modes do not restrict root, so root switches to a different user.
const asNobody = process.getuid?.() === 0 ? test.serial : test.serial.skip;

for (const { title, make, says } of foreign) {
	asNobody(`${title} is reported in one sentence`, async (t) => {
		const above = temporary(t);
		chmodSync(above, 0o755);
		const folder = join(above, 'data');
		mkdirSync(folder);
		make(folder);
		const env = { ...(await surroundings(folder)), DATA_DIR: folder, PATH: process.env['PATH'] ?? '' };
		const words = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath, main, 'serve'];
		const failed = await promisify(execFile)('setpriv', words, { env }).then(
			() => ({ code: 0, stderr: '' }),
			(error: { readonly code: number; readonly stderr: string }) => error,
		);
		t.is(failed.code, 1);
		t.regex(failed.stderr, says);
	});
}

test.serial('an unusable opa is reported in one sentence, with a remedy', async (t) => {
	const folder = temporary(t);
	const env = await surroundings(folder);
	const plain = written(join(folder, 'opa'));
	chmodSync(plain, 0o644);
	for (const [path, says] of [
		[join(folder, 'none'), 'there is no program at'],
		[folder, 'is a folder'],
		[plain, 'may not be executed'],
		[process.execPath, 'does not run as opa'],
	]) {
		const serve = launch({ command: ['serve'], env: { ...env, OPA_PATH: String(path) } });
		t.deepEqual(await serve.exited, { code: 1, signal: null }, path);
		t.regex(serve.stderr(), new RegExp(`^OPA_PATH: [^\\n]*${says}[^\\n]*; set it to an opa, version 1[^\\n]*\\n$`));
	}
});

test.serial('an address of a different machine is reported in one sentence', async (t) => {
	const serve = launch({ command: ['serve'], env: { ...(await surroundings(temporary(t))), HOST: '192.0.2.1' } });
	t.deepEqual(await serve.exited, { code: 1, signal: null });
	t.regex(serve.stderr(), /^HOST: 192\.0\.2\.1 is not an address of this machine\. Set HOST to [^\n]*\n$/);
});

/** Returns only the settings that every start needs, with free ports. The data folder is as in the README. */
async function surroundings(folder: string) {
	const [api, pdp] = [String(await freePort()), String(await freePort())];
	return { DATA_DIR: join(folder, 'data'), API_PORT: api, PDP_PORT: pdp, LOG_LEVEL: 'error' };
}

/** Writes a file that is not usable, and returns its path. */
function written(path: string): string {
	writeFileSync(path, 'x\n');
	return path;
}

/** Waits for the banner after a start. Throws with the output if the process exits first. */
async function banner(started: Running): Promise<string> {
	const ended = started.exited.then(({ code }) => {
		throw new Error(`ended with ${code}\n${started.stdout()}${started.stderr()}`);
	});
	const printed = eventually(
		() => started.stdout(),
		(said) => said.startsWith('Regolith is running.'),
	);
	return Promise.race([printed, ended]);
}

/** Returns a process's progress messages. */
function progress(started: Running): readonly string[] {
	return started
		.stderr()
		.split('\n')
		.filter((line) => line.startsWith('regolith: '));
}

/** Returns a process's remaining error output. */
function problem(started: Running): string {
	return started.stderr().replaceAll(/^regolith: .*\n/gm, '');
}

/** Opens a silent server on a port. */
async function listening(t: Cleanup, port: number): Promise<Server> {
	const server = createServer((socket) => socket.on('error', () => undefined)).listen(port, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
	});
	return server;
}

/** Forwards new connections on port `from` to port `to`. */
async function passOn(t: Cleanup, from: number, to: number): Promise<void> {
	const server = createServer((socket) => {
		const onward = connect(to, '127.0.0.1');
		const end = () => {
			socket.destroy();
			onward.destroy();
		};
		for (const side of [socket, onward]) side.on('error', end).on('close', end);
		socket.pipe(onward).pipe(socket);
	}).listen(from, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
	});
}

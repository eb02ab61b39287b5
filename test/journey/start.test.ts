// @alone @both @long

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmdirSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { lockDataDirectory, sendCommand } from '../../src/command/control.js';
import { ConfigError, readConfig, requireDistinctPorts } from '../../src/config.js';
import { type Database, openDatabase } from '../../src/store/database/database.js';
import { client } from '../support/client.js';
import { consolePath, signedWith } from '../support/console.js';
import { cookieOf } from '../support/element.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { type Exit, launch, type Running } from '../support/processes.js';
import { root } from '../support/root.js';
import { facts, secretFor } from '../support/stack.js';
import { type Cleanup, removeFolder, temporary, temporaryFolder } from '../support/temporary.js';
import { inPush, inRest } from '../support/tier.js';

/**
 * The program from an operator's point of view: first start, later starts, stops, refusals and keys. Needs `bash` and
 * `curl`. Tests run serially, because a start occupies a processor for seconds, and concurrent starts would miss their
 * deadlines.
 */

const opa = process.env['OPA_PATH'] ?? join(root, '.tools', 'opa');

/** Result of the very first start in an empty folder. Every later test begins with a copy of its folder. */
interface FirstStart {
	readonly folder: string;
	readonly stdout: string;
	readonly stderr: string;
	readonly urls: Urls;
	/** Output of the three printed commands, which run unchanged after the line that sets the key. */
	readonly answers: readonly string[];
	readonly exit: Exit;
}

interface Urls {
	readonly api: string;
	readonly pdp: string;
}

let first: FirstStart;

test.before(async () => {
	const folder = temporaryFolder();
	const { env, urls } = await surroundings(folder);
	const running = launch({ command: ['start'], env: { ...env, LOG_LEVEL: 'trace' } });
	await running.answering(`${urls.pdp}/ready`);
	// The program serves requests just before it prints this text.
	const stdout = await eventually(
		() => running.stdout(),
		(said) => said.includes('permit_key_'),
	);
	const answers: string[] = [];
	const keyLine = /^ *export PERMIT_API_KEY=\S+$/m.exec(stdout)?.[0] ?? '';
	for (const printed of commandsIn(stdout)) answers.push((await run('bash', ['-ec', `${keyLine}\n${printed}`])).stdout);
	const exit = await running.kill('SIGTERM');
	first = { folder, stdout: running.stdout(), stderr: running.stderr(), urls, answers, exit };
});

test.after.always(() => removeFolder(first.folder));

/** A server on a copy of the first start's folder, shared by tests that do not affect each other. */
let shared: Promise<Started> | undefined;
const ends: (() => void | Promise<void>)[] = [];

function sharedServer(): Promise<Started> {
	shared ??= started({ teardown: (work) => ends.unshift(work) }, ['serve']);
	return shared;
}

test.after.always('stop the shared server', async () => {
	for (const end of ends) await end();
});

inPush('the first start prints its URLs, the key, and three working commands', async (t) => {
	const { stdout, urls, answers } = first;
	t.true(stdout.includes(urls.api) && stdout.includes(urls.pdp));
	t.is(stdout.match(/permit_key_[A-Za-z0-9_-]+/g)?.length, 1, 'one key, printed once: no command contains it');
	t.regex(secretIn(stdout), /^permit_key_[A-Za-z0-9_-]{86,}$/);
	const [create = '', allow = '', deny = ''] = answers;
	t.is(answers.length, 3);
	t.false(create.includes('error_code'), create);
	t.is(JSON.parse(allow).allow, true);
	t.is(JSON.parse(deny).allow, false);
});

/**
 * Returns all paths in a folder, including the folder itself, that give any permission to the group or to other users.
 */
function openPaths(folder: string): readonly string[] {
	const all = ['.', ...readdirSync(folder, { recursive: true }).map(String)];
	return all.filter((path) => (statSync(join(folder, path)).mode & 0o077) !== 0);
}

inRest('the data directory is closed to other users, and a start closes an open directory', async (t) => {
	t.deepEqual(openPaths(first.folder), []);
	const folder = copied(t);
	const opened = ['postgres', 'postgres/PG_VERSION', 'postgres/base', 'server.key', 'bundles'];
	for (const path of opened) chmodSync(join(folder, path), 0o777);
	const { env, urls } = await surroundings(folder);
	const running = launch({ command: ['serve'], env });
	t.teardown(() => running.kill('SIGKILL'));
	await running.answering(`${urls.api}/healthy`);
	t.deepEqual(openPaths(folder), []);
});

inPush('SIGTERM and SIGINT end the program with code 0, and later starts print no secret', async (t) => {
	t.deepEqual(first.exit, { code: 0, signal: null });
	const later = await started(t, ['start']);
	// The program serves requests just before it prints this text.
	const stdout = await eventually(
		() => later.running.stdout(),
		(text) => text.includes('keys create'),
	);
	const said = `${stdout}${later.running.stderr()}`;
	t.true(said.includes(later.urls.api) && said.includes(later.urls.pdp));
	t.notRegex(said, /permit_key_/);
	t.true((await allowed(later)).body['allow']);
	t.deepEqual(await later.running.kill('SIGINT'), { code: 0, signal: null });
	t.false(later.running.stderr().includes('"level":"error"'), later.running.stderr());
});

inRest('a folder in use is refused to a second process, which does not disturb the first', async (t) => {
	const holder = await sharedServer();
	const { env } = await surroundings(holder.folder);
	for (const word of ['start', 'serve']) {
		const second = launch({ command: [word], env });
		t.deepEqual(await second.exited, { code: 1, signal: null });
		t.regex(second.stderr(), /^Another Regolith process is using the data directory [^\n]+\n$/);
		t.true(second.stderr().includes(holder.folder));
		t.is(second.stdout(), '');
	}
	t.is((await client(holder.urls.api).get('/healthy')).status, 200);
	t.is(statSync(join(holder.folder, 'control.sock')).mode & 0o777, 0o600);
	t.is(statSync(join(holder.folder, 'server.key')).mode & 0o777, 0o600);
});

inRest('exactly one of two simultaneous starts in a folder runs', async (t) => {
	const folder = copied(t);
	const starts = await Promise.all([surroundings(folder), surroundings(folder)]);
	const running = starts.map(({ env }) => launch({ command: ['serve'], env }));
	const ends = running.map(async (one) => ({ one, exit: await one.exited }));
	const loser = await Promise.race(ends);
	t.deepEqual(loser.exit, { code: 1, signal: null });
	t.regex(loser.one.stderr(), /^Another Regolith process is using/);
	const winner = running.findIndex((one) => one !== loser.one);
	await running[winner]?.answering(`${starts[winner]?.urls.api}/healthy`);
	t.deepEqual(await running[winner]?.kill('SIGTERM'), { code: 0, signal: null });
});

inPush('after kill -9 the folder is free: for keys and for the next start', async (t) => {
	const killed = await started(t, ['serve']);
	t.deepEqual(await killed.running.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
	t.true(statSync(join(killed.folder, 'control.sock')).isSocket(), 'the dead process’s socket still exists');
	const secret = await keyFrom(killed.env, ['--project', 'default', '--environment', 'production']);

	const { env, urls } = await surroundings(killed.folder);
	const next = launch({ command: ['start'], env: { ...env, PDP_API_KEY: secret } });
	await next.answering(`${urls.pdp}/ready`);
	t.is((await client(urls.api, secret).get('/v2/api-key/scope')).status, 200);

	// The key belongs to `production`, so the decision point serves this environment and refuses other keys.
	const production = client(urls.api, secret);
	const user = { key: 'bob' };
	const { status, revision } = await production.post('/v2/facts/default/production/users', user);
	t.is(status, 200);
	const headers = { 'x-min-revision': String(revision) };
	const asked = { user: 'alice', action: 'read', resource: 'document' };
	t.like(await client(urls.pdp, secret).post('/allowed', asked, { headers }), { status: 200, body: { allow: false } });
	t.is((await client(urls.pdp, secretIn(first.stdout)).post('/allowed', asked)).status, 403);
	t.deepEqual(await next.kill('SIGTERM'), { code: 0, signal: null });
});

inRest('the element pages and their files are served', async (t) => {
	const { urls } = await sharedServer();
	const page = await fetch(`${urls.api}/elements/people`);
	t.is(page.status, 200);
	const loaded = [...(await page.text()).matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path = '']) => path);
	t.is(loaded.length, 2);
	for (const path of [...loaded, '/elements.js']) t.is((await fetch(`${urls.api}${path}`)).status, 200, path);
});

inRest('`keys create` creates keys of every kind while the server runs', async (t) => {
	const server = await sharedServer();
	const kinds = [
		{ words: [], opens: ['organization_id'], writes: 200 },
		{ words: ['--project', 'default', '--access', 'write'], opens: ['organization_id', 'project_id'], writes: 200 },
		{
			words: ['--project', 'default', '--environment', 'dev', '--access', 'read', '--name', 'looking'],
			opens: ['organization_id', 'project_id', 'environment_id'],
			writes: 403,
		},
	];
	for (const [index, { words, opens, writes }] of kinds.entries()) {
		const secret = await keyFrom(server.env, words);
		const api = client(server.urls.api, secret);
		const { body } = await api.get('/v2/api-key/scope');
		const open = Object.keys(body).filter((name) => body[name] !== null);
		t.deepEqual(open.sort(), [...opens].sort(), words.join(' '));
		t.is((await api.get(`${facts}/users`)).status, 200);
		t.is((await api.post(`${facts}/users`, { key: `user-${index}` })).status, writes, words.join(' '));
	}
	const wrong = [
		{ words: ['--project', 'nowhere'], says: /nowhere/ },
		{ words: ['--project', 'default', '--environment', 'nowhere'], says: /nowhere/ },
		{ words: ['--environment', 'dev'], says: /--project/ },
		{ words: ['--access', 'everything'], says: /everything/ },
	];
	for (const { words, says } of wrong) {
		const refused = launch({ command: ['keys', 'create', ...words], env: server.env });
		t.deepEqual(await refused.exited, { code: 2, signal: null }, words.join(' '));
		t.regex(refused.stderr(), says);
		t.regex(refused.stderr(), /^[^\n]+\n$/, 'one line');
		t.is(refused.stdout(), '');
	}
});

inRest('a start prints no ticket into a log, and `console` prints a link that signs in', async (t) => {
	const { env, urls, running, folder } = await started(t, ['start']);
	await eventually(
		() => running.stdout(),
		(said) => said.includes('keys create'),
	);
	const lines = running.stdout().match(/^ {2}Console {9}(\S+)$/m);
	t.is(lines?.[1], `${urls.api}/console`);
	t.notRegex(running.stdout(), /ticket=/);
	t.regex(running.stdout(), / console$/m);
	const link = async (...words: string[]) => {
		const printed = launch({ command: ['console', ...words], env });
		t.deepEqual(await printed.exited, { code: 0, signal: null }, printed.stderr());
		return printed.stdout();
	};
	t.is((await client(urls.api).get('/console')).status, 200);
	const signInLink = await link();
	const enter = async (ticket: string) => {
		const answer = await client(urls.api).post(consolePath, { ticket });
		const { id, key } = (answer.body['environment'] ?? {}) as { id: string; key: string };
		return { answer, key, ...signedWith(urls.api, id, cookieOf(answer)) };
	};
	const dev = await enter(ticketIn(signInLink));
	const ofOrganization = { environment: { key: 'dev' }, key: { object_type: 'org', access_level: 'admin' } };
	t.like(dev.answer, { status: 200, body: { ...ofOrganization, decision_point: true } });
	const projects = await dev.http.post(consolePath, { project: 'default', environment: 'production' });
	t.is(projects.status, 200, 'the session covers the other environments');
	t.is((await enter(ticketIn(signInLink))).answer.status, 401, 'once');
	const asked = { user: 'alice', action: 'read', resource: { type: 'document', tenant: 'default' } };
	t.like(await dev.http.post('/console/pdp/default/dev/allowed', asked), { status: 200, body: { allow: true } });

	const plain = await link();
	t.regex(plain, /^http:[^\n]*\n$/, 'one line');
	t.is((await enter(ticketIn(plain))).key, 'dev');
	const production = await enter(ticketIn(JSON.parse(await link('-p', 'default', '-e', 'production', '--json')).url));
	t.like(production.answer.body, { environment: { key: 'production', production: true }, decision_point: false });
	const elsewhere = await production.http.post('/console/pdp/default/production/allowed', asked);
	t.is(elsewhere.status, 503, 'this decision point serves a different environment');
	t.is((await enter(ticketIn(await link('-p', 'default')))).key, 'dev', 'its oldest');
	const narrow = await enter(ticketIn(await link('-e', 'production')));
	t.like(narrow.answer.body, { environment: { key: 'production' }, key: { object_type: 'env' } });
	const refusedSwitch = await narrow.http.post(consolePath, { project: 'default', environment: 'dev' });
	t.is(refusedSwitch.status, 403);
	for (const [words, says] of [
		[['-e', 'nowhere'], /nowhere/],
		[['-p', 'nowhere'], /nowhere/],
		[['-p', 'default', '-e', 'nowhere'], /nowhere/],
	] as const) {
		const refused = launch({ command: ['console', ...words], env });
		t.deepEqual(await refused.exited, { code: 2, signal: null });
		t.regex(refused.stderr(), says);
	}
	t.deepEqual(await running.kill('SIGTERM'), { code: 0, signal: null });
	t.notRegex(running.stderr(), /ticket/);

	const nothing = join(folder, 'nothing');
	for (const DATA_DIR of [folder, nothing]) {
		const alone = launch({ command: ['console'], env: { ...env, DATA_DIR } });
		t.deepEqual(await alone.exited, { code: 2, signal: null });
		t.regex(alone.stderr(), /^DATA_DIR: no server is running with [^\n]+ `regolith start`[^\n]+\n$/);
		t.is(alone.stdout(), '');
	}
	t.false(existsSync(nothing), 'and no files remain');
});

inRest('`console` creates a link for `serve` too, whose console has no decision point', async (t) => {
	const { urls, env } = await sharedServer();
	const printed = launch({ command: ['console'], env });
	t.deepEqual(await printed.exited, { code: 0, signal: null }, printed.stderr());
	const answer = await client(urls.api).post(consolePath, { ticket: ticketIn(printed.stdout()) });
	t.like(answer, { status: 200, body: { environment: { key: 'dev' }, decision_point: false } });
});

inRest('`inspect` shows Rego that opa accepts, in the terminal and as files', async (t) => {
	const server = await sharedServer();
	const env = { ...server.env, PDP_API_KEY: secretIn(first.stdout) };
	await eventually(
		() => client(server.urls.api, env.PDP_API_KEY).get('/v2/projects/default/dev/policy'),
		({ body }) => body['compiled_revision'] !== null,
	);
	const folder = temporary(t);
	const written = launch({ command: ['inspect', '--output', folder], env });
	t.deepEqual(await written.exited, { code: 0, signal: null }, written.stderr());
	t.regex(written.stdout(), /^# default\/dev at revision \d+\n/);
	await t.notThrowsAsync(run(opa, ['check', '--strict', folder]));
	const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.rego'));
	t.true(
		files.some((path) => readFileSync(join(folder, path), 'utf8').includes('package regolith.resources.document')),
	);

	const shown = launch({ command: ['inspect'], env });
	t.deepEqual(await shown.exited, { code: 0, signal: null }, shown.stderr());
	for (const path of files) t.true(shown.stdout().includes(readFileSync(join(folder, path), 'utf8')), path);

	const foreign = launch({ command: ['inspect', '--environment', 'production'], env });
	t.deepEqual(await foreign.exited, { code: 2, signal: null });
	t.regex(foreign.stderr(), /^\(40[34] from GET /m);
	t.false(foreign.stderr().includes(env.PDP_API_KEY));
});

inRest('no secret is stored or logged in plain text', async (t) => {
	const secret = secretIn(first.stdout);
	const { folder, stderr } = first;
	t.true(stderr.includes('"level":"debug"'), 'the log had the lowest level');
	t.false(stderr.includes(secret));
	const copy = copied(t);
	const spellings = [Buffer.from(secret), Buffer.from(Buffer.from(secret).toString('hex'))];
	const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	t.true(files.length > 100, 'the database is among them');
	for (const file of files) {
		const bytes = readFileSync(join(file.parentPath, file.name));
		for (const spelling of spellings) t.false(bytes.includes(spelling), file.name);
	}
	const database = await openDatabase({ url: null, directory: copy });
	try {
		const rows = await everyRow(database);
		t.false(rows.includes(secret));
	} finally {
		await database.close();
	}
});

inRest('fixed secrets for automation work, and are not stored in plain text in a PostgreSQL server', async (t) => {
	const database = await createDatabase('none');
	t.teardown(database.drop);
	const secrets = {
		BOOTSTRAP_ORG_API_KEY: secretFor('fixed-organization'),
		BOOTSTRAP_PROJECT_API_KEY: secretFor('fixed-project'),
		BOOTSTRAP_ENV_API_KEY: secretFor('fixed-environment'),
	};
	const { env, urls } = await surroundings(temporary(t));
	const all = { ...env, ...secrets, DATABASE_URL: database.url, SECRET_KEY: 's'.repeat(32), LOG_LEVEL: 'trace' };
	const running = launch({ command: ['serve'], env: all });
	await running.answering(`${urls.api}/healthy`);
	const opened = Object.values(secrets).map(async (secret) => {
		const { status, body } = await client(urls.api, secret).get('/v2/api-key/scope');
		return { status, ids: Object.values(body).filter((id) => id !== null).length };
	});
	t.deepEqual(await Promise.all(opened), [
		{ status: 200, ids: 1 },
		{ status: 200, ids: 2 },
		{ status: 200, ids: 3 },
	]);
	t.deepEqual(await running.kill('SIGTERM'), { code: 0, signal: null });
	const store = await openDatabase({ url: database.url, directory: '' });
	try {
		const rows = await everyRow(store);
		for (const secret of [...Object.values(secrets), all.SECRET_KEY]) {
			t.false(rows.includes(secret));
			t.false(rows.includes(Buffer.from(secret).toString('hex')));
			t.false(running.stderr().includes(secret));
		}
	} finally {
		await store.close();
	}
});

const bad: Readonly<Record<string, string>> = {
	API_PORT: 'eight-thousand',
	PDP_PORT: '70123',
	DATABASE_URL: 'mysql://root:hunter2@localhost/x',
	SECRET_KEY: 'too-short-a-phrase',
	PDP_API_KEY: 'swordfish-of-the-pdp',
	PDP_CONTROL_PLANE: 'ftp://example.com',
	PDP_MODE: 'moon',
	PDP_PUBLIC_URL: 'https://pdp.example.com/?tenant=1',
	CONSOLE_PDP_URL: 'http://pdp-{env}.internal:7766',
	PDP_KONG_INTEGRATION: 'perhaps',
	PDP_ALLOW_UNAUTHENTICATED_TRINO: 'often',
	WEBHOOK_ALLOW_PRIVATE: 'sometimes',
	JWKS_ALLOW_PRIVATE: 'yes',
	LOG_LEVEL: 'deafening',
	BOOTSTRAP_ORG_API_KEY: 'permit_key_organization',
	BOOTSTRAP_PROJECT_API_KEY: 'permit_key_project',
	BOOTSTRAP_ENV_API_KEY: 'permit_key_environment',
};

inPush('the console’s decision point URL may contain only keys as placeholders', (t) => {
	for (const [given, expected] of [
		['http://pdp:7766/', 'http://pdp:7766'],
		['https://pdp-{environment}.internal/{project}//', 'https://pdp-{environment}.internal/{project}'],
	] as const) {
		t.is(readConfig({ CONSOLE_PDP_URL: given }).console_pdp_url, expected);
	}
	const wrong = [
		'pdp',
		'ftp://pdp',
		'http://',
		'http://a:b@pdp',
		'http://a@pdp',
		'http://pdp/?{project}',
		'http://pdp/#a',
	];
	for (const CONSOLE_PDP_URL of [...wrong, 'http://{host}/', 'http://pdp/{', 'http://{project}@pdp']) {
		t.throws(() => readConfig({ CONSOLE_PDP_URL }), { instanceOf: ConfigError }, CONSOLE_PDP_URL);
	}
});

inPush('two settings with the same port are reported in one sentence', (t) => {
	const expected = {
		instanceOf: ConfigError,
		message: 'PDP_PORT: port 8000 is already used by API_PORT. Change one of them',
	};
	t.throws(() => requireDistinctPorts({ API_PORT: 8000, PDP_PORT: 8000, PDP_OPA_PORT: null }), expected);
	t.notThrows(() => requireDistinctPorts({ API_PORT: 0, PDP_PORT: 0, PDP_OPA_PORT: 8181 }));
});

for (const [name, value] of Object.entries(bad)) {
	inPush(`a bad ${name} is reported in one sentence with its name but without its value`, (t) => {
		const error = t.throws(() => readConfig({ [name]: value }), { instanceOf: ConfigError });
		t.true(error.message.startsWith(`${name}: `), error.message);
		t.is(error.message.split(name).length, 2, 'the message names the setting once');
		t.false(error.message.includes('\n'));
		t.false(error.message.includes(value));
	});
}

inRest('bad settings end the program with one line each, before any change', async (t) => {
	const folder = join(temporary(t), 'data');
	const running = launch({ command: ['start'], env: { ...bad, DATA_DIR: folder } });
	t.deepEqual(await running.exited, { code: 1, signal: null });
	const lines = running.stderr().trimEnd().split('\n');
	t.deepEqual(lines.map((line) => line.split(':')[0]).sort(), Object.keys(bad).sort());
	for (const value of Object.values(bad)) t.false(running.stderr().includes(value));
	t.is(running.stdout(), '');
	t.throws(() => statSync(folder), { code: 'ENOENT' });
});

inRest('a decision point without a key reports the missing setting', async (t) => {
	const running = launch({ command: ['pdp'], env: { DATA_DIR: temporary(t) } });
	t.deepEqual(await running.exited, { code: 1, signal: null });
	t.regex(running.stderr(), /^PDP_API_KEY: [^\n]+\n$/);
});

inRest('a decision point that would follow a different API with this API’s key is refused', async (t) => {
	const folder = join(temporary(t), 'data');
	const { env } = await surroundings(folder);
	const running = launch({ command: ['start'], env: { ...env, PDP_CONTROL_PLANE: 'http://127.0.0.1:9' } });
	t.deepEqual(await running.exited, { code: 1, signal: null });
	t.regex(running.stderr(), /^PDP_CONTROL_PLANE: [^\n]*PDP_API_KEY [^\n]*\n$/);
	t.throws(() => statSync(folder), { code: 'ENOENT' });
});

inRest('a missing or broken opa is reported in one sentence, before anything is stored', async (t) => {
	const folder = join(temporary(t), 'data');
	const { env } = await surroundings(folder);
	for (const path of [join(folder, 'opa'), process.execPath, join(root, 'src')]) {
		const running = launch({ command: ['serve'], env: { ...env, OPA_PATH: path } });
		t.deepEqual(await running.exited, { code: 1, signal: null }, path);
		t.regex(running.stderr(), /^OPA_PATH: [^\n]+\n$/);
		t.true(running.stderr().includes(path));
		t.false(existsSync(join(folder, 'postgres')));
	}
});

inRest('an unavailable database is reported in one sentence', async (t) => {
	const { env } = await surroundings(temporary(t));
	const nobody = `postgres://ann:hunter2@127.0.0.1:${await freePort()}/x`;
	const database = await createDatabase('none');
	t.teardown(database.drop);
	const unknown = database.url.replace(/\/[^/]*$/, '/no_such_database');
	for (const url of [nobody, unknown, 'postgres://localhost:99999/x', 'postgres://[/x']) {
		const running = launch({ command: ['serve'], env: { ...env, DATABASE_URL: url } });
		t.deepEqual(await running.exited, { code: 1, signal: null }, url);
		t.regex(running.stderr().replaceAll(/^regolith: .*\n/gm, ''), /^DATABASE_URL: [^\n]+\n$/);
		t.false(running.stderr().includes('hunter2'));
	}
});

inRest('a first start prints its steps, a later start does not; a signal in between is a clean stop', async (t) => {
	t.regex(first.stderr, /^regolith: preparing the embedded database\nregolith: creating or updating the tables\n/);
	const later = await sharedServer();
	t.notRegex(later.running.stderr(), /regolith: (preparing|creating)/);
	const { env } = await surroundings(temporary(t));
	const early = launch({ command: ['start'], env });
	await eventually(
		() => early.stderr(),
		(said) => said.includes('preparing'),
	);
	t.deepEqual(await early.kill('SIGTERM'), { code: 0, signal: null });
	t.notRegex(early.stderr(), /creating or updating the tables/);
	t.true(existsSync(join(env['DATA_DIR'] ?? '', 'postgres.unfinished')));
});

inRest('files left unfinished by a killed process are recreated', async (t) => {
	const { env, urls } = await surroundings(temporary(t));
	const folder = env['DATA_DIR'] ?? '';
	mkdirSync(join(folder, 'postgres'), { recursive: true });
	// The folder looks as if PostgreSQL's setup was killed: it contains `PG_VERSION` like a complete database, but also
	// the marker of an unfinished setup.
	for (const name of ['PG_VERSION', 'left']) writeFileSync(join(folder, 'postgres', name), '17\n');
	for (const name of ['postgres.unfinished', 'server.key.new']) writeFileSync(join(folder, name), '');
	const running = launch({ command: ['serve'], env });
	await running.answering(`${urls.api}/healthy`);
	t.deepEqual(await running.kill('SIGTERM'), { code: 0, signal: null });
	t.false(existsSync(join(folder, 'postgres', 'left')));
	t.deepEqual(
		readdirSync(folder).filter((name) => /unfinished|new/.test(name)),
		[],
	);
});

inRest('a port in use is named, and no files remain', async (t) => {
	const folder = copied(t);
	const { env, urls } = await surroundings(folder);
	for (const [name, words] of [
		['API_PORT', ['serve']],
		['PDP_PORT', ['start']],
	] as const) {
		const server = createServer().listen(Number(env[name]), '127.0.0.1');
		await once(server, 'listening');
		t.teardown(() => server.close());
		const running = launch({ command: words, env });
		t.deepEqual(await running.exited, { code: 1, signal: null }, words.join(' '));
		t.regex(running.stderr(), new RegExp(`^[^\\n]*${env[name]}[^\\n]*\\n$`), 'one line that names the port');
		t.regex(running.stderr(), new RegExp(name));
		server.close();
		await once(server, 'close');
	}
	const running = launch({ command: ['start'], env });
	await running.answering(`${urls.pdp}/ready`);
	t.deepEqual(await running.kill('SIGTERM'), { code: 0, signal: null });
});

inRest('a folder with a path too long for a socket is locked like any other', async (t) => {
	const folder = join(temporary(t), 'x'.repeat(60), 'y'.repeat(60));
	t.is(await sendCommand(folder, 'hello'), null);
	const hold = await lockDataDirectory(folder);
	await t.throwsAsync(sendCommand(folder, 'hello'), { instanceOf: ConfigError, message: /is starting/ });
	hold.answer(async (content) => `${content} yourself`);
	t.is(await sendCommand(folder, 'hello'), 'hello yourself');
	await t.throwsAsync(lockDataDirectory(folder), { instanceOf: ConfigError });
	await hold.release();
	await (await lockDataDirectory(folder)).release();
});

inRest('a socket that cannot be queried is not treated as dead', async (t) => {
	const folder = temporary(t);
	const path = join(folder, 'control.sock');
	symlinkSync('control.sock', path);
	const refused = { instanceOf: ConfigError, message: /^Cannot check whether another process is using / };
	await t.throwsAsync(sendCommand(folder, 'hello'), refused);
	await t.throwsAsync(lockDataDirectory(folder), refused);
	t.deepEqual(readdirSync(folder), ['control.sock'], 'no files remain, and the socket still exists');
});

inRest('a lock holder that disconnects or sends an invalid response is reported in one sentence', async (t) => {
	const answers: Readonly<Record<string, (socket: Socket) => void>> = {
		'stopped before it responded': (socket) => socket.destroy(),
		'before it responded': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"value":'),
		'invalid response': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{"v'),
	};
	for (const [says, answer] of Object.entries(answers)) {
		const folder = temporary(t);
		const server = createServer((socket) => socket.on('error', () => undefined).once('data', () => answer(socket)));
		server.listen(join(folder, 'control.sock'));
		await once(server, 'listening');
		t.teardown(() => server.close());
		await t.throwsAsync(sendCommand(folder, 'hello'), { instanceOf: ConfigError, message: new RegExp(says) });
	}
});

inRest('a socket folder that other users can write to or have created is refused', async (t) => {
	const [shared, long] = [temporary(t), join(temporary(t), 'x'.repeat(60), 'y'.repeat(60))];
	const before = process.env['TMPDIR'];
	process.env['TMPDIR'] = shared;
	t.teardown(() => {
		if (before === undefined) delete process.env['TMPDIR'];
		else process.env['TMPDIR'] = before;
	});
	const path = join(shared, `regolith-${process.getuid?.()}`);
	const refused = { instanceOf: ConfigError, message: /accessible only to you/ };
	mkdirSync(path);
	chmodSync(path, 0o777);
	await t.throwsAsync(lockDataDirectory(long), refused);
	rmdirSync(path);
	symlinkSync(temporary(t), path);
	await t.throwsAsync(lockDataDirectory(long), refused);
	rmSync(path);
	await (await lockDataDirectory(long)).release();
	t.is(statSync(path).mode & 0o777, 0o700);
});

interface Started {
	readonly running: Running;
	readonly folder: string;
	readonly env: Readonly<Record<string, string>>;
	readonly urls: Urls;
}

/** Starts the program on a copy of the first start's folder, and waits until it serves requests. */
async function started(t: Cleanup, words: readonly string[]): Promise<Started> {
	const folder = copied(t);
	const { env, urls } = await surroundings(folder);
	const running = launch({ command: words, env });
	t.teardown(async () => {
		await running.kill('SIGKILL');
	});
	await running.answering(words.includes('start') ? `${urls.pdp}/ready` : `${urls.api}/healthy`);
	return { running, folder, env, urls };
}

/** Copies the first start's folder. */
function copied(t: Cleanup): string {
	const folder = temporary(t);
	cpSync(first.folder, folder, { recursive: true });
	return folder;
}

/** Returns only the settings that every start needs, with free ports. */
async function surroundings(folder: string) {
	const [api, pdp] = [String(await freePort()), String(await freePort())];
	return {
		env: { DATA_DIR: folder, API_PORT: api, PDP_PORT: pdp, OPA_PATH: opa, LOG_LEVEL: 'warn' },
		urls: { api: `http://127.0.0.1:${api}`, pdp: `http://127.0.0.1:${pdp}` },
	};
}

/** Returns the printed commands, which are the indented lines under a numbered line. */
function commandsIn(stdout: string): readonly string[] {
	return stdout
		.split(/^\d\. .*$/m)
		.slice(1)
		.map((text) => text.trim());
}

/** Returns the ticket from the console link. */
function ticketIn(stdout: string): string {
	return /\/console#ticket=([\w-]{43})$/m.exec(stdout)?.[1] ?? '';
}

function secretIn(stdout: string): string {
	return /permit_key_[A-Za-z0-9_-]+/.exec(stdout)?.[0] ?? '';
}

async function keyFrom(env: Readonly<Record<string, string>>, words: readonly string[]): Promise<string> {
	const created = launch({ command: ['keys', 'create', ...words], env });
	const exit = await created.exited;
	if (exit.code !== 0) throw new Error(`keys create ${words.join(' ')}: ${created.stderr()}`);
	return created.stdout().trim();
}

function allowed({ urls }: Started) {
	const asked = { user: 'alice', action: 'read', resource: { type: 'document', tenant: 'default' } };
	return client(urls.pdp, secretIn(first.stdout)).post('/allowed', asked);
}

/** Returns all rows of all tables as text, with bytes in hexadecimal. */
async function everyRow({ knex }: Database): Promise<string> {
	const tables: { readonly name: string }[] = await knex('information_schema.tables')
		.select('table_name as name')
		.where({ table_schema: 'public' });
	const texts = tables.map(async ({ name }) => {
		const { rows } = await knex.raw<{ readonly rows: readonly { readonly row: string }[] }>(
			'select t::text as row from ?? as t',
			[name],
		);
		return rows.map(({ row }) => row).join('\n');
	});
	return (await Promise.all(texts)).join('\n');
}

const execute = promisify(execFile);

function run(program: string, parameters: readonly string[]) {
	return execute(program, [...parameters]);
}

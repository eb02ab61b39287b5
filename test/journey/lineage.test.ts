// @rest

import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { beginLineage } from '../../src/compose/bootstrap.js';
import { type RunningDecisionPoint, startDecisionPoint } from '../../src/compose/decision-point.js';
import { type Config, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { type Client, client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { provideDatabase, type StoreKind, type TestDatabase } from '../support/postgres.js';
import { root } from '../support/root.js';
import { facts, neverSwept, schema, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Truncated histories. Tests decision points that followed the lost part, and decision points that started later. */

const log = createLogger('silent');
const patience = { policyWait: 120_000, sweepPause: neverSwept };

interface Site {
	readonly config: Config;
	readonly api: () => RunningApi;
	readonly http: Client;
	/** Starts a decision point, which runs until the end of the test. */
	point(): Promise<{ readonly running: RunningDecisionPoint; readonly http: Client; stop(): Promise<void> }>;
	/** Stops the API process, calls `work`, and starts a new API process at the same address. */
	restarted(work: () => void | Promise<void>): Promise<void>;
}

async function open(t: ExecutionContext, store: StoreKind | TestDatabase): Promise<Site> {
	const folder = temporary(t);
	const database = typeof store === 'string' ? await provideDatabase(store, folder) : store;
	const given = { ...settings(folder, 'lineage'), API_PORT: String(await freePort()), DATABASE_URL: database.url };
	const config = readConfig(given);
	let api = await startApi(config, log, patience);
	let stop = api.stop;
	const key = config.bootstrap.environment ?? '';
	t.teardown(async () => {
		await stop();
		await database.drop();
	});
	return {
		config,
		api: () => api,
		http: client(api.listening.url, key),
		async point() {
			const running = await startDecisionPoint(config, log, api.listening.url, key);
			let stopped: Promise<void> | undefined;
			const stopPoint = () => {
				stopped ??= running.stop();
				return stopped;
			};
			t.teardown(stopPoint);
			await running.replica.reached(1);
			return { running, http: client(running.listening.url, key), stop: stopPoint };
		},
		async restarted(work) {
			await api.stop();
			stop = async () => {};
			await work();
			api = await startApi(config, log, patience);
			stop = api.stop;
		},
	};
}

const check = (user: string) => ({ user, action: 'read', resource: { type: 'document', tenant: 'acme' } });

/** Creates a reader `ann`, and users without roles. */
async function populate({ http }: Site): Promise<void> {
	const { status } = await http.post(`${schema}/resources`, {
		key: 'document',
		name: 'Document',
		actions: { read: {}, write: {} },
	});
	if (status >= 300) throw new Error(`the resource was not created: ${status}`);
	await http.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const key of ['ann', 'ben', 'eve']) await http.post(`${facts}/users`, { key });
	await assign({ http }, 'ann');
}

function assign({ http }: Pick<Site, 'http'>, user: string) {
	return http.post(`${facts}/role_assignments`, { user, role: 'reader', tenant: 'acme' });
}

/** Waits until a decision point has reached the token's revision. Returns the users who may read. */
async function readers({ http }: { readonly http: Client }, token: string): Promise<readonly string[]> {
	const headers = { 'x-min-revision': token };
	const allowed: string[] = [];
	for (const user of ['ann', 'ben', 'eve']) {
		const answer = await eventually(
			() => http.post('/allowed', check(user), { headers }),
			({ status }) => status === 200,
		);
		if (answer.body['allow'] === true) allowed.push(user);
	}
	return allowed;
}

const tokenOf = ({ headers }: { readonly headers: Headers }) => headers.get('x-revision-token') ?? '';

for (const { kept, copied } of [
	{ kept: 'nothing', copied: ['postgres', 'bundles'] },
	{ kept: 'its stored snapshots', copied: ['postgres'] },
]) {
	test.serial(
		`a data folder is reset to an earlier state, except for ${kept}: no decision uses lost data`,
		async (t) => {
			const site = await open(t, 'embedded');
			await populate(site);
			const point = await site.point();
			const backup = temporary(t);
			const folder = site.config.data_directory;
			const copy = (from: string, to: string) => {
				for (const name of copied) {
					rmSync(join(to, name), { recursive: true, force: true });
					cpSync(join(from, name), join(to, name), { recursive: true });
				}
			};
			await site.restarted(() => copy(folder, backup));
			const lost = await assign(site, 'ben');
			t.deepEqual(await readers(point, tokenOf(lost)), ['ann', 'ben']);
			// When a decision point starts, a snapshot is stored. It contains the changes that will be lost.
			await (await site.point()).stop();
			await site.restarted(() => copy(backup, folder));
			const made = await assign(site, 'eve');
			t.is(made.revision, lost.revision, 'the revision number is reused');
			const [lostLineage] = tokenOf(lost).split('.');
			await eventually(
				async () => point.running.replica.lineage,
				(lineage) => lineage !== lostLineage,
			);
			const { lineage } = point.running.replica;
			t.deepEqual(await readers(point, `${lineage}.${made.revision}`), ['ann', 'eve']);
			t.deepEqual(await readers(await site.point(), `${lineage}.${made.revision}`), ['ann', 'eve']);
			const asked = await point.http.post('/allowed', check('ann'), { headers: { 'x-min-revision': tokenOf(lost) } });
			t.is(asked.status, 409);
			t.like((await point.http.get('/healthy')).body, { left_lineage: { lineage: lostLineage } });
		},
	);
}

test.serial('a database from a different server starts a new lineage before the first read and write', async (t) => {
	const site = await open(t, 'server');
	await populate(site);
	const point = await site.point();
	const before = point.running.replica.lineage;
	const connection = new pg.Client({ connectionString: site.config.database_url ?? '' });
	await connection.connect();
	t.teardown(() => connection.end());
	/**
	 * Makes the database look like a promoted standby, by changing a recorded identity that a promotion would change.
	 */
	const move = (column: string) =>
		connection.query(`update lineages set ${own(column)}${column} = 'other' where ended_at is null`);
	/** Also records the current transaction, because the update itself changes the transaction of the row. */
	const own = (column: string) => (column === 'row_xid' ? '' : 'row_xid = pg_current_xact_id()::xid::text, ');
	let left = before;
	for (const column of ['timeline', 'system_identifier', 'database_oid', 'table_oid', 'row_xid']) {
		await move(column);
		const written = await site.http.post(`${facts}/users`, { key: column });
		t.is(written.status, 200);
		const [lineage = ''] = tokenOf(written).split('.');
		t.not(lineage, left, `${column}: the write is in the new lineage`);
		t.deepEqual(await readers(point, tokenOf(written)), ['ann']);
		left = lineage;
	}
	await move('timeline');
	await eventually(
		async () => point.running.replica.lineage,
		(lineage) => lineage !== left,
	);
	t.is(point.running.replica.lineageChanges, 6, 'also without a write');
	const renewed = await beginLineage(site.api().store, { command: 'lineage', reason: 'a drill' });
	await eventually(
		async () => point.running.replica.lineage,
		(lineage) => lineage === renewed,
	);
	const { rows } = await connection.query('select reason from lineages order by created_at');
	t.is(rows.length, 8);
	t.is(rows[7].reason, 'an operator: a drill');
	t.regex(rows[1].reason, /promoted/);
	t.regex(rows[2].reason, /restored or copied/);
	const { revision, token } = (
		await connection.query('select revision, token from changes where token is not null order by revision desc limit 1')
	).rows[0];
	const explain = (of: string) =>
		site.http.post('/v2/projects/default/envs/dev/explanation', {
			...check('ann'),
			revision: Number(revision),
			token: of,
		});
	t.is((await explain(token)).status, 200);
	const other = await explain('0123456789abcdef');
	t.is(other.status, 410, 'a decision from a truncated history is not explained by a different history');
});

interface Tooled {
	readonly url: string;
	readonly binaries: string;
	stop(): Promise<void>;
}
test.serial('the documented dump and restore work, and start a new lineage', async (t) => {
	const tools = ['pg_dump', 'pg_restore', 'psql'];
	const { startPostgres }: { startPostgres(root: string, options: object): Promise<Tooled> } = await import(
		join(root, 'setup/postgres.mjs')
	);
	const server = await startPostgres(root, { durable: true, tools }).catch(() => null);
	if (server === null) {
		t.log('there is no PostgreSQL with pg_dump here');
		t.pass();
		return;
	}
	t.teardown(server.stop);
	const administer = async (...statements: readonly string[]) => {
		const connection = new pg.Client({ connectionString: server.url });
		await connection.connect();
		for (const statement of statements) await connection.query(statement);
		await connection.end();
	};
	// Creates a user who owns the database but has no further rights.
	await administer(
		`create role regolith_owner login password 'secret'`,
		'create database restored owner regolith_owner',
	);
	const url = new URL(server.url);
	[url.username, url.password, url.pathname] = ['regolith_owner', 'secret', '/restored'];
	const site = await open(t, { url: url.href, drop: async () => {} });
	await populate(site);
	const point = await site.point();
	const folder = temporary(t);
	const page = readFileSync(join(root, 'docs/operate/backup.md'), 'utf8').split('## PostgreSQL')[1] ?? '';
	const [dump = '', restore = ''] = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, script]) => script);
	const run = (script: string) => {
		const env = { PATH: `${server.binaries}:${process.env['PATH']}`, DATABASE_URL: url.href };
		const { status, stderr } = spawnSync('/bin/sh', ['-ec', script], { cwd: folder, env, encoding: 'utf8' });
		t.is(status, 0, stderr);
	};
	run(dump);
	const lost = await assign(site, 'ben');
	t.deepEqual(await readers(point, tokenOf(lost)), ['ann', 'ben']);
	await site.restarted(() => run(restore));
	const made = await assign(site, 'eve');
	t.is(made.revision, lost.revision, 'the revision number is reused');
	t.not(tokenOf(made), tokenOf(lost));
	t.deepEqual(await readers(point, tokenOf(made)), ['ann', 'eve']);
	t.deepEqual(await readers(await site.point(), tokenOf(made)), ['ann', 'eve']);
});

test.serial('a request with a forged token gets a snapshot, and does not end the lineage', async (t) => {
	const site = await open(t, 'server');
	await populate(site);
	const { running } = await site.point();
	const { lineage } = running.replica;
	const { environment_id } = (await site.http.get('/v2/api-key/scope')).body as { readonly environment_id: string };
	const path = `/bundles/${environment_id}`;
	const headers = { prefer: 'modes=snapshot,delta,policy' };
	const ask = (etag: string) =>
		fetch(site.api().listening.url + path, {
			headers: { ...headers, authorization: `Bearer ${site.config.bootstrap.environment}`, 'if-none-match': etag },
		});
	const etag = (await ask('"none"')).headers.get('etag') ?? '';
	t.is((await ask(etag)).status, 304);
	const [, name = '', rest = ''] = /^"(\w+\.r\d+)\.\w+-(.*)"$/.exec(etag) ?? [];
	for (const invented of [`"${name}.0123456789abcdef-${rest}"`, `"${lineage}.r999.0123456789abcdef-${rest}"`]) {
		const answer = await ask(invented);
		t.is(answer.status, 200);
		t.is(answer.headers.get('etag'), etag);
	}
	t.is((await site.http.post(`${facts}/users`, { key: 'more' })).status, 200);
	t.is((await ask(etag)).headers.get('etag')?.startsWith(`"${lineage}.`), true);
});

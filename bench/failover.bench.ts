import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Client, client } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import { freePort } from '../test/support/ports.js';
import { root } from '../test/support/root.js';
import { Service } from '../test/support/service.js';
import { facts, schema, secretFor, settings } from '../test/support/stack.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary.js';
import { accepted } from './support/api.js';
import { Detour } from './support/detour.js';

/**
 * PostgreSQL failovers under load: a primary is killed, and a standby is promoted. Three API nodes connect to the
 * database by a single address, like a virtual IP. Clients query four decision points continuously. Two have two
 * workers each. The third starts from an offline copy that contains lost revisions. The fourth starts at the promotion,
 * from an API node whose stored snapshot contains lost revisions. The first run uses synchronous replication. The
 * second run uses asynchronous replication, and the standby lacks 50 revisions.
 *
 *     npm run bench -- failover
 *
 * Compares each response from the new lineage with the change log in the promoted database.
 */

interface Replicated {
	readonly primary: string;
	readonly standby: string;
	stop(): Promise<void>;
}
const { startReplicatedPostgres }: { startReplicatedPostgres(root: string): Promise<Replicated> } = await import(
	join(root, 'setup/postgres.mjs')
);

/** Number of acknowledged writes before the primary is killed, and after the promotion. */
const [before, after] = [2_000, 300];
const lostRevisions = 50;
const writers = 6;
const users = Array.from({ length: 48 }, (_, index) => `user-${index}`);
const key = secretFor('failover-environment');
const check = (user: string) => ({ user, action: 'read', resource: { type: 'document', tenant: 'acme' } });

/** Acknowledged write. */
interface Written {
	readonly user: string;
	readonly lineage: string;
	readonly revision: number;
}

/** Check response from a decision point. */
interface Answered {
	readonly point: string;
	readonly at: number;
	readonly user: string;
	readonly allow: boolean;
	readonly lineage: string;
	readonly revision: number;
}

const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`;

function counted(tally: Map<string, number>, name: string): void {
	tally.set(name, (tally.get(name) ?? 0) + 1);
}

const listed = (tally: ReadonlyMap<string, number>) =>
	[...tally].map(([name, number]) => `${number} × ${name}`).join(', ') || 'none';

/** Splits `X-Revision-Token`. */
function splitToken(headers: Headers): { readonly lineage: string; readonly revision: number } {
	const [lineage = '', revision = ''] = (headers.get('x-revision-token') ?? '').split('.');
	return { lineage, revision: Number(revision) };
}

async function ask(url: string, sql: string): Promise<readonly pg.QueryResultRow[]> {
	const connection = new pg.Client({ connectionString: url });
	connection.on('error', () => undefined);
	await connection.connect();
	try {
		return (await connection.query(sql)).rows;
	} finally {
		await connection.end().catch(() => undefined);
	}
}

/** Writers and checking clients, which run until `stop` is called. */
class Load {
	readonly written: Written[] = [];
	readonly answers: Answered[] = [];
	/** Counts of client errors, keyed by status or message. Cleared when the primary is killed. */
	readonly writeTroubles = new Map<string, number>();
	readonly checkTroubles = new Map<string, number>();
	#running = true;
	readonly #work: Promise<void>[] = [];

	write(api: Client, own: readonly string[]): void {
		this.#work.push(this.#writing(api, own));
	}

	check(point: string, http: Client): void {
		this.#work.push(this.#checking(point, http));
	}

	async stop(): Promise<void> {
		this.#running = false;
		await Promise.all(this.#work);
	}

	async #writing(api: Client, own: readonly string[]): Promise<void> {
		const granted = new Set<string>();
		for (let turn = 0; this.#running; turn += 1) {
			const user = own[turn % own.length] ?? '';
			const body = { user, role: 'reader', tenant: 'acme' };
			try {
				const path = `${facts}/role_assignments`;
				const answer = await (granted.has(user) ? api.delete(path, body) : api.post(path, body));
				// The next request shows whether a request without a response was applied.
				if (answer.status < 500) {
					if (granted.has(user)) granted.delete(user);
					else granted.add(user);
				}
				if (answer.status < 300) this.written.push({ user, ...splitToken(answer.headers) });
				else counted(this.writeTroubles, `${answer.status}`);
			} catch (error) {
				counted(this.writeTroubles, (error as Error).message);
				await sleep(50);
			}
		}
	}

	async #checking(point: string, http: Client): Promise<void> {
		for (let turn = 0; this.#running; turn += 1) {
			const user = users[(turn * 7) % users.length] ?? '';
			const at = performance.now();
			try {
				const { status, body, headers } = await http.post('/allowed', check(user));
				if (status === 200)
					this.answers.push({ point, at, user, allow: body['allow'] === true, ...splitToken(headers) });
				else counted(this.checkTroubles, `${point}: ${status}`);
			} catch (error) {
				counted(this.checkTroubles, `${point}: ${(error as Error).message}`);
			}
			await sleep(5);
		}
	}
}

/** Knows the users with read access at each revision, from the change log. */
class Oracle {
	readonly #changes = new Map<string, { readonly revision: number; readonly allow: boolean }[]>();
	readonly revisions = new Map<number, string>();

	constructor(rows: readonly pg.QueryResultRow[]) {
		for (const { revision, operation, user } of rows) {
			this.revisions.set(Number(revision), user);
			const changes = this.#changes.get(user) ?? [];
			changes.push({ revision: Number(revision), allow: operation === 'create' });
			this.#changes.set(user, changes);
		}
	}

	allows(user: string, revision: number): boolean {
		return this.#changes.get(user)?.findLast((change) => change.revision <= revision)?.allow ?? false;
	}
}

async function failOver(synchronous: boolean): Promise<void> {
	console.log(
		`\n${synchronous ? 'synchronous' : 'asynchronous, at least 50 revisions lost'}; load ${loadavg()[0]?.toFixed(1)}`,
	);
	const postgres = await startReplicatedPostgres(root);
	const folder = temporaryFolder();
	const detour = await Detour.open(postgres.primary);
	const services: Service[] = [];
	const serve = async (name: string, command: string, port: number, more: Readonly<Record<string, string>>) => {
		const given = settings(join(folder, name), 'failover');
		const url = `http://127.0.0.1:${port}`;
		const env = { ...given, LOG_LEVEL: 'warn', SECRET_KEY: 's'.repeat(32), ...more };
		const service = new Service(url, { command: [command], env });
		services.push(service);
		return { service, url, http: client(url, key) };
	};
	const apis: { readonly service: Service; readonly url: string; readonly http: Client }[] = [];
	const point = async (name: string, api: number, more: Readonly<Record<string, string>> = {}) => {
		const port = await freePort();
		const control = { PDP_CONTROL_PLANE: apis[api]?.url ?? '', PDP_API_KEY: key };
		return serve(name, 'pdp', port, { PDP_PORT: String(port), ...control, ...more });
	};
	const load = new Load();
	try {
		if (synchronous) {
			await ask(postgres.primary, `alter system set synchronous_standby_names = '*'`);
			await ask(postgres.primary, 'select pg_reload_conf()');
		}
		for (const name of ['api-1', 'api-2', 'api-3']) {
			const port = await freePort();
			const api = await serve(name, 'serve', port, { API_PORT: String(port), DATABASE_URL: detour.url });
			await api.service.start();
			apis.push(api);
		}
		const [api] = apis;
		if (api === undefined) throw new Error('no API');
		accepted(await api.http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } }));
		accepted(await api.http.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] }));
		accepted(await api.http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' }));
		for (const user of users) accepted(await api.http.post(`${facts}/users`, { key: user }));
		const first = [
			await point('workers-1', 0, { PDP_WORKERS: '2' }),
			await point('workers-2', 1, { PDP_WORKERS: '2' }),
		];
		for (const { service } of first) await service.start();
		for (const { http } of first)
			await eventually(
				() => http.get('/ready'),
				({ status }) => status === 200,
			);

		const share = users.length / writers;
		for (let index = 0; index < writers; index += 1) {
			const target = apis[index % apis.length];
			if (target !== undefined) load.write(target.http, users.slice(index * share, (index + 1) * share));
		}
		load.check('workers, 1st', (first[0] as { http: Client }).http);
		load.check('workers, 2nd', (first[1] as { http: Client }).http);
		await until(() => load.written.length >= before - lostRevisions);
		const newest = async (url: string) =>
			Number((await ask(url, 'select max(revision) as at from environments'))[0]?.['at']);
		if (!synchronous) {
			await ask(postgres.standby, `alter system set primary_conninfo = ''`);
			await ask(postgres.standby, 'select pg_reload_conf()');
			await until(async () => (await ask(postgres.standby, 'select * from pg_stat_wal_receiver')).length === 0);
		}
		const offline = { PDP_ENABLE_OFFLINE_MODE: 'true' };
		const copying = await point('offline', 1, offline);
		const leaving = await point('leaving', 2);
		const kept = synchronous ? Number.POSITIVE_INFINITY : await newest(postgres.standby);
		await until(
			async () =>
				load.written.length >= before && (synchronous || (await newest(postgres.primary)) >= kept + lostRevisions),
		);
		// Both services have state that the standby will lack: an offline copy, and a snapshot stored by the third API
		// node.
		for (const { service, http } of [copying, leaving]) {
			await service.start();
			await eventually(
				() => http.get('/ready'),
				({ status }) => status === 200,
			);
		}
		await sleep(2_000);
		for (const { service } of [copying, leaving]) await service.stop();

		const [{ pid = 0 } = {}] = await ask(
			postgres.primary,
			`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`,
		);
		const [lineageBefore] = new Set(load.written.map(({ lineage }) => lineage));
		load.writeTroubles.clear();
		load.checkTroubles.clear();
		const killed = performance.now();
		process.kill(pid, 'SIGKILL');
		detour.cut();
		const acknowledged = load.written.length;
		// This decision point starts while no API node can reach a database.
		await copying.service.start();
		await eventually(
			() => copying.http.get('/ready'),
			({ status }) => status === 200,
		);
		const offlineState = (await copying.http.get('/healthy')).body['state'];
		load.check('offline copy', copying.http);
		await ask(postgres.standby, 'select pg_promote()');
		detour.lead(postgres.standby);
		const promoted = performance.now();
		const starting = await point('starting', 2);
		await starting.service.start();
		load.check('starting', starting.http);
		const points = { 'workers, 1st': first[0], 'workers, 2nd': first[1], 'offline copy': copying, starting };
		const known = new Map<string, number>();
		await Promise.all(
			Object.entries(points).map(async ([name, running]) => {
				await eventually(
					async () => (await running?.http.get('/healthy'))?.body,
					(body) => typeof body?.['lineage'] === 'string' && body['lineage'] !== lineageBefore,
					{ interval: 5 },
				);
				known.set(name, performance.now());
			}),
		);
		const during = { writes: listed(load.writeTroubles), checks: listed(load.checkTroubles) };
		const resumed = load.written.findIndex(({ lineage }) => lineage !== lineageBefore);
		await until(() => load.written.length >= acknowledged + after);
		const token = `${lineageBefore}.1`;
		const lostToken = await api.http
			.get('/version')
			.then(() =>
				(first[0] as { http: Client }).http.post('/allowed', check('user-0'), { headers: { 'x-min-revision': token } }),
			);
		await load.stop();

		const rows = await ask(
			postgres.standby,
			`select revision, operation, coalesce(after, before) ->> 'user' as user from changes
			where kind = 'role_assignment' order by environment_id, revision, position`,
		);
		const oracle = new Oracle(rows);
		const lost = load.written.filter(({ user, revision }) => oracle.revisions.get(revision) !== user);
		const judged = load.answers.filter(({ point: name, at }) => at >= (known.get(name) ?? Number.POSITIVE_INFINITY));
		const wrong = judged.filter(
			({ user, allow, lineage, revision }) => lineage === lineageBefore || allow !== oracle.allows(user, revision),
		);
		const early = load.answers.filter(({ at, lineage }) => at >= promoted && lineage === lineageBefore);
		const table: readonly (readonly [string, string | number])[] = [
			['acknowledged before the primary was killed', acknowledged],
			['of these, missing in the new primary', lost.filter(({ lineage }) => lineage === lineageBefore).length],
			['acknowledged in the new lineage, but lost', lost.filter(({ lineage }) => lineage !== lineageBefore).length],
			['state of the decision point with the offline copy, before the promotion', String(offlineState)],
			['from the kill to the promotion', seconds(promoted - killed)],
			[
				'first write acknowledged in the new lineage',
				resumed === -1 ? 'within the wait below' : `number ${resumed + 1}`,
			],
			...[...known].map(
				([name, at]) => [`${name}: new lineage known after the promotion`, seconds(at - promoted)] as const,
			),
			['responses from the old lineage until the new lineage was known', early.length],
			['responses after the new lineage was known', judged.length],
			['WRONG responses after the new lineage was known', wrong.length],
			['failed writes during the failover', during.writes],
			['failed checks during the failover', during.checks],
			['status for a token of the lost lineage', lostToken.status],
			[
				'machine load',
				loadavg()
					.map((one) => one.toFixed(1))
					.join(' '),
			],
		];
		for (const [name, value] of table) console.log(`  ${name.padEnd(74)} ${value}`);
		if (wrong.length > 0) console.log(wrong.slice(0, 5));
		const unexpected = apis.flatMap(({ service }) => service.output().split('\n').filter(isUnexpected));
		for (const line of unexpected.slice(0, 5)) console.log(line);
		if (wrong.length > 0 || (synchronous && lost.length > 0)) process.exitCode = 1;
	} finally {
		await load.stop().catch(() => undefined);
		for (const service of services) await service.kill();
		await detour.close();
		await postgres.stop();
		removeFolder(folder);
	}
}

/** True for a log line with any error except an unreachable database. */
function isUnexpected(line: string): boolean {
	return /"level":"?(50|error)/.test(line) && !line.includes('the database cannot be reached');
}

function until(condition: () => boolean | Promise<boolean>): Promise<unknown> {
	return eventually(condition, Boolean, { deadline: 900_000, interval: 20 });
}

const only = process.env['REPLICATION'];
if (only !== 'asynchronous') await failOver(true);
if (only !== 'synchronous') await failOver(false);

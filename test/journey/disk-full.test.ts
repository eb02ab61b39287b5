// @alone @both @long

import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { ConfigError, readConfig } from '../../src/config.js';
import { logOptions } from '../../src/log.js';
import { client } from '../support/client.js';
import { createDatabase } from '../support/postgres.js';
import { facts, schema, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';
import { inPush, inRest } from '../support/tier.js';

/** Effects on clients if the disk is full or almost full. */

const reserve = 256 * 2 ** 20;

async function start(t: ExecutionContext, database = '') {
	const disk = { free: 10 * reserve };
	const logged: { readonly level: string; readonly msg: string }[] = [];
	const log = pino(logOptions('warn'), { write: (line: string) => void logged.push(JSON.parse(line)) });
	const config = readConfig({ ...settings(temporary(t), 'full'), DATABASE_URL: database });
	const open = () => startApi(config, log, { freeSpace: () => disk.free, policyWait: 120_000 });
	const running: { api: RunningApi } = { api: await open() };
	const key = config.bootstrap.environment ?? '';
	const decisionPoint = await startDecisionPoint(config, log, running.api.listening.url, key);
	t.teardown(async () => {
		await decisionPoint.stop();
		await running.api.stop();
	});
	const pdp = client(decisionPoint.listening.url, key);
	return {
		disk,
		logged,
		running,
		open,
		http: () => client(running.api.listening.url, key),
		reached: (revision = 0) => decisionPoint.replica.reached(revision),
		allowed: async () => {
			const { status, body } = await pdp.post('/allowed', { user: 'ann', action: 'read', resource: 'document' });
			return status === 200 && body['allow'] === true;
		},
	};
}

type Started = Awaited<ReturnType<typeof start>>;

async function populate({ http, reached }: Started): Promise<void> {
	await http().post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await http().post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	const ann = { key: 'ann', role_assignments: [{ role: 'viewer', tenant: 'default' }] };
	const { revision } = await http().post(`${facts}/users`, ann);
	await reached(revision);
}

inPush(
	'a nearly full disk: writes return 507, reads and decisions continue, and free space restores writes',
	async (t) => {
		const started = await start(t);
		const { disk, logged, http, allowed } = started;
		await populate(started);
		const before = await http().get(`${facts}/users/ann`);

		disk.free = reserve - 1;
		for (const write of [
			http().post(`${facts}/users`, { key: 'bob' }),
			http().post(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: { read: {} } }),
			http().delete(`${facts}/users/ann`),
		]) {
			const { status, body } = await write;
			t.is(status, 507);
			t.regex(String(body['message']), /disk space/);
		}
		t.is(logged.filter(({ msg }) => msg.startsWith('the disk is nearly full')).length, 1);
		const after = await http().get(`${facts}/users/ann`);
		t.deepEqual([after.status, after.body], [200, before.body]);
		t.true(await allowed());

		disk.free = 2 * reserve;
		const written = await http().post(`${facts}/users`, { key: 'bob' });
		t.is(written.status, 200);
		t.true(logged.some(({ msg }) => msg.startsWith('enough disk space again')));
	},
);

inRest('a write larger than the remaining space returns 507, and a small write succeeds', async (t) => {
	const { disk, http } = await start(t);
	disk.free = reserve + 2 ** 20;
	const attributes = { text: 'x'.repeat(60_000) };
	const operations = Array.from({ length: 20 }, (_, index) => ({ key: `large${index}`, attributes }));
	t.is((await http().post(`${facts}/bulk/users`, { operations })).status, 507);
	t.is((await http().post(`${facts}/users`, { key: 'small' })).status, 200);
	t.is((await http().get(`${facts}/users/large0`)).status, 404);
});

inRest('with little disk space, a start permits only reads; with too little, it reports the problem', async (t) => {
	const { disk, http, running, open } = await start(t);
	disk.free = reserve / 2;
	await running.api.stop();
	running.api = await open();
	t.is((await http().get(`${facts}/users`)).status, 200);
	t.is((await http().post(`${facts}/users`, { key: 'bob' })).status, 507);
	await running.api.stop();
	disk.free = reserve / 8;
	const refused = await t.throwsAsync(open(), { instanceOf: ConfigError });
	t.regex(refused.message, /DATA_DIR.*32 MiB free.*MIN_FREE_DISK/);
	disk.free = 10 * reserve;
	running.api = await open();
	t.is((await http().post(`${facts}/users`, { key: 'bob' })).status, 200);
});

inPush('a PostgreSQL server with a full disk gives a 507, a read-only server a 503, and both are logged', async (t) => {
	const database = await createDatabase();
	t.teardown(() => database.drop());
	const started = await start(t, database.url);
	const { logged, http, allowed } = started;
	await populate(started);
	const { knex } = started.running.api.store.database;
	for (const [errcode, status] of [
		['53100', 507],
		['25006', 503],
	] as const) {
		await knex.raw(`create or replace function fail() returns trigger language plpgsql as
			$$ begin raise exception using errcode = '${errcode}', message = 'could not extend file'; end $$`);
		await knex.raw('create or replace trigger fail before insert on users execute function fail()');
		const answers = [
			await http().post(`${facts}/users`, { key: 'bob' }),
			await http().put(`${facts}/bulk/users`, { operations: [{ key: 'bob' }] }),
		];
		t.deepEqual(
			answers.map((answer) => answer.status),
			[status, status],
		);
		t.is((await http().get(`${facts}/users/ann`)).status, 200);
		t.true(await allowed());
	}
	t.true(logged.some(({ level, msg }) => level === 'error' && msg === 'a write was rejected because the disk is full'));
	await knex.raw('drop trigger fail on users');
	t.is((await http().post(`${facts}/users`, { key: 'bob' })).status, 200);
});

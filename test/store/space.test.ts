// @alone

import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { logOptions } from '../../src/log.js';
import { EmbeddedPostgres } from '../../src/store/database/embedded/postgres.js';
import { freeSpace, NoSpaceError, Space } from '../../src/store/database/embedded/space.js';
import { type Boundary, boundary, bytesIn, writes } from '../../src/store/database/embedded/statement.js';
import { eventually } from '../support/eventually.js';
import { provideDatabase } from '../support/postgres.js';
import { type Cleanup, temporary } from '../support/temporary.js';

/** The embedded database on a disk that fills up. */

const reserve = 1_000;

function watched(free: () => number, kept = reserve) {
	const logged: { readonly level: string; readonly msg: string; readonly free?: number }[] = [];
	const log = pino(logOptions('warn'), { write: (line: string) => void logged.push(JSON.parse(line)) });
	return { space: new Space('/nowhere', kept, log, free), log, logged };
}

test('there is space until the reserve is reached, and each change is logged once', (t) => {
	const disk = { free: 1_000 };
	const { space, logged } = watched(() => disk.free);
	t.true(space.hasRoomFor(0));
	disk.free = 999;
	t.false(space.hasRoomFor(0));
	t.false(space.hasRoomFor(0));
	disk.free = 2_000;
	t.true(space.hasRoomFor(0));
	t.true(space.hasRoomFor(250));
	t.deepEqual(
		logged.map(({ level, free }) => ({ level, free })),
		[
			{ level: 'error', free: 999 },
			{ level: 'warn', free: 2_000 },
		],
	);
});

test('a statement needs free space of four times its parameters, in addition to the reserve', (t) => {
	const { space, logged } = watched(() => 1_400);
	t.true(space.hasRoomFor(100));
	t.false(space.hasRoomFor(101));
	t.deepEqual(logged, [], 'the disk is not nearly full: this statement is large');
});

test('without a reserve the disk is not watched, and an unreadable disk state rejects no write', (t) => {
	t.true(watched(() => 0, 0).space.hasRoomFor(10 ** 9));
	const unreadable = watched(() => {
		throw new Error('no such file system');
	});
	t.true(unreadable.space.hasRoomFor(10 ** 9));
	t.true(freeSpace('.') > 0);
});

const statements: readonly (readonly [sql: string, writes: boolean, boundary: Boundary | null])[] = [
	['select 1', false, null],
	['  SELECT * from users for update', false, null],
	['with a as (select 1) select * from a', false, null],
	['with a as (delete from users returning *) select * from a', true, null],
	['insert into users values (1)', true, null],
	['update environments set revision = 1', true, null],
	['delete from users', true, null],
	['create table x ()', true, null],
	['analyze users', true, null],
	['BEGIN;', false, 'begin'],
	['BEGIN TRANSACTION ISOLATION LEVEL repeatable read READ ONLY;', false, 'begin'],
	['COMMIT;', false, 'commit'],
	['ROLLBACK', false, 'rollback'],
	['rollback to savepoint member', false, null],
	['savepoint member', false, null],
	['lock table organizations in exclusive mode', false, null],
];

for (const [sql, writing, bound] of statements) {
	test(`classifies a statement: ${sql}`, (t) => {
		t.is(writes(sql), writing);
		t.is(boundary(sql), bound);
	});
}

test('the size of a statement’s parameters is measured', (t) => {
	t.is(bytesIn(['abc', Buffer.from('de'), ['f', ['g']], { h: 1 }, 5, null, new Date()]), 3 + 2 + 2 + 7 + 8 * 3);
});

async function open(t: Cleanup, disk: { free: number }) {
	const { space, log, logged } = watched(() => disk.free);
	const folder = temporary(t);
	await provideDatabase('embedded', folder);
	const database = await EmbeddedPostgres.open({ path: join(folder, 'postgres'), fsync: false, space, log });
	t.teardown(() => database.close());
	return { database, logged };
}

/** Simulates PostgreSQL's error for a full disk. */
const fill = `do $$ begin raise exception using errcode = '53100', message = 'could not extend file'; end $$`;

test('a database that ran out of space restarts with all committed data', async (t) => {
	const disk = { free: 10_000 };
	const { database, logged } = await open(t, disk);
	await database.query('create table kept (id integer)');
	await database.query('insert into kept values (1)');
	await database.query('BEGIN;');
	await database.query('insert into kept values (2)');
	const failing = database.query(fill);
	await t.throwsAsync(failing, { code: '53100' });
	await t.throwsAsync(database.query('insert into kept values (3)'), { code: '57P03' }, 'its transaction is lost');
	await t.throwsAsync(database.query('COMMIT;'), { code: '57P03' });
	await eventually(async () => (await database.query('select 1').catch(() => null)) !== null);
	t.deepEqual((await database.query('select id from kept')).rows, [{ id: 1 }]);
	await database.query('insert into kept values (4)');
	t.deepEqual(
		logged.map(({ msg }) => msg),
		[
			'the embedded database ran out of disk space: it restarts when there is enough',
			'the embedded database is open again',
		],
	);
});

test('a full disk rejects writes and starts, but not reads, and writes succeed again when there is space', async (t) => {
	const disk = { free: 10_000 };
	const { database } = await open(t, disk);
	await database.query('create table kept (id integer)');
	await database.query('BEGIN;');
	disk.free = 10;
	await t.throwsAsync(database.query('insert into kept values (1)'), { instanceOf: NoSpaceError });
	t.deepEqual((await database.query('select * from kept')).rows, [], 'reads continue');
	await t.throwsAsync(database.query("select pg_notify('a', 'b'), 1 / 0"), { code: '22012' });
	await t.throwsAsync(EmbeddedPostgres.open({ path: temporary(t), fsync: false, ...watched(() => 10) }), {
		instanceOf: NoSpaceError,
	});
	await database.query('ROLLBACK;');
	disk.free = 10_000;
	await database.query('insert into kept values (2)');
	t.deepEqual((await database.query('select id from kept')).rows, [{ id: 2 }]);
});

test('a database that does not respond is also closed, and waiting callers are notified', async (t) => {
	const { database } = await open(t, { free: 10_000 });
	const stuck = database.query('select count(*) from generate_series(1, 1000000000000) as n where n < 0');
	const told = t.throwsAsync(stuck);
	await database.close();
	await told;
	await t.throwsAsync(database.query('select 1'), { code: '57P03' });
});

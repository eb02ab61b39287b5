// @alone @rest

import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { createLogger } from '../../src/log.js';
import { EmbeddedPostgres } from '../../src/store/database/embedded/postgres.js';
import { Space } from '../../src/store/database/embedded/space.js';
import { eventually } from '../support/eventually.js';
import { type Cleanup, temporary } from '../support/temporary.js';

/** The embedded database after a power cut, which leaves only synced content. */

const shadowed = new URL('../support/shadowed-database.js', import.meta.url);
const log = createLogger('silent');
const space = new Space('/nowhere', 0, log);

async function open(t: Cleanup, path: string, fsync: boolean, worker?: URL): Promise<EmbeddedPostgres> {
	const database = await EmbeddedPostgres.open({ path, fsync, space, log, worker });
	t.teardown(() => database.close());
	return database;
}

async function readIds(database: EmbeddedPostgres): Promise<readonly number[]> {
	const { rows } = await database.query<{ readonly id: number }>('select id from kept order by id');
	return rows.map(({ id }) => id);
}

/** Returns the committed ids in the files that would be left after a power cut now. */
async function idsAfterCut(t: Cleanup, path: string): Promise<readonly number[]> {
	const copy = join(temporary(t), 'postgres');
	cpSync(`${path}.shadow`, copy, { recursive: true });
	const database = await open(t, copy, false);
	const ids = await readIds(database);
	await database.close();
	return ids;
}

/** Returns the ids without the failed commit, whose outcome is unknown. */
function withoutFailed(ids: readonly number[]): readonly number[] {
	return ids.filter((id) => id > 0);
}

(process.platform === 'linux' ? test : test.skip)(
	'with EMBEDDED_FSYNC, a power cut loses no acknowledged commit; without the setting, it loses commits',
	async (t) => {
		t.timeout(300_000);
		const path = join(temporary(t), 'postgres');
		const acknowledged: number[] = [];
		const commit = async (database: EmbeddedPostgres, count: number) => {
			for (let written = 0; written < count; written += 1) {
				const id = acknowledged.length + 1;
				await database.query('insert into kept values ($1)', [id]);
				acknowledged.push(id);
			}
		};

		const unsafe = await open(t, path, false, shadowed);
		await unsafe.query('create table kept (id integer)');
		await commit(unsafe, 5);
		await unsafe.query('checkpoint');
		await unsafe.close();
		t.false(existsSync(`${path}.shadow`), 'without the setting, nothing is synced, not even by a checkpoint');

		const safe = await open(t, path, true, shadowed);
		t.deepEqual(await idsAfterCut(t, path), acknowledged, 'a start with the setting syncs earlier commits');

		await commit(safe, 10);
		await safe.query('create table filler as select n, md5(n::text) from generate_series(1, 250000) as n');
		await commit(safe, 1);
		await safe.query('checkpoint');
		await safe.query('delete from filler where n % 2 = 0');
		await commit(safe, 10);
		t.deepEqual(await idsAfterCut(t, path), acknowledged, 'after a log file switch and a checkpoint');

		writeFileSync(`${path}.broken`, '');
		await t.throwsAsync(safe.query('insert into kept values (-1)'), { code: '57P03', message: /could not fsync/ });
		rmSync(`${path}.broken`);
		const reopened = await eventually(() => readIds(safe));
		t.deepEqual(withoutFailed(reopened), acknowledged, 'a failed sync restarts the database');
		await commit(safe, 1);
		t.deepEqual(withoutFailed(await idsAfterCut(t, path)), acknowledged, 'after the restart');

		await safe.close();
		const again = await open(t, path, false, shadowed);
		await commit(again, 10);
		const left = withoutFailed(await idsAfterCut(t, path));
		t.deepEqual(left, acknowledged.slice(0, -10), 'without the setting again, commits are lost');
	},
);

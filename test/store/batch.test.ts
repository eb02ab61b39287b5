// @alone

import { randomBytes } from 'node:crypto';
import test from 'ava';
import knexFactory from 'knex';
import pg from 'pg';
import { systemClock } from '../../src/clock.js';
import { createCipher } from '../../src/store/account/secret.js';
import { isUnreachable } from '../../src/store/database/database.js';
import { unknown } from '../../src/store/database/origin.js';
import { Store } from '../../src/store/store.js';
import { User } from '../../src/store/table/user.js';
import type { WritingUnit } from '../../src/store/unit/writing-unit.js';
import { onEachStore } from '../support/each-store.js';
import type { Place } from '../support/management.js';
import { freePort } from '../support/ports.js';
import { scopeIn } from '../support/scope.js';

/**
 * Units that wait for each other in the same environment share a transaction, but do not affect each other in any other
 * way.
 */

const journey = onEachStore({ embedded: 'all' });

/** Adds a user, and returns the transaction id. */
async function adding(unit: WritingUnit, key: string): Promise<string> {
	await unit.create(User, { key, attributes: {} }, key);
	const { rows } = await unit.raw<{ readonly id: string }>(
		'select pg_current_xact_id()::text as id where :environment_id::uuid is not null',
		{},
	);
	return rows[0]?.id ?? '';
}

/**
 * Returns a second store on the place's database. Its clock stands still, so that a transaction is never too old for a
 * further unit.
 */
function timeless({ store }: Place): Store {
	const now = new Date();
	return new Store(
		store.database,
		{ ...systemClock, now: () => now, monotonic: () => 0 },
		createCipher(randomBytes(32)),
	);
}

async function usersIn({ store, id }: Place): Promise<readonly string[]> {
	const rows: { readonly key: string }[] = await store.database
		.knex('users')
		.where({ environment_id: id })
		.orderBy('key');
	return rows.map(({ key }) => key);
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);

journey('waiting units share a transaction, each with its own revision, in order', async (t, place) => {
	const store = timeless(place);
	const scope = await scopeIn(place);
	const before = await place.revision();
	const heard: string[] = [];
	store.committed.on('environment', (id) => heard.push(id));
	const seen: number[] = [];
	const all = await Promise.all(
		numbered(8).map((key) =>
			store.write(scope, null, async (unit) => {
				const id = await adding(unit, key);
				seen.push((await unit.query(User)).length);
				return id;
			}),
		),
	);
	t.deepEqual(
		all.map(({ revision }) => revision),
		all.map((_, index) => before + index + 1),
	);
	t.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8], 'each unit sees the earlier units’ changes');
	t.is(new Set(all.map(({ value }) => value)).size, 1);
	t.deepEqual(heard, [place.id], 'waiting requests are woken once');
});

journey('a heavy unit runs in a separate transaction', async (t, place) => {
	const store = timeless(place);
	const scope = await scopeIn(place);
	const all = await Promise.all(
		numbered(6).map((key, index) => store.write(scope, null, (unit) => adding(unit, key), { heavy: index === 3 })),
	);
	const [, , third, heavy, fifth] = all.map(({ value }) => value);
	t.is(new Set(all.map(({ value }) => value)).size, 3);
	t.not(heavy, third);
	t.not(heavy, fifth);
});

journey('a failed unit is undone without affecting other units, and creates no revision', async (t, place) => {
	const scope = await scopeIn(place);
	const before = await place.revision();
	const write = (key: string, after: (unit: WritingUnit) => Promise<unknown>) =>
		place.store.write(scope, null, async (unit) => {
			await adding(unit, key);
			await after(unit);
		});
	const all = await Promise.allSettled([
		write('first', () => Promise.reject(new Error('the first fails'))),
		write('a', async () => {}),
		write('b', () => Promise.reject(new Error('fails after it wrote'))),
		write('c', async () => {}),
		// This unit's statement fails in the database, so the transaction cannot be used further.
		write('c', async () => {}),
		place.store.write(scope, null, () => Promise.reject(new Error('fails before it writes'))),
		write('d', async () => {}),
		place.store.write(scope, null, async () => {}),
	]);
	const told = all.map((one) => (one.status === 'fulfilled' ? one.value.revision - before : String(one.reason)));
	t.deepEqual(told, [
		'Error: the first fails',
		1,
		'Error: fails after it wrote',
		2,
		'Failure: a user with key `c` already exists',
		'Error: fails before it writes',
		3,
		3,
	]);
	t.deepEqual(await usersIn(place), ['a', 'c', 'd']);
	t.is(await place.revision(), before + 3);
});

journey('an abandoned unit returns its result and changes nothing', async (t, place) => {
	const scope = await scopeIn(place);
	const before = await place.revision();
	const write = (key: string, abandoned: boolean) =>
		place.store.write(scope, null, async (unit) => {
			await adding(unit, key);
			if (abandoned) unit.abandon();
			return (await unit.query(User)).length;
		});
	const all = await Promise.all([write('a', true), write('b', false), write('a', true), write('c', false)]);
	t.deepEqual(
		all.map(({ value, revision }) => [value, revision - before]),
		[
			[1, 0],
			[1, 1],
			[2, 1],
			[2, 2],
		],
	);
	t.deepEqual(await usersIn(place), ['b', 'c']);
});

journey('work after the end of its unit is rejected', async (t, place) => {
	const scope = await scopeIn(place);
	const kept: WritingUnit[] = [];
	await place.store.write(scope, null, async (unit) => {
		kept.push(unit);
	});
	t.throws(() => kept[0]?.query(User), { message: /after its end/ });
});

journey(
	'if a transaction is lost, all its units fail and change nothing',
	async (t, place) => {
		const store = timeless(place);
		const scope = await scopeIn(place);
		const before = await place.revision();
		const killer = new pg.Client({ connectionString: place.store.database.url ?? '' });
		await killer.connect();
		const all = await Promise.allSettled(
			numbered(6).map((key, index) =>
				store.write(scope, null, async (unit) => {
					await adding(unit, key);
					if (index !== 3) return;
					const { rows } = await unit.raw<{ readonly pid: number }>(
						'select pg_backend_pid() as pid where :environment_id::uuid is not null',
						{},
					);
					await killer.query('select pg_terminate_backend($1, 10000)', [rows[0]?.pid]);
				}),
			),
		);
		await killer.end();
		const lost = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
		// Units after the detected loss use a separate transaction.
		t.true(lost.length >= 4, `${lost.length} lost`);
		for (const error of lost) t.true(isUnreachable(error), String(error));
		t.deepEqual(await usersIn(place), numbered(6).slice(lost.length));
		t.is(await place.revision(), before + 6 - lost.length);
		await store.write(scope, null, (unit) => adding(unit, 'later'));
		t.is(await place.revision(), before + 7 - lost.length);
	},
	['server'],
);

test('units fail if no transaction can be started, alone or together', async (t) => {
	const quiet = { warn: () => {} };
	const knex = knexFactory({ client: 'pg', connection: { host: '127.0.0.1', port: await freePort() }, log: quiet });
	const unused = { connections: { used: 0, free: 0, waiting: 0 }, ping: async () => {}, committed: () => {} };
	const origin = {
		system_identifier: unknown,
		timeline: unknown,
		database_oid: unknown,
		table_oid: unknown,
		row_xid: unknown,
	};
	const database = { ...unused, origin, knex, url: null, isOwn: () => true, close: () => knex.destroy() };
	const store = new Store(database, systemClock, createCipher(randomBytes(32)));
	const id = systemClock.newId();
	const scope = { organization_id: id, project_id: id, environment_id: id };
	for (const heavy of [false, true]) {
		const all = await Promise.allSettled(
			numbered(3).map(() => store.write(scope, null, () => Promise.reject(new Error('began')), { heavy })),
		);
		for (const one of all) t.true(one.status === 'rejected' && isUnreachable(one.reason), JSON.stringify(one));
	}
	await store.close();
});

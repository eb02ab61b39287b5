import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { Failure } from '../../src/failure.js';
import { User } from '../../src/store/table/user.js';
import { onEachStore } from '../support/each-store.js';
import { scopeIn } from '../support/scope.js';

/** A slow or waiting writer blocks only writers in its own environment. */

const journey = onEachStore({ embedded: 'all' });

journey('a long unit yields to the rest of the process', async (t, place) => {
	const scope = await scopeIn(place);
	const rows = Array.from({ length: 4000 }, (_, index) => ({ key: `u${index}`, attributes: {} }));
	let running = true;
	let turns = 0;
	const counting = (async () => {
		for (; running; turns += 1) await setImmediate();
	})();
	const { value } = await place.store.write(scope, null, (unit) => unit.createMany(User, rows, (user) => user.key));
	running = false;
	await counting;
	t.is(value.length, 4000);
	// There are eight batches of rows, and eight batches of log entries for these rows.
	t.true(turns >= 16, `${turns} turns`);
});

journey(
	'writers that wait for a lock leave connections free for other requests, and all writers finish',
	async (t, place, { organization }) => {
		const { http, facts, store } = place;
		const before = await place.revision();
		const holder = new pg.Client({ connectionString: store.database.url ?? '' });
		await holder.connect();
		let written = 0;
		const writes = [];
		try {
			await holder.query('begin');
			await holder.query('select id from environments where id = $1 for no key update', [place.id]);
			const count = async (answer: Promise<{ readonly status: number }>) => {
				const { status } = await answer;
				written += 1;
				return status;
			};
			for (let index = 0; index < 12; index += 1) writes.push(count(http.post(`${facts}/users`, { key: `u${index}` })));
			const path = `/v2/projects/default/envs/${place.key}`;
			for (let index = 0; index < 4; index += 1) {
				writes.push(count(organization.patch(path, { description: `described ${index}` })));
			}
			// Waits until the first writer waits for the lock. The remaining writers queue behind the first writer.
			const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
			while ((await holder.query(waiting)).rows.length === 0) await setImmediate();
			for (let index = 0; index < 12; index += 1) {
				t.is((await organization.get('/v2/projects/default/envs/dev')).status, 200);
				t.is((await organization.get(`${facts}/users`)).status, 200);
			}
			const elsewhere = await organization.post('/v2/facts/default/dev/users', { key: place.key });
			t.is(elsewhere.status, 200);
			t.is(written, 0, 'no writer passed the lock');
			await holder.query('commit');
		} finally {
			await holder.end();
		}
		t.deepEqual(new Set(await Promise.all(writes)), new Set([200]));
		t.is(await place.revision(), before + 16);
	},
	['server'],
);

journey('a unit without changes writes nothing to its environment', async (t, place) => {
	const scope = await scopeIn(place);
	const heard: string[] = [];
	place.store.database.knex.on('query', ({ sql, bindings }: { sql: string; bindings?: readonly unknown[] }) => {
		if (bindings?.includes(place.id)) heard.push(sql);
	});
	const revision = await place.revision();
	t.is((await place.store.write(scope, null, async () => {})).revision, revision);
	t.true(heard.length > 0);
	t.deepEqual(
		heard.filter((sql) => /^(insert|update|delete)/i.test(sql)),
		[],
	);
	await place.store.write(scope, null, async (unit) => unit.create(User, { key: 'ann', attributes: {} }, 'ann'));
	t.is(heard.filter((sql) => /^update "environments"/i.test(sql)).length, 1, 'a unit with changes does');
});

journey('a unit that blocks other writers for too long is aborted, and changes nothing', async (t, place) => {
	const before = await place.revision();
	const work = place.store.write(await scopeIn(place), null, async (unit) => {
		await unit.create(User, { key: 'early', attributes: {} }, 'early');
		await unit.endWithin(-1);
		await unit.create(User, { key: 'late', attributes: {} }, 'late');
	});
	const { code, info } = await t.throwsAsync(work, { instanceOf: Failure });
	t.deepEqual([code, info], ['limit_reached', { code: 'TAKES_TOO_LONG' }]);
	t.is(await place.revision(), before);
	t.is((await place.http.post(`${place.facts}/users`, { key: 'early' })).status, 200);
});

journey(
	'a statement that blocks other writers for too long is aborted, and the limit ends with its unit',
	async (t, place) => {
		const before = await place.revision();
		const work = place.store.write(await scopeIn(place), null, async (unit) => {
			unit.abandon();
			await unit.endWithin(0.2);
			await unit.raw('select pg_sleep(60), :environment_id::text', {});
		});
		const { code, info } = await t.throwsAsync(work, { instanceOf: Failure });
		t.deepEqual([code, info], ['limit_reached', { code: 'TAKES_TOO_LONG' }]);
		t.is(await place.revision(), before);
		// Other units on the same connection have no limit.
		const limits = await place.store.write(await scopeIn(place), null, async (unit) => {
			await unit.raw('select pg_sleep(0.5), :environment_id::text', {});
			return 'ran';
		});
		t.is(limits.value, 'ran');
	},
	['server'],
);

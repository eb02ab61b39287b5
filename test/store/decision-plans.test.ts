// @alone

import { randomUUID } from 'node:crypto';
import test from 'ava';
import { AuditLogIntake } from '../../src/store/audit-log/audit-log-intake.js';
import { keepAuditLogs } from '../../src/store/audit-log/audit-log-upkeep.js';
import type { ReadingUnit } from '../../src/store/unit/reading-unit.js';
import { onEachStore } from '../support/each-store.js';
import { oncePerStore, type Place } from '../support/management.js';

/** Counts the rows read to store decisions and to find them by code, with and without table statistics. */

const journey = onEachStore({ declare: test.serial, embedded: 'alone' });
const many = 20_000;
const rare = 20;

const received = new Date('2031-05-03T12:00:00Z');

/** Logs many decisions on two days. The oldest few decisions of each day have a rare code. */
const populated = oncePerStore(async (place: Place): Promise<Place> => {
	const { store, id } = place;
	const { knex } = store.database;
	await keepAuditLogs(knex, received, { days: 30, bytes: 2 ** 40 });
	await knex.raw(
		`insert into audit_logs
			(environment_id, received_on, id, logged_at, api_key_id, user_key, action, decision, code, raw)
		select :id::uuid, day::date, gen_random_uuid(), day::timestamptz + n * interval '1 second', :id::uuid, 'ann', 'read',
			false, case when n <= :rare then 'tenant_mismatch' else 'no_permission' end, '{}'
		from unnest(array['2031-05-03', '2031-05-04']) as day, generate_series(1, :many) as n`,
		{ id, rare: rare / 2, many: many / 2 },
	);
	// With this usage, storing decisions on the first day also searches the second day for copies.
	await knex.raw(
		`insert into audit_logs_usage select environment_id, received_on, count(*), 0 from audit_logs
		where environment_id = ? group by environment_id, received_on`,
		[id],
	);
	return place;
});

type Reader = Pick<ReadingUnit, 'raw'>;

/**
 * Returns the number of decisions read in all daily tables, by scan or index. Includes reads shortly before the unit.
 */
async function decisionsRead(unit: Reader): Promise<number> {
	const { rows } = await unit.raw<{ readonly read: number }>(
		`select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::float8 as read from pg_stat_xact_user_tables
		where relname like 'audit_logs%' and :environment_id::uuid is not null`,
		{},
	);
	return rows[0]?.read ?? 0;
}

// Statistics stay known, so the tests without statistics run first.
journey('storing decisions reads no other decisions, statistics missing', async (t, fresh) => {
	const { id, store } = await populated(fresh);
	const asked = { action: 'read', resource_type: null, tenant: null, user_key: 'ann', code: 'allow', decision: true };
	const rows = Array.from({ length: 400 }, () => {
		return { ...asked, id: randomUUID(), api_key_id: id, logged_at: received, raw: '{}' };
	});
	await store.database.knex.transaction(async (transaction) => {
		const reader: Reader = { raw: (text) => transaction.raw(text, { environment_id: id }) };
		const before = await decisionsRead(reader);
		const intake = new AuditLogIntake({ environment_id: id }, transaction, { bytes: 2 ** 40, full: () => t.fail() });
		await intake.add(rows, received);
		const read = (await decisionsRead(reader)) - before;
		t.true(read <= rows.length, `${read} decisions were read`);
	});
});

for (const counted of [false, true]) {
	journey(
		`a search for decisions with a rare code reads only matching rows, statistics ${counted ? 'known' : 'missing'}`,
		async (t, fresh) => {
			const place = await populated(fresh);
			if (counted) await place.store.database.knex.raw('analyze');
			await place.store.snapshot(place.id, async (unit) => {
				const code = 'tenant_mismatch';
				const before = await decisionsRead(unit);
				const { data, total_count } = await unit.auditLogs().page({ code }, { page: 1, per_page: 100 });
				t.is(total_count, rare);
				t.deepEqual([...new Set(data.map((row) => row.code))], [code]);
				t.true(data[0] !== undefined && data[0].logged_at > received, 'the newest first');
				const read = (await decisionsRead(unit)) - before;
				// The rows are read once for the page and once for the count.
				t.true(read >= rare && read <= 4 * rare, `${read} decisions were read`);
			});
		},
	);
}

journey('a search for decisions with the most common code reads only one page', async (t, fresh) => {
	const place = await populated(fresh);
	await place.store.database.knex.raw('analyze');
	await place.store.snapshot(place.id, async (unit) => {
		const before = await decisionsRead(unit);
		const { data } = await unit.auditLogs().page({ code: 'no_permission' }, { page: 1, per_page: 10 });
		t.is(data.length, 10);
		const read = (await decisionsRead(unit)) - before;
		// Counting ends at 10,000.
		t.true(read >= 10 && read <= 11_000, `${read} decisions were read`);
	});
});

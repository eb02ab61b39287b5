import { type LoggedEntry, loggedSince, type WantedChanges } from '../../src/store/history/logged-since.js';
import type { ChangeKind } from '../../src/store/unit/change.js';
import type { ReadingUnit } from '../../src/store/unit/reading-unit.js';
import { onEachStore } from '../support/each-store.js';
import type { Place } from '../support/management.js';

/** Reads of the change log for drafts are bounded, even if the log is long. */

const journey = onEachStore({ embedded: 'all' });

/** Maximum number of changes searched. */
const most = 100_000;

/** Logs changes to objects with the keys `a1`, `a2` and so on, each in a separate revision after `base`. */
async function log(place: Place, kind: ChangeKind, count: number, base: number, operation = 'update'): Promise<void> {
	await place.store.database.knex.raw(
		`insert into changes (environment_id, revision, position, kind, operation, key, before, after, created_at)
		select :id::uuid, :base::bigint + n, 0, :kind, :operation, 'a' || n, '{}', '{}', now()
		from generate_series(1, :count::integer) as n`,
		{ id: place.id, base, kind, operation, count },
	);
}

function look(place: Place, base: number, wanted: Partial<WantedChanges>): Promise<readonly LoggedEntry[] | null> {
	return place.store.snapshot(place.id, (unit) => find(unit, base, wanted));
}

function find(unit: ReadingUnit, base: number, wanted: Partial<WantedChanges>) {
	return loggedSince(unit, base, { objects: [], within: [], deleted: [], ...wanted });
}

const user = (key: string) => ({ kind: 'user' as const, key });
const role = (key: string) => ({ kind: 'role' as const, key });

journey('changes after the base are found by kind and key, newest first', async (t, place) => {
	const base = await place.revision();
	await log(place, 'user', 3, base);
	await log(place, 'role', 2, base + 10);
	await log(place, 'role', 2, base + 20, 'delete');
	const told = async (from: number, wanted: Partial<WantedChanges>) =>
		(await look(place, from, wanted))?.map(({ kind, key, revision }) => `${kind} ${key} ${revision - base}`);
	t.deepEqual(await told(base, { objects: [user('a1'), user('a3'), role('a3')] }), ['user a3 3', 'user a1 1']);
	t.deepEqual(await told(base + 1, { objects: [user('a1'), user('a2')] }), ['user a2 2']);
	t.deepEqual(await told(base, { objects: [role('a1')] }), ['role a1 21', 'role a1 11']);
	t.deepEqual(await told(base, { deleted: [role('a1'), user('a1')] }), ['role a1 21']);
	t.deepEqual(await told(base, { within: [{ kind: 'role', resource: 'a2' }] }), ['role a2 22', 'role a2 12']);
	t.deepEqual(await told(base, { objects: [user('user a1'), user('')] }), []);
});

journey('too many changes give no result, but schema changes are found among any number of facts', async (t, place) => {
	const base = await place.revision();
	await log(place, 'user', most, base);
	await log(place, 'role', 1, base + most);
	t.is(await look(place, base, { objects: [user('a1')] }), null);
	t.is((await look(place, base + 1, { objects: [user('a2')] }))?.length, 1);
	t.is((await look(place, base, { objects: [role('a1')] }))?.length, 1);
	await place.store.database.knex.raw('analyze changes');
	await place.store.snapshot(place.id, async (unit) => {
		const before = await rowsRead(unit);
		await find(unit, base, { objects: [role('a1')], within: [{ kind: 'resource_attribute', resource: 'a1' }] });
		const read = (await rowsRead(unit)) - before;
		t.true(read < 100, `${read} rows were read`);
	});
});

/** Returns how many log rows the unit's connection has read recently. */
async function rowsRead(unit: ReadingUnit): Promise<number> {
	const { rows } = await unit.raw<{ readonly read: number }>(
		`select (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read from pg_stat_xact_user_tables
		where relname = 'changes' and :environment_id::uuid is not null`,
		{},
	);
	return rows[0]?.read ?? 0;
}

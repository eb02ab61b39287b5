// @alone

import test from 'ava';
import type { Knex } from 'knex';
import { assignExactly, unassignMany } from '../../src/domain/facts/assignment.js';
import { findTargets } from '../../src/domain/facts/assignment-reference.js';
import { removeInstances } from '../../src/domain/facts/resource-instance.js';
import { Maintenance } from '../../src/store/database/maintenance.js';
import { participantsIn } from '../../src/store/table/assignment-reference.js';
import { groupsAmong } from '../../src/store/table/group/group.js';
import { instancesNamed, instancesToRemove } from '../../src/store/table/resource-instance.js';
import { assignmentsBetween } from '../../src/store/table/role-assignment.js';
import { Tenant } from '../../src/store/table/tenant.js';
import { User } from '../../src/store/table/user.js';
import { onEachStore } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { oncePerStore, type Place } from '../support/management.js';
import { rowsRead } from '../support/rows-read.js';
import { scopeIn } from '../support/scope.js';

/**
 * Counts the rows read by statements in a large database, with and without statistics. A statement that reads more rows
 * than necessary takes seconds in a bulk call, and minutes in an import.
 */

const journey = onEachStore({ declare: test.serial, embedded: 'alone' });
const many = 20_000;
const asked = 50;
/**
 * Maximum number of rows read to find `asked` objects. A plan may read an object twice, or through several indexes, but
 * not the many other objects in the environment.
 */
const limit = 10 * asked;

/** Creates a user who has a role on many instances, and a second user who has a role in many tenants. */
async function populate({ store, id }: Place, rows = many): Promise<void> {
	await store.database.knex.transaction(async (transaction) => {
		// Disables foreign key checks. Planned for empty tables, they would read all rows for each new row.
		await transaction.raw('set local session_replication_role = replica');
		await insertAll(transaction, id, rows);
	});
}

async function insertAll(knex: Knex, id: string, rows: number): Promise<void> {
	const make = (table: string, columns: string, values: string, count = rows) =>
		knex.raw(
			`insert into ${table} (environment_id, id, created_at, ${columns})
			select :id::uuid, gen_random_uuid(), now(), ${values} from generate_series(1, :count) as n`,
			{ id, count },
		);
	const of = (table: string, key: string) =>
		`(select id from ${table} where environment_id = '${id}' and key = ${key})`;
	await make('resources', 'key, name, updated_at', `'document', 'D', now()`, 1);
	await make('roles', 'key, name, updated_at', `'viewer', 'V', now()`, 1);
	await make(
		'roles',
		'key, name, updated_at, resource_id',
		`'reader', 'R', now(), ${of('resources', `'document'`)}`,
		1,
	);
	await make('users', 'key, attributes, updated_at', `'user-' || n, '{}', now()`, 2);
	await make('tenants', 'key, name, last_action_at, updated_at', `'t' || n, 'T', now(), now()`);
	await make(
		'resource_instances',
		'key, attributes, updated_at, resource_id, tenant_id',
		`'d' || n, '{}', now(), ${of('resources', `'document'`)}, ${of('tenants', `'t1'`)}`,
	);
	for (const [user, role, table] of [
		['user-1', 'reader', 'resource_instances'],
		['user-2', 'viewer', 'tenants'],
	] as const) {
		const place = table === 'tenants' ? `found.id, null` : `found.tenant_id, found.id`;
		await knex.raw(
			`insert into role_assignments
				(environment_id, id, created_at, user_id, role_id, tenant_id, resource_instance_id)
			select :id::uuid, gen_random_uuid(), now(), ${of('users', `'${user}'`)}, ${of('roles', `'${role}'`)}, ${place}
			from ${table} as found where environment_id = :id`,
			{ id },
		);
	}
}

/**
 * Fills the only large environment in the database, as in most installations. A condition on the environment id then
 * excludes no rows.
 */
const populated = oncePerStore(async (place: Place): Promise<Place> => {
	await populate(place);
	return place;
});

const names = (prefix: string) => Array.from({ length: asked }, (_, index) => `${prefix}${index + 1}`);

// Statistics stay known, so the test without statistics runs first.
for (const counted of [false, true]) {
	journey(`finding instances scans at most once, statistics ${counted ? 'known' : 'missing'}`, async (t, fresh) => {
		const place = await populated(fresh);
		if (counted) await place.store.database.knex.raw('analyze');
		await place.store.snapshot(place.id, async (unit) => {
			const before = await rowsRead(unit, 'resource_instances');
			t.is((await instancesNamed(unit, names('document:d'))).size, asked);
			const read = (await rowsRead(unit, 'resource_instances')) - before;
			// The planner may prefer to read all rows once, but not once for each name.
			t.true(read <= limit + many, `${read} rows were read`);
		});
	});
}

const references = {
	'on instances': names('document:d').map((resource_instance) => ({
		user: 'user-1',
		role: 'reader',
		resource_instance,
	})),
	'in tenants': names('t').map((tenant) => ({ user: 'user-2', role: 'viewer', tenant })),
};

for (const [where, taken] of Object.entries(references)) {
	journey(`removing roles ${where} from a user does not read the user’s other roles`, async (t, fresh) => {
		const place = await populated(fresh);
		await place.store.database.knex.raw('analyze');
		await place.store.write(await scopeIn(place), null, async (unit) => {
			const before = await rowsRead(unit, 'role_assignments');
			t.is((await unassignMany(unit, taken)).length, asked);
			const read = (await rowsRead(unit, 'role_assignments')) - before;
			t.true(read <= limit, `${read} rows were read`);
			unit.abandon();
		});
	});
}

for (const [where, stored] of Object.entries(references)) {
	journey(`changing the expiry of roles ${where} does not read the user’s other roles`, async (t, fresh) => {
		const place = await populated(fresh);
		await place.store.database.knex.raw('analyze');
		await place.store.write(await scopeIn(place), null, async (unit) => {
			const expiring = stored.map((reference) => ({ ...reference, expires_at: '2100-01-01T00:00:00Z' }));
			const before = await rowsRead(unit, 'role_assignments');
			const found = await participantsIn(unit, expiring);
			await assignExactly(unit, expiring, found, await findTargets(unit, expiring), () => ['body']);
			const read = (await rowsRead(unit, 'role_assignments')) - before;
			t.is(unit.changes.length, asked);
			t.true(read <= limit, `${read} rows were read`);
			unit.abandon();
		});
	});
}

journey('the planner has estimates for an environment after a unit with many new rows', async (t, fresh) => {
	await populated(fresh);
	await fresh.store.database.knex.raw('analyze');
	const scope = await scopeIn(fresh);
	const rows = Array.from({ length: 2_000 }, (_, index) => ({
		key: `t${index}`,
		name: 'T',
		last_action_at: new Date(),
	}));
	await fresh.store.write(scope, null, (unit) => unit.createMany(Tenant, rows, ({ key }) => key));
	await fresh.store.snapshot(fresh.id, async (unit) => {
		const expected = await unit.raw<{ readonly 'QUERY PLAN': readonly { readonly Plan: object }[] }>(
			'explain (format json) select from tenants where environment_id = :environment_id::uuid',
			{},
		);
		const plan: Readonly<Record<string, unknown>> = { ...expected.rows[0]?.['QUERY PLAN'][0]?.Plan };
		t.true(Number(plan['Plan Rows']) >= 500, JSON.stringify(plan));
		const before = await rowsRead(unit, 'tenants');
		t.is((await unit.findMany(Tenant, ['t7'])).size, 1);
		const read = (await rowsRead(unit, 'tenants')) - before;
		t.true(read <= 2, `${read} rows were read`);
	});
});

journey('instances to delete are read in chunks, each row once', async (t, place) => {
	const rows = 700;
	await populate(place, rows);
	await place.store.write(await scopeIn(place), null, async (unit) => {
		const { id } = await unit.find(Tenant, 't1');
		const chunks: number[] = [];
		const removed: string[] = [];
		for await (const chunk of instancesToRemove(unit, { tenant_ids: [id] })) {
			chunks.push(chunk.length);
			await removeInstances(unit, { ids: chunk.map((row) => row.id) });
			removed.push(...chunk.map((row) => `${row.resource}:${row.key} in ${row.tenant}`));
		}
		t.deepEqual(chunks, [500, 200]);
		t.deepEqual(removed.sort(), Array.from({ length: rows }, (_, index) => `document:d${index + 1} in t1`).sort());
	});
});

journey('a query for an empty list of ids returns nothing', async (t, place) => {
	const rows = await assignmentsBetween(place.store.reading(await scopeIn(place)), 'tenants', []);
	t.deepEqual(rows, []);
});

async function estimatedRows({ store }: Place, table: string): Promise<number> {
	const row = await store.database.knex('pg_class').where({ relname: table }).first<{ reltuples: number }>('reltuples');
	return row?.reltuples ?? 0;
}

journey('statistics are updated during a unit that adds many rows', async (t, place) => {
	const keys = Array.from({ length: 12_000 }, (_, index) => ({ key: `new-${index}`, attributes: {} }));
	const { knex } = place.store.database;
	await knex.raw('analyze users');
	const before = await estimatedRows(place, 'users');
	await place.store.write(await scopeIn(place), null, async (unit) => {
		await unit.createMany(User, keys, ({ key }) => key);
		unit.abandon();
	});
	t.true((await estimatedRows(place, 'users')) >= before + 6_000);
});

journey(
	'the embedded database updates its statistics during operation',
	async (t, place) => {
		const scope = await scopeIn(place);
		const before = await estimatedRows(place, 'users');
		for (let portion = 0; portion < 10; portion += 1) {
			const rows = Array.from({ length: 2_000 }, (_, index) => ({ key: `${portion}-${index}`, attributes: {} }));
			await place.store.write(scope, null, (unit) => unit.createMany(User, rows, ({ key }) => key));
		}
		await eventually(async () => (await estimatedRows(place, 'users')) >= before + 2_000);
		t.pass();
	},
	['embedded'],
);

journey(
	'the embedded database is vacuumed after the start if the disk has enough space',
	async (t, place) => {
		const { knex } = place.store.database;
		for (const room of [false, true]) {
			const done: string[] = [];
			// Records only the statements from `upkeep`, because the store also maintains the database.
			const recording = Object.assign((table: string) => knex(table), {
				raw: async (sql: string, names: readonly string[] = []) => {
					const answer: unknown = await knex.raw(sql, [...names]);
					done.push(sql);
					return answer;
				},
			}) as unknown as Knex;
			const upkeep = new Maintenance(recording);
			const asked: number[] = [];
			upkeep.vacuumSoon((bytes) => {
				asked.push(bytes);
				return room;
			}, 0);
			await eventually(() => asked.length > 0);
			await upkeep.settled();
			t.true((asked[0] ?? 0) > 1_000_000, 'the statistics contain the database size');
			const vacuumed = done.filter((sql) => sql.startsWith('vacuum'));
			t.is(vacuumed.length > 30, room, done.join('\n'));
		}
	},
	['embedded'],
);

journey(
	'the embedded database makes a checkpoint after 50 transactions with a large log',
	async (t, place) => {
		const { knex } = place.store.database;
		const checkpoint = async () => {
			const { rows } = await knex.raw<{ rows: { lsn: string }[] }>(
				'select redo_lsn::text as lsn from pg_control_checkpoint()',
			);
			return rows[0]?.lsn;
		};
		const before = await checkpoint();
		const upkeep = new Maintenance(knex, 1);
		await place.store.write(await scopeIn(place), null, (unit) =>
			unit.create(User, { key: 'ann', attributes: {} }, 'ann'),
		);
		for (let transaction = 0; transaction < 49; transaction += 1) upkeep.note(1);
		await upkeep.settled();
		t.is(await checkpoint(), before);
		upkeep.note(1);
		await upkeep.settled();
		t.not(await checkpoint(), before);
	},
	['embedded'],
);

journey(
	'instances and groups are found by names and ids, with statistics from before the environment',
	async (t, fresh) => {
		await populated(fresh);
		const { knex } = fresh.store.database;
		await knex.raw('analyze');
		await populate(fresh);
		await knex.raw(
			`insert into groups select environment_id, id, true, now() from resource_instances where environment_id = ?`,
			[fresh.id],
		);
		await fresh.store.snapshot(fresh.id, async (unit) => {
			const before = await rowsRead(unit, 'resource_instances');
			const found = [...(await instancesNamed(unit, names('document:d'))).values()].flat();
			t.deepEqual(
				found.map(({ resource, tenant }) => `${resource} in ${tenant}`),
				found.map(() => 'document in t1'),
			);
			const groups = await groupsAmong(
				unit,
				found.map(({ id }) => id),
			);
			t.is(groups.length, asked);
			const read = (await rowsRead(unit, 'resource_instances')) - before;
			// The planner may prefer to read all rows once, but not once for each name or group.
			t.true(read <= limit + 2 * many, `${read} rows were read`);
		});
	},
);

// @alone

import test from 'ava';
import { isUnreachable } from '../../src/store/database/database.js';
import { someTuples } from '../../src/store/table/relationship-tuple.js';
import { User } from '../../src/store/table/user.js';
import type { ReadingUnit } from '../../src/store/unit/reading-unit.js';
import { onEachStore } from '../support/each-store.js';
import { scopeIn } from '../support/scope.js';

/** Prepared statements on connections to a server database, and errors of broken connections. */

const journey = onEachStore();

journey(
	'after a table change, at most one transaction per connection fails on an old prepared statement',
	async (t, place, { store }) => {
		const scope = await scopeIn(place);
		const write = (key: string) => store.write(scope, null, (unit) => unit.create(User, { key, attributes: {} }, key));
		for (const key of ['a', 'b', 'c']) await write(key);
		await store.database.knex.raw('alter table users add column later text');
		const failures: unknown[] = [];
		for (let attempt = 0; attempt < 20; attempt += 1) {
			try {
				await write(`later-${attempt}`);
				break;
			} catch (error) {
				failures.push(error);
			}
		}
		t.true(failures.length > 0 && failures.length <= 10, `${failures.length} failures`);
		for (const error of failures) t.true(isUnreachable(error), String(error));
		t.true((await store.database.knex('users').where({ key: `later-${failures.length}` })).length === 1);
	},
	['server'],
);

/** Inserts 2,000 tuples with distinct subjects and objects, and returns the ids of the subjects. */
const tuples = `with wanted as (select :environment_id::uuid as environment_id, n from generate_series(1, 4000) n),
	resource as (insert into resources (environment_id, id, key, name, created_at, updated_at)
		select distinct environment_id, gen_random_uuid(), 'file', 'File', now(), now() from wanted where n = 1 returning *),
	tenant as (insert into tenants (environment_id, id, key, name, last_action_at, created_at, updated_at)
		select environment_id, gen_random_uuid(), 'acme', 'Acme', now(), now(), now() from resource returning *),
	relation as (insert into relations (environment_id, id, resource_id, subject_resource_id, key, name, created_at, updated_at)
		select environment_id, gen_random_uuid(), id, id, 'parent', 'Parent', now(), now() from resource returning *),
	instance as (insert into resource_instances
			(environment_id, id, resource_id, tenant_id, key, attributes, created_at, updated_at)
		select environment_id, gen_random_uuid(), resource.id, tenant.id, n::text, '{}', now(), now()
		from wanted join resource using (environment_id) join tenant using (environment_id) returning *)
	insert into relationship_tuples
		(environment_id, id, subject_id, relation_id, object_id, tenant_id, created_at, updated_at)
	select environment_id, gen_random_uuid(), subject.id, relation.id, object.id, subject.tenant_id, now(), now()
	from instance as subject join relation using (environment_id) join instance as object using (environment_id)
	where object.key::int = subject.key::int + 2000 returning subject_id`;

journey(
	'repeated queries use an index each time, whatever else is stored',
	async (t, place, { store }) => {
		const scope = await scopeIn(place);
		const tuplesRead = async (unit: ReadingUnit) => {
			const { rows } = await unit.raw<{ readonly read: number }>(
				`select idx_tup_fetch + seq_tup_read as read from pg_stat_xact_user_tables
				where relname = 'relationship_tuples' and :environment_id::uuid is not null`,
				{},
			);
			return rows[0]?.read ?? 0;
		};
		const { value: subjects } = await store.write(scope, null, async (unit) => {
			const { rows } = await unit.raw<{ readonly subject_id: string }>(tuples, {});
			return rows.map((row) => row.subject_id);
		});
		t.is(subjects.length, 2000);
		const { value: read } = await store.write(scope, null, async (unit) => {
			const before = await tuplesRead(unit);
			for (const id of subjects.slice(0, 20)) t.is((await someTuples(unit, { instance_ids: [id] })).length, 1);
			return (await tuplesRead(unit)) - before;
		});
		t.true(read <= 40, `${read} tuples were read to find 20`);
	},
	['server'],
);

test('a connection that breaks during a statement is reported as an unreachable database', (t) => {
	for (const message of ['BEGIN; - Connection terminated unexpectedly', 'select 1 - timeout expired']) {
		t.true(isUnreachable(new Error(message)), message);
	}
	t.false(isUnreachable(new Error('select 1 - a key says Connection terminated')));
});

import { User } from '../../src/store/table/user.js';
import type { WritingUnit } from '../../src/store/unit/writing-unit.js';
import { onEachStore } from '../support/each-store.js';
import { scopeIn } from '../support/scope.js';

/** Trials of changes leave nothing behind, and writers on a server store do not wait for trials. */

const journey = onEachStore({ embedded: 'all' });

const create = (key: string) => (unit: WritingUnit) => unit.create(User, { key, attributes: {} }, key);
const keysIn = async (unit: Pick<WritingUnit, 'query'>) => (await unit.query(User)).map(({ key }) => key).sort();

journey('a trial sees its changes and the revision, and leaves nothing behind', async (t, { store, ...place }) => {
	const scope = await scopeIn({ store, ...place });
	const { revision } = await store.write(scope, null, create('ann'));
	const tried = await store.tryOut(scope, null, async (unit) => {
		await create('bob')(unit);
		return { keys: await keysIn(unit), changes: unit.changes.map(({ operation, key }) => `${operation} ${key}`) };
	});
	t.like(tried, { revision, value: { keys: ['ann', 'bob'], changes: ['create bob'] } });
	t.deepEqual(await keysIn(store.reading(scope)), ['ann']);
	t.is((await store.counters(place.id))?.revision, revision);
	await t.throwsAsync(store.tryOut(scope, null, create('ann')), { message: /already exists/ });
});

journey('a write commits during a trial, which keeps its snapshot', async (t, { store, ...place }) => {
	if (store.database.url === null) return void t.pass('the embedded store has one connection');
	const scope = await scopeIn({ store, ...place });
	const tried = await store.tryOut(scope, null, async (unit) => {
		await create('ann')(unit);
		const written = await store.write(scope, null, create('bob'));
		return { written, keys: await keysIn(unit) };
	});
	t.deepEqual(tried.value.keys, ['ann']);
	t.is(tried.value.written.revision, tried.revision + 1);
	t.deepEqual(await keysIn(store.reading(scope)), ['bob']);
});

journey('a trial that conflicts with a writer is repeated after the write', async (t, { store, ...place }) => {
	if (store.database.url === null) return void t.pass('the embedded store has one connection');
	const scope = await scopeIn({ store, ...place });
	const { value: ann } = await store.write(scope, null, create('ann'));
	let attempts = 0;
	const tried = await store.tryOut(scope, null, async (unit) => {
		attempts += 1;
		const known = await unit.query(User).findById([scope.environment_id, ann.id]);
		if (known === undefined) return 'gone';
		if (attempts === 1) await store.write(scope, null, (writer) => writer.remove(User, ann, ann.key));
		return (await unit.update(User, known, { first_name: 'Ann' }, known.key)).first_name;
	});
	t.is(attempts, 2);
	t.is(tried.value, 'gone');
});

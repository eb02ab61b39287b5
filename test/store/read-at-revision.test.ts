import { User } from '../../src/store/table/user.js';
import type { ReadingUnit } from '../../src/store/unit/reading-unit.js';
import { onEachStore } from '../support/each-store.js';
import type { Place } from '../support/management.js';
import { scopeIn } from '../support/scope.js';

/** Reads of an environment at one revision are consistent, and do not block other reads. */

const journey = onEachStore({ embedded: 'all' });

async function add(place: Place, key: string): Promise<unknown> {
	return place.store.write(await scopeIn(place), null, (unit) => unit.create(User, { key, attributes: {} }, key));
}

const keysIn = async (unit: ReadingUnit) => (await unit.query(User)).map(({ key }) => key).sort();

journey('other requests can read while an environment is read at one revision', async (t, place) => {
	const { store, id } = place;
	const scope = await scopeIn(place);
	const seen = await store.readAtRevision(id, () => keysIn(store.reading(scope)));
	t.deepEqual(seen, []);
});

journey('two reads at one revision agree, whatever is written in between', async (t, place) => {
	const { store, id } = place;
	let written = 0;
	const writing: Promise<unknown>[] = [];
	const [before, after, revision] = await store.readAtRevision(id, async (unit, _, counters) => {
		const first = await keysIn(unit);
		written += 1;
		const write = add(place, `user-${written}`);
		writing.push(write);
		// The read continues even if the writer waits for it, so the test cannot deadlock.
		await Promise.race([write, new Promise((resolve) => setTimeout(resolve, 200))]);
		return [first, await keysIn(unit), counters.revision] as const;
	});
	await Promise.all(writing);
	t.deepEqual(before, after);
	t.is((await store.counters(id))?.revision, revision + 1);
	await t.throwsAsync(
		store.readAtRevision(id, () => Promise.reject(new Error('broken'))),
		{ message: 'broken' },
	);
});

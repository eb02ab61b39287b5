import test from 'ava';
import type { Schema } from '../../compiler/model.js';
import { SchemaCache, type SchemaVersion } from '../../src/store/model/schema-cache.js';

/** Default lineage for revisions. */
const first = { lineage: 'first', schema_token: '0' };

/** Returns a cache, and a function that reads through it. Each schema contains the number of its read. */
function setUp() {
	const memory = new SchemaCache();
	let reads = 0;
	const read = async (): Promise<Schema> => {
		reads += 1;
		return { condition_sets: [], set_rules: [], roles: [], resources: [resourceNamed(`read-${reads}`)] };
	};
	const ask = async (id: string, schema_revision: number, history: Partial<SchemaVersion> = {}) => {
		const { resources } = await memory.schemaAt({ ...first, ...history, id, schema_revision }, read);
		return resources[0]?.key;
	};
	return { memory, ask };
}

const resourceNamed = (key: string) => ({ key, name: key, description: null, actions: [], roles: [], relations: [] });

test('a schema is read once per revision', async (t) => {
	const { ask } = setUp();
	t.deepEqual([await ask('a', 1), await ask('a', 1)], ['read-1', 'read-1']);
	t.deepEqual([await ask('a', 2), await ask('a', 2)], ['read-2', 'read-2']);
	t.is(await ask('b', 2), 'read-3', 'in a different environment');
});

test('an older snapshot gets its own schema, and newer schemas stay cached', async (t) => {
	const { ask } = setUp();
	t.is(await ask('a', 2), 'read-1');
	t.is(await ask('a', 1), 'read-2');
	t.is(await ask('a', 2), 'read-1');
});

test('after a truncated history, the same revision number is a different schema', async (t) => {
	const { ask } = setUp();
	t.is(await ask('a', 5), 'read-1');
	t.is(await ask('a', 5, { schema_token: '1' }), 'read-2', 'the same lineage, before its end is known');
	const next = { lineage: 'second', schema_token: '2' };
	t.deepEqual([await ask('a', 4, next), await ask('a', 4, next)], ['read-3', 'read-3']);
});

test('a failed read is not cached', async (t) => {
	const { memory, ask } = setUp();
	const place = { ...first, id: 'a', schema_revision: 1 };
	await t.throwsAsync(memory.schemaAt(place, () => Promise.reject(new Error('no database'))));
	t.is(await ask('a', 1), 'read-1');
});

test('only the most recently used environments are cached', async (t) => {
	const { ask } = setUp();
	await ask('first', 1);
	await ask('second', 1);
	for (let index = 0; index < 7; index += 1) {
		await ask(`other-${index}`, 1);
		t.is(await ask('first', 1), 'read-1');
	}
	t.not(await ask('second', 1), 'read-2');
});

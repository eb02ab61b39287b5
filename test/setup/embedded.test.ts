import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

/** Returns the imports in a hand-written list of test files, which run on the embedded store on each push. */
function importsOf(list: string): readonly (string | undefined)[] {
	const text = readFileSync(join(root, 'test/embedded', list), 'utf8');
	return [...text.matchAll(/^import '\.\.\/(.*)\.js';$/gm)].map(([, file]) => file);
}

/** Returns the files in a room whose tests run on each store. */
function filesIn(room: string): readonly string[] {
	return readdirSync(join(root, 'test', room))
		.filter((file) => file.endsWith('.test.ts'))
		.filter((file) => /\bonEachStore\(/.test(readFileSync(join(root, 'test', room, file), 'utf8')))
		.map((file) => `${room}/${file.slice(0, -3)}`);
}

test('every test file for both stores is in a list for the embedded store', (t) => {
	const lists = ['smoke.test.ts', 'journeys.test.ts'].map(importsOf);
	for (const [first] of lists) t.is(first, 'support/hold-embedded', 'the files read it when they are imported');
	const imported = lists.flat();
	const apart = [
		// These files use a separate database in their own process, or concern only the server store.
		'store/decision-plans.test',
		'store/graph-plans.test',
		'store/plans.test',
		'store/server-client.test',
		// These files are slow, and read the same rows on both stores.
		'journey/check-limit.test',
		'journey/cycle-limit.test',
		'journey/isolation.test',
	];
	const wanted = ['journey', 'store'].flatMap(filesIn).filter((file) => !apart.includes(file));
	t.true(wanted.length > 30);
	t.deepEqual(
		wanted.filter((file) => !imported.includes(file)),
		[],
	);
});

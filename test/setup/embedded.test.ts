import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

/** What runs on the embedded store with every push is a list of files by hand: this holds it against what there is. */

const list = readFileSync(join(root, 'test/embedded/journeys.test.ts'), 'utf8');
const imported = [...list.matchAll(/^import '\.\.\/(.*)\.js';$/gm)].map(([, file]) => file);

/** The files in a room that declare tests for each store. */
function filesIn(room: string): readonly string[] {
	return readdirSync(join(root, 'test', room))
		.filter((file) => file.endsWith('.test.ts'))
		.filter((file) => /\bonEachStore\(/.test(readFileSync(join(root, 'test', room, file), 'utf8')))
		.map((file) => `${room}/${file.slice(0, -3)}`);
}

test('whoever runs on each store is among the files for the embedded one', (t) => {
	t.is(imported[0], 'support/hold-embedded', 'it must be known before they are read');
	const apart = [
		// These have a database of their own in their own process, or are about the server's alone.
		'store/decision-plans.test',
		'store/graph-plans.test',
		'store/plans.test',
		'store/server-client.test',
		// These take long, and what they are about reads the same rows from either store.
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

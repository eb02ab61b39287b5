import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SetupError } from './progress.mjs';

/**
 * Rooms whose files of tests share processes, with the number of processes. AVA starts one a file, and most of what a
 * short file costs is starting it, reading what it imports, and running that before it is optimized.
 */
const groups = [
	{ name: 'journey', rooms: ['journey'], processes: 4 },
	{ name: 'console', rooms: ['console', 'engine'], processes: 1 },
	{ name: 'property', rooms: ['property'], processes: 1 },
	{ name: 'documents', rooms: ['api', 'client', 'contract', 'docs'], processes: 1 },
	{ name: 'publish', rooms: ['publish'], processes: 1 },
	{ name: 'pdp', rooms: ['pdp'], processes: 1 },
	{ name: 'compiler', rooms: ['compiler', 'domain'], processes: 1 },
	{ name: 'store', rooms: ['store'], processes: 1 },
	{
		name: 'small',
		// '' are the files in no folder.
		rooms: ['', 'http', 'outbound', 'setup', 'telemetry', 'token', 'webhook', 'wire', 'workers'],
		processes: 1,
	},
];

/** Rooms each of whose files has a process of its own. */
const unshared = ['command', 'embedded'];

/**
 * Files with a process of their own: long ones, which would hold up the others of their group; those that drive pages, or
 * limit time, which others would take from them; and those that change their process, or wait before they declare their
 * tests, because AVA begins with those of the others.
 */
const alone = new Set([
	'compiler/closure',
	'compiler/schema-tests',
	'compiler/text',
	'console/changes-screen',
	'console/check-screen',
	'console/condition-sets-screen',
	'console/decisions-screen',
	'console/directory-screen',
	'console/draft-screen',
	'console/elements',
	'console/graph-screen',
	'console/keyboard',
	'console/large-environment',
	'console/matrix-screen',
	'console/operation-screens',
	'console/policy-screen',
	'console/requests-screen',
	'console/shell',
	'console/story',
	'http/server',
	'journey/cascades',
	'journey/check-limit',
	'journey/command-line',
	'journey/concurrent-writes',
	'journey/cycle-limit',
	'journey/disk-full',
	'journey/drafts',
	'journey/element-nodes',
	'journey/first-hour',
	'journey/groups',
	'journey/impact-limits',
	'journey/input',
	'journey/isolation',
	'journey/nodes',
	'journey/policy-tests',
	'journey/refusals',
	'journey/start',
	'journey/storm',
	'journey/traces',
	'pdp/engine',
	'pdp/heap-image',
	'pdp/high-addresses',
	'pdp/replica',
	'pdp/revision-reader',
	'property/compiler',
	'property/drafts',
	'property/impact-drafts',
	'property/history',
	'property/laws',
	'property/offline',
	'property/pending',
	'property/pending-history',
	'property/relationship-history',
	'property/relationships',
	'property/transfer',
	'setup/build',
	'setup/console',
	'setup/opa',
	'setup/version',
	'store/batch',
	'store/decision-plans',
	'store/graph-plans',
	'store/plans',
	'store/power-cut',
	'store/server-client',
	'store/space',
]);

const ending = '.test.js';
const sharedEnding = '.shared.test.js';

/**
 * Chooses what AVA runs when nobody chose files: a process for each file that needs one, and one that reads several for
 * the others. Writes the latter into dist/, from where the next build removes them. Throws a `SetupError` when a file
 * that needs its own process does not exist, or a room is in no group.
 * @param {string} root the package's folder, compiled
 * @param {readonly string[]} [skipped] files that are not run, relative to the folder of tests
 * @returns {readonly string[]} paths relative to the package
 */
export function planProcesses(root, skipped = []) {
	const files = testFiles(root);
	const unknown = [...alone].find((name) => !files.includes(name + ending));
	if (unknown) throw new SetupError(`setup/processes.mjs names test/${unknown}.test.ts, which does not exist.`);
	const rooms = new Set([...unshared, ...groups.flatMap((group) => group.rooms)]);
	const stray = files.map(roomName).find((room) => !rooms.has(room));
	if (stray) throw new SetupError(`setup/processes.mjs has no group for test/${stray}.`);

	// INVARIANT: each file is in one process, because each is either alone or in the group of its room.
	const run = files.filter((file) => !skipped.includes(file));
	const [single, together] = [run.filter(isAlone), run.filter((file) => !isAlone(file))];
	const processes = single.map((file) => `dist/test/${file}`);
	for (const group of groups) {
		const inGroup = together.filter((file) => group.rooms.includes(roomName(file)));
		for (let index = 0; index < group.processes; index++) {
			const path = `dist/test/${group.name}/${index + 1}${sharedEnding}`;
			const own = inGroup.filter((_, place) => place % group.processes === index);
			mkdirSync(dirname(join(root, path)), { recursive: true });
			writeFileSync(join(root, path), own.map((file) => `import '../${file}';\n`).join(''));
			processes.push(path);
		}
	}
	return processes;
}

/**
 * The files of tests that open pages in Chromium.
 * @param {string} root the package's folder, compiled
 * @returns {readonly string[]} relative to the folder of tests
 */
export function pageTests(root) {
	return testFiles(root).filter((file) =>
		/support\/chromium\.js'/.test(readFileSync(join(root, 'dist/test', file), 'utf8')),
	);
}

function testFiles(root) {
	return readdirSync(join(root, 'dist/test'), { recursive: true })
		.filter((file) => file.endsWith(ending) && !file.endsWith(sharedEnding))
		.sort();
}

function isAlone(file) {
	return unshared.includes(roomName(file)) || alone.has(file.slice(0, -ending.length));
}

/** The folder of a file in that of the tests; empty for those in none. */
function roomName(file) {
	return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}

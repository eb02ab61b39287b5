import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './progress.mjs';

/**
 * Rooms whose files of tests share processes, with the number of processes. AVA starts one a file, and most of what a
 * short file costs is starting it and reading what it imports.
 */
const shared = {
	api: 1,
	client: 1,
	compiler: 1,
	console: 1,
	contract: 1,
	docs: 1,
	engine: 1,
	domain: 1,
	http: 1,
	journey: 4,
	outbound: 1,
	pdp: 1,
	property: 1,
	publish: 1,
	setup: 1,
	store: 1,
	telemetry: 1,
	token: 1,
	webhook: 1,
	wire: 1,
	workers: 1,
};

/**
 * Files with a process of their own: long ones, which would hold up the others of their room, and those that need it. One
 * that waits before it declares its tests does, because AVA begins with those of the others.
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
	'property/history',
	'property/laws',
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
	'store/server-client',
	'store/space',
]);

const ending = '.test.js';
const sharedEnding = '.shared.test.js';

/**
 * Chooses what AVA runs when nobody chose files: a process for each file that needs one, and one that reads several for
 * the others. Writes the latter into dist/, from where the next build removes them. Throws a `SetupError` when a file
 * that needs its own process does not exist.
 * @param {string} root the package's folder, compiled
 * @param {readonly string[]} [skipped] files that are not run, relative to the folder of tests
 * @returns {readonly string[]} paths relative to the package
 */
export function planProcesses(root, skipped = []) {
	const files = testFiles(root);
	const unknown = [...alone].find((name) => !files.includes(name + ending));
	if (unknown) throw new SetupError(`setup/processes.mjs names test/${unknown}.test.ts, which does not exist.`);

	// INVARIANT: each file is in one process, because each is either alone or in a room that shares.
	const run = files.filter((file) => !skipped.includes(file));
	const [single, together] = [run.filter(isAlone), run.filter((file) => !isAlone(file))];
	const processes = single.map((file) => `dist/test/${file}`);
	for (const [room, count] of Object.entries(shared)) {
		const inRoom = together.filter((file) => roomName(file) === room);
		for (let index = 0; index < count; index++) {
			const path = `dist/test/${room}/${index + 1}${sharedEnding}`;
			const own = inRoom.filter((_, place) => place % count === index);
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
	return shared[roomName(file)] === undefined || alone.has(file.slice(0, -ending.length));
}

function roomName(file) {
	return file.split('/')[0];
}

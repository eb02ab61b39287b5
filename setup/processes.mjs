import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SetupError } from './progress.mjs';
import { readTags } from './test-tags.mjs';

/**
 * Rooms whose test files share processes. AVA starts a process for each file, and starting the process and loading
 * modules takes most of the time for a short file. `most` limits the files in a process.
 */
const groups = [
	{ name: 'journey', rooms: ['journey'], most: 18 },
	{ name: 'console', rooms: ['console', 'engine'] },
	{ name: 'property', rooms: ['property'], most: 6 },
	{ name: 'documents', rooms: ['api', 'client', 'contract', 'docs'] },
	{ name: 'publish', rooms: ['publish'] },
	{ name: 'pdp', rooms: ['pdp'] },
	{ name: 'compiler', rooms: ['compiler', 'domain', 'filter'] },
	{ name: 'store', rooms: ['store'] },
	{
		name: 'small',
		// '' is the room for files outside all folders.
		rooms: ['', 'http', 'limit', 'outbound', 'setup', 'telemetry', 'token', 'upkeep', 'wire', 'workers'],
	},
];

/** Rooms in which each file has its own process. */
const unshared = ['command', 'embedded'];

const ending = '.test.js';
const sharedEnding = '.shared.test.js';

/**
 * Chooses the files for AVA if the user named none: files that need their own process, and generated files that import
 * the remaining files. Writes the generated files into dist/, from which the next build removes them. Throws a
 * `SetupError` if a room is in no group.
 * @param {string} root the package's folder, compiled
 * @param {'push' | 'rest' | 'all'} tier
 * @param {readonly string[]} [skipped] files to omit, relative to the test folder
 * @returns {readonly string[]} paths relative to the package
 */
export function planProcesses(root, tier, skipped = []) {
	const files = testFiles(root);
	const rooms = new Set([...unshared, ...groups.flatMap((group) => group.rooms)]);
	const stray = files.map(roomName).find((room) => !rooms.has(room));
	if (stray) throw new SetupError(`setup/processes.mjs has no group for test/${stray}.`);

	const tags = new Map(files.map((file) => [file, readTags(join(root, 'dist/test', file))]));
	const isInTier = (file) =>
		tier === 'all' || tags.get(file).has('@both') || tags.get(file).has('@rest') === (tier === 'rest');
	const drawsMore = Number(process.env.TEST_DRAWS ?? 1) > 1;
	const isAlone = (file) =>
		unshared.includes(roomName(file)) ||
		// With more draws, a property blocks its process for minutes, and other tests would time out.
		(drawsMore && /\bdraws\(/.test(readFileSync(join(root, 'dist/test', file), 'utf8'))) ||
		tags.get(file).has('@alone') ||
		(tags.get(file).has('@apart') && tier !== 'push');
	// INVARIANT: each file runs in exactly one process, because it is either alone or in its room's group.
	const run = files.filter((file) => isInTier(file) && !skipped.includes(file));
	const [single, together] = [run.filter(isAlone), run.filter((file) => !isAlone(file))];
	const processes = single.map((file) => `dist/test/${file}`);
	for (const group of groups) {
		const inGroup = together.filter((file) => group.rooms.includes(roomName(file)));
		const count = Math.ceil(inGroup.length / (group.most ?? inGroup.length));
		for (let index = 0; index < count; index++) {
			const path = `dist/test/${group.name}/${index + 1}${sharedEnding}`;
			const own = inGroup.filter((_, place) => place % count === index);
			mkdirSync(dirname(join(root, path)), { recursive: true });
			writeFileSync(join(root, path), `// @long\n\n${own.map((file) => `import '../${file}';\n`).join('')}`);
			processes.push(path);
		}
	}
	return processes;
}

/**
 * Lists the test files that open pages in Chromium.
 * @param {string} root the package's folder, compiled
 * @returns {readonly string[]} relative to the test folder
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

/** Returns a test file's folder name, which is empty for files outside all folders. */
function roomName(file) {
	return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}

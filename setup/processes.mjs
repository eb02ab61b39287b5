import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Rooms whose files of tests share processes, with the number of processes. AVA starts one a file, and most of what a
 * short file costs is starting it and reading what it imports.
 */
const shared = {
	api: 1,
	compiler: 1,
	contract: 1,
	docs: 1,
	domain: 1,
	http: 1,
	journey: 4,
	pdp: 1,
	property: 1,
	publish: 1,
	setup: 1,
	store: 1,
	wire: 1,
};

/** Files with a process of their own: long ones, which would hold up the others of their room, and those that need it. */
const alone = new Set([
	'compiler/closure',
	'compiler/schema-tests',
	'compiler/text',
	'embedded/journeys',
	'http/server',
	'journey/cascades',
	'journey/check-limit',
	'journey/concurrent-writes',
	'journey/cycle-limit',
	'journey/disk-full',
	'journey/groups',
	'journey/input',
	'journey/isolation',
	'journey/nodes',
	'journey/refusals',
	'journey/start',
	'journey/storm',
	'pdp/engine',
	'pdp/heap-image',
	'pdp/high-addresses',
	'pdp/replica',
	'pdp/revision-reader',
	'property/compiler',
	'property/history',
	'property/laws',
	'property/pending',
	'property/pending-history',
	'property/relationship-history',
	'property/relationships',
	'property/transfer',
	'setup/build',
	'setup/opa',
	'setup/version',
	'store/batch',
	'store/plans',
	'store/server-client',
	'store/space',
]);

/**
 * Chooses what AVA runs when nobody chose files: a process for each file that needs one, and one that reads several for
 * the others. Writes the latter into dist/, from where the next build removes them.
 * @param {string} root the package's folder, compiled
 * @returns {readonly string[]} paths relative to the package
 */
export function planProcesses(root) {
	const files = readdirSync(join(root, 'dist/test'), { recursive: true })
		.filter((file) => file.endsWith('.test.js') && !file.endsWith('.shared.test.js'))
		.sort();
	const processes = [];
	for (const file of files) {
		const [room] = file.split('/');
		const name = file.slice(0, -'.test.js'.length);
		if (alone.has(name) || shared[room] === undefined) processes.push(`dist/test/${file}`);
	}
	for (const [room, count] of Object.entries(shared)) {
		const together = files.filter((file) => file.startsWith(`${room}/`) && !alone.has(file.slice(0, -8)));
		for (let index = 0; index < count; index++) {
			const own = together.filter((_, place) => place % count === index);
			const path = `dist/test/${room}/${index + 1}.shared.test.js`;
			const imports = own.map((file) => `import '../${file}';\n`).join('');
			writeFileSync(join(root, path), imports);
			processes.push(path);
		}
	}
	return processes;
}

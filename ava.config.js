import { availableParallelism } from 'node:os';

// The longest files, begun first: one that is begun last goes on alone when all others have ended.
const longest = [
	'property/pending-history',
	'embedded/journeys',
	'journey/storm',
	'journey/element-nodes',
	'journey/start',
	'journey/first-hour',
	'journey/concurrent-writes',
	'property/relationship-history',
	'journey/input',
	'journey/disk-full',
	'journey/refusals',
	'property/laws',
	'journey/impact-limits',
	'property/1.shared',
	'journey/1.shared',
	'journey/2.shared',
	'journey/3.shared',
	'journey/4.shared',
];

const rank = (file) => {
	const place = longest.findIndex((name) => file.endsWith(`/test/${name}.test.js`));
	return place === -1 ? longest.length : place;
};

/** Tests are compiled beforehand (`npm test` does it) and run from dist/. */
export default {
	files: ['dist/test/**/*.test.js'],
	// More than there are processors: tests wait for programs, pages, sockets and databases.
	concurrency: 2 * availableParallelism(),
	sortTestFiles: (a, b) => rank(a) - rank(b) || a.localeCompare(b),
	// Generous: this ends a run that hangs, it is no measure of speed.
	timeout: '2m',
	// Processes, not threads: tests signal and kill, and a decision point's memory is measured per process.
	workerThreads: false,
	require: ['./setup/note-time.mjs', './setup/report-properties.mjs'],
	nodeArguments: ['--enable-source-maps'],
};

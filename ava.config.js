import { availableParallelism } from 'node:os';
import { readTags } from './setup/test-tags.mjs';

/**
 * Options for the push tier. Tests load many WASM modules for a short time, so optimizing them, and collecting garbage in
 * several threads, costs a large part of the CPU time. All other runs use the defaults, like the program.
 */
const cheaper = process.env.TEST_TIER === 'push' ? ['--liftoff-only', '--single-threaded-gc'] : [];

const isLong = (file) => readTags(file).has('@long');

/** Tests are compiled beforehand (`npm test` does it) and run from dist/. */
export default {
	files: ['dist/test/**/*.test.js'],
	// More than there are processors: tests wait for programs, pages, sockets and databases.
	concurrency: 2 * availableParallelism(),
	sortTestFiles: (a, b) => isLong(b) - isLong(a) || a.localeCompare(b),
	// Generous: this ends a run that hangs, it is no measure of speed. More random draws take longer.
	timeout: `${2 * Math.max(1, Number(process.env.TEST_DRAWS ?? 1))}m`,
	// Processes, not threads: tests signal and kill, and a decision point's memory is measured per process.
	workerThreads: false,
	require: ['./setup/note-time.mjs', './setup/report-properties.mjs'],
	nodeArguments: ['--enable-source-maps', ...cheaper],
};

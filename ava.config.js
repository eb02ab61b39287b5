/** Tests are compiled beforehand (`npm test` does it) and run from dist/. */
export default {
	files: ['dist/test/**/*.test.js'],
	// Generous: this ends a run that hangs, it is no measure of speed.
	timeout: '2m',
	// Processes, not threads: tests signal and kill, and a decision point's memory is measured per process.
	workerThreads: false,
	nodeArguments: ['--enable-source-maps'],
};

import fc from 'fast-check';

// AVA loads this module in each test process, before the test file. AVA shows the first failed assertion but drops the
// property's later error, which contains the seed, the path and the smallest counterexample. This module prints that
// error.

/**
 * Maximum time to search for a smaller counterexample, in milliseconds. It is shorter than AVA's timeout, so the
 * report is printed.
 */
const shrinkLimit = 60_000;

const { TEST_SEED: seed, TEST_PATH: path } = process.env;

fc.configureGlobal({
	includeErrorInReport: true,
	reporter: reportFailure,
	...(seed && { seed: Number(seed) }),
	...(path && { path, endOnFailure: true }),
});
fc.installGlobalPlugin(limitShrinking);

/** Prints the failure and the command to repeat it, and throws. */
function reportFailure(details) {
	if (!details.failed) return;
	const report = fc.defaultReportMessage(details);
	const replayPath = /replayPath="([^"]*)"/.exec(report)?.[1];
	const again = {
		TEST_SEED: details.seed,
		TEST_PATH: details.counterexamplePath,
		...(replayPath && { TEST_REPLAY_PATH: replayPath }),
	};
	const variables = Object.entries(again).map(([name, value]) => `${name}=${value}`);
	const text = `${report}\n\nTo run it again: ${variables.join(' ')} npm test -- <file> --match='<title>'`;
	console.error(`\n${text}\n`);
	throw new Error(text);
}

/** Returns a plugin that ends a property `shrinkLimit` after its first failure. */
function limitShrinking() {
	let failed;
	const note = (outcome) => {
		if (outcome !== null && !fc.PreconditionFailure.isFailure(outcome)) failed ??= performance.now();
		return outcome;
	};
	return {
		decorateRun: (run) => (value) => {
			if (failed !== undefined && performance.now() - failed > shrinkLimit) return new fc.PreconditionFailure(true);
			const outcome = run(value);
			return outcome !== null && 'then' in outcome ? outcome.then(note) : note(outcome);
		},
	};
}

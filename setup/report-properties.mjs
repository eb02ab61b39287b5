import fc from 'fast-check';

// AVA loads this in each test file's process, before the file. AVA shows the first failed assertion but drops later
// errors from a property: its seed, path and smallest counterexample. This module prints them.

/**
 * Maximum milliseconds to search for a smaller counterexample: less than AVA's timeout, so that the report is printed.
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

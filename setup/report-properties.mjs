import fc from 'fast-check';

// AVA loads this in the process of each file of tests, before the file. AVA itself shows the first assertion that failed
// and drops what a property throws after that: its seed, its path and its smallest counterexample. So they are printed.

/** How long a smaller counterexample is looked for, in milliseconds: less than AVA's patience, so that the report comes. */
const shrinkLimit = 60_000;

const { TEST_SEED: seed, TEST_PATH: path } = process.env;

fc.configureGlobal({
	includeErrorInReport: true,
	reporter: reportFailure,
	...(seed && { seed: Number(seed) }),
	...(path && { path, endOnFailure: true }),
});
fc.installGlobalPlugin(limitShrinking);

/** Prints what failed and how to run it again, and throws. */
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

/** A plugin that ends a property whose first failure is longer ago than `shrinkLimit`. */
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

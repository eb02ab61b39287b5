import { stripVTControlCharacters } from 'node:util';

/** Patterns for the counts in AVA's summary: first for the default reporter, then for TAP. */
const results = [
	[/^ {2}(\d+) tests? passed\b/, 'passed'],
	[/^ {2}(\d+) (?:tests?|hooks?) failed\b/, 'failed'],
	[/^ {2}(\d+) (?:uncaught exceptions?|unhandled rejections?|known failures?|tests? remained pending)\b/, 'failed'],
	[/^# pass (\d+)$/, 'passed'],
	[/^# fail (\d+)$/, 'failed'],
];

// AVA marks each test, and each file that could not run, at the start of a line. The second sign is for terminals
// without Unicode.
const passedMark = /^ {2}[✔√] /;
const failedMark = /^ {2}[✘×] /;

/**
 * Counts passed and failed tests from the summary that AVA's reporter prints. If some tests failed, the summary omits
 * the passed tests; it always omits files that could not run. Therefore counts passed tests and these files by their
 * marks.
 * @returns {{read: (chunk: string) => void, count: () => {passed: number, failed: number}}}
 */
export function createTally() {
	let rest = '';
	const said = { passed: 0, failed: 0 };
	const marked = { passed: 0, failed: 0 };
	const readLine = (line) => {
		if (passedMark.test(line)) marked.passed++;
		if (failedMark.test(line)) marked.failed++;
		for (const [result, count] of results) said[count] += Number(result.exec(line)?.[1] ?? 0);
	};
	return {
		read(chunk) {
			const lines = (rest + chunk).split('\n');
			rest = lines.pop();
			for (const line of lines.map(stripVTControlCharacters)) readLine(line);
		},
		count() {
			readLine(stripVTControlCharacters(rest));
			rest = '';
			return { passed: Math.max(said.passed, marked.passed), failed: Math.max(said.failed, marked.failed) };
		},
	};
}

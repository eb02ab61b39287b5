import { stripVTControlCharacters } from 'node:util';

// AVA marks a test, or a file that could not run, at the start of a line; the second sign of each is for terminals without Unicode.
const passedMark = /^ {2}[✔√] /;
const failedMark = /^ {2}[✘×] /;

/**
 * Counts what AVA's reporter says went well and what did not. (Its TAP reporter would be the obvious source of counts,
 * but that of AVA 7.0 throws when a test times out, and tells neither the source line nor the stack of a failure.)
 * @returns {{passed: number, failed: number, read: (chunk: string) => void}}
 */
export function createTally() {
	let rest = '';
	const tally = {
		passed: 0,
		failed: 0,
		read(chunk) {
			const lines = (rest + chunk).split('\n');
			rest = lines.pop();
			for (const line of lines.map(stripVTControlCharacters)) {
				if (passedMark.test(line)) tally.passed++;
				if (failedMark.test(line)) tally.failed++;
			}
		},
	};
	return tally;
}

import { z } from 'zod';

export interface TestResult {
	/** Rule name, with its package. */
	readonly name: string;
	/** Path to its file in the policy folder. */
	readonly file: string;
	/** Line number in the file, from 1. */
	readonly row: number;
	readonly passed: boolean;
	/** Evaluation error; `null` if the test was decided. */
	readonly error: string | null;
}

/**
 * Arguments for `opa` to test its working folder. The default timeout, five seconds per rule, is too short on a slow
 * machine.
 */
export const testWords = ['test', '.', '--format=json', '--timeout=60s'] as const;

/** `opa test` exit code for a failed test. */
export const someFailed = 2;

const Results = z.array(
	z.object({
		package: z.string(),
		name: z.string(),
		location: z.object({ file: z.string(), row: z.int() }),
		fail: z.boolean().optional(),
		skip: z.boolean().optional(),
		error: z.unknown().optional(),
	}),
);

/** Parses `opa test` output, without skipped tests. Throws on any other output. */
export function readTestResults(printed: string): TestResult[] {
	// If there are no tests, `opa` prints nothing.
	const results = Results.parse(JSON.parse(printed.trim() || '[]'));
	return results
		.filter(({ skip }) => !skip)
		.map(({ package: inPackage, name, location: { file, row }, fail = false, error = null }) => ({
			name: `${inPackage}.${name}`,
			file,
			row,
			passed: !fail && error === null,
			error: error === null ? null : JSON.stringify(error),
		}));
}

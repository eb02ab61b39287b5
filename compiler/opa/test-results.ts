import { z } from 'zod';

/** How one test of a policy came out. */
export interface TestResult {
	/** The name of the rule, with its package. */
	readonly name: string;
	/** The path of its file in the folder of the policy. */
	readonly file: string;
	/** Its line there, from 1. */
	readonly row: number;
	readonly passed: boolean;
	/** Why it could not be decided; `null` where it was. */
	readonly error: string | null;
}

/** The arguments by which `opa` tests the folder that it runs in. It gives a rule five seconds, too little on a slow machine. */
export const testWords = ['test', '.', '--format=json', '--timeout=60s'] as const;

/** How `opa test` ends when a test fails. */
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

/** What `opa test` printed, test by test; skipped ones are left out. Throws where it printed something else. */
export function readTestResults(printed: string): TestResult[] {
	// Without any test, opa prints nothing.
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

import type { TestResult } from '../../compiler/opa/test-results.js';

/** What tests policies. */
export interface PolicyTests {
	/** Tests the policy of these files, for an environment. Rejects with `Failure`: `busy` and `unavailable`. */
	test(
		environment: string,
		files: readonly { readonly path: string; readonly text: string }[],
	): Promise<{
		readonly passed: number;
		readonly failed: number;
		readonly truncated: boolean;
		readonly tests: readonly TestResult[];
	}>;
}

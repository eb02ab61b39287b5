import type { TestResult } from '../../compiler/opa/test-results.js';

export interface PolicyTests {
	/** Tests the policy in these files for an environment. Rejects with `Failure`: `busy` or `unavailable`. */
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

import { z } from 'zod';
import { optional } from '../common.js';
import { named, namedStrict } from '../named.js';
import { CheckTestRead } from '../schema/check-test.js';
import { Draft } from './draft.js';
import { SetRuleEntry } from './environment-document.js';
import { ImpactSide } from './impact.js';

/** Runs of check tests: the results, and the grants that no test covers. */

/** Maximum number of tests per run. */
export const maxTestsPerRun = 2_000;

/** Maximum number of entries per coverage list. */
export const maxUncovered = 1_000;

/** Result code for a test with rejected contextual facts. Such a test always fails, even if it expects a denial. */
export const invalidCheck = 'invalid_query';

const count = z.int().min(0);

export const CheckTestRun = namedStrict('CheckTestRun', 'A check test run.', {
	draft: optional(Draft).describe('Changes to apply before the run. They are not stored.'),
});

export const CoveredDerivation = named('CoveredDerivation', 'A derivation of a resource role.', {
	role: z.string().describe('Derived role, as `<type>#<role>`.'),
	relation: z.string().describe('Relation key.'),
	from: z.string().describe('Source role, as `<type>#<role>`.'),
});
export type CoveredDerivation = z.output<typeof CoveredDerivation>;

const uncovered = <S extends z.ZodType>(item: S, description: string) =>
	z
		.object({
			total: count.describe('Total number in the schema.'),
			uncovered: count.describe('Number without a test.'),
			first: z.array(item).describe(`The first ${maxUncovered} without a test, by key.`),
		})
		.describe(description);

export const CheckTestResults = named('CheckTestResults', 'Results of a check test run.', {
	base_revision: count.describe('Environment revision at which the tests ran.'),
	passed: count.describe('Number of passed tests.'),
	failed: count.describe('Number of failed tests.'),
	truncated: z
		.boolean()
		.describe(`True if the environment has more than ${maxTestsPerRun} tests; only the first, by key, have run.`),
	tests: z
		.array(
			z.object({
				...CheckTestRead.pick({ key: true, description: true, check: true, expected: true }).shape,
				passed: z.boolean().describe('True if the result is the expected result.'),
				result: ImpactSide.describe('Result of the check.'),
			}),
		)
		.describe('Results by test: failed tests first, then by key.'),
	coverage: z
		.object({
			permissions: uncovered(z.string(), 'Permissions, as `<resource>:<action>`, that no test checks.'),
			derivations: uncovered(CoveredDerivation, 'Derivations that no allowed check in a test uses.'),
			set_rules: uncovered(SetRuleEntry, 'Condition set rules that no allowed check in a test uses.'),
		})
		.describe('Permissions, derivations and condition set rules without a test.'),
});
export type CheckTestResults = z.input<typeof CheckTestResults>;

import { z } from 'zod';
import { abbreviated } from '../abbreviated.js';
import { ComparedAttributes } from '../attributes.js';
import { clearable, environmentObject, Key, optional, refuseUnstorable, Text, UserKey } from '../common.js';
import { typeAndKey } from '../decision/check.js';
import { ContextualFacts } from '../decision/contextual-facts.js';
import { named, namedStrict } from '../named.js';

/** Check tests: checks with their expected results (docs/policy/check-tests.md). */

const context = optional(ComparedAttributes).describe('Context for conditions.');
const contextual_facts = optional(ContextualFacts.superRefine(refuseUnstorable)).describe(
	'Facts for this check only, if the environment allows them.',
);
const attributes = optional(ComparedAttributes).describe('Attributes for conditions; they replace stored attributes.');

const TestUser = namedStrict('CheckTestUser', 'User of a check test.', {
	key: UserKey.describe('User key.'),
	attributes,
});

const TestResource = namedStrict('CheckTestResource', 'Resource type or instance of a check test.', {
	type: Key.describe('Resource key.'),
	key: optional(Key).describe('Instance key; without it, the check is about the resource type.'),
	tenant: optional(Key).describe('Tenant key; defaults to `default`.'),
	attributes,
});

/** Maximum length of a check in a check test, in characters as JSON. A run reads all checks of an environment. */
export const maxTestedCheckLength = 4_096;

/** Check in a check test. The user and the resource may be abbreviated as strings, as in a check. */
export const TestedCheck = z
	.strictObject({
		user: abbreviated(z.string().describe('User key.'), TestUser, (key) => ({ key })).describe(
			'User: a key or an object.',
		),
		action: Key.describe('Action key.'),
		resource: abbreviated(
			z.string().describe('Resource key, or an instance as `<type>:<key>`; the tenant is `default`.'),
			TestResource,
			typeAndKey,
		).describe('Resource type or instance: a string or an object.'),
		context,
		contextual_facts,
	})
	.refine(
		(check) => JSON.stringify(check).length <= maxTestedCheckLength,
		`must not be longer than ${maxTestedCheckLength} characters as JSON`,
	)
	.meta({ id: 'TestedCheck', description: 'Check in a check test.' });
export type TestedCheck = z.output<typeof TestedCheck>;

const Expected = z.enum(['allow', 'deny']);

/** A check test without its key. */
export const checkTestFields = {
	check: TestedCheck.describe('Check to decide.'),
	expected: Expected.describe('Expected result.'),
};

export const CheckTestCreate = named('CheckTestCreate', 'A new check test.', {
	key: Key.describe('Key, unique among the check tests in the environment.'),
	description: optional(Text).describe('Test description. Null counts as absent.'),
	...checkTestFields,
});

export const CheckTestUpdate = named('CheckTestUpdate', 'Check test fields to change.', {
	description: clearable(Text).describe('Test description; null clears it.'),
	check: optional(TestedCheck).describe('Complete new check. Null counts as absent.'),
	expected: optional(Expected).describe('New expected result. Null counts as absent.'),
});

/** A stored check, with the user and the resource as objects. */
const StoredCheck = z.object({
	user: z.object(TestUser.shape).describe('User.'),
	action: Key.describe('Action key.'),
	resource: z.object(TestResource.shape).describe('Resource type or instance.'),
	context,
	contextual_facts,
});

export const CheckTestRead = named('CheckTestRead', 'A check test.', {
	...environmentObject,
	key: z.string().describe('Key, unique among the check tests in the environment.'),
	description: z.string().nullable().describe('Test description.'),
	check: StoredCheck.describe('Check to decide.'),
	expected: Expected.describe('Expected result.'),
});
export type CheckTestRead = z.input<typeof CheckTestRead>;

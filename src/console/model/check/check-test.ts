import { isRecord } from '../equal-json.js';
import type { Phrase } from '../phrase.js';
import {
	type CheckBody,
	type CheckForm,
	checkBody,
	emptyCheckForm,
	loggedCheckForm,
	separateInstance,
} from './check-form.js';
import { type ContextualFactsBody, contextualFactsBody } from './contextual-rows.js';

/** Check tests: checks with their expected results (docs/policy/check-tests.md). */

export type Expected = 'allow' | 'deny';

/** Check test as strings from a form, without its key. */
export interface CheckTestForm {
	readonly check: CheckForm;
	readonly expected: Expected;
	readonly description: string;
}

export const emptyCheckTest: CheckTestForm = { check: emptyCheckForm, expected: 'allow', description: '' };

/** Check test in the format of drafts and documents. */
export interface CheckTestValue {
	readonly check: CheckBody & { readonly contextual_facts?: ContextualFactsBody };
	readonly expected: Expected;
	readonly description?: string;
}

/** Returns the test described by a form; `null` if the check is incomplete. */
export function checkTestValue({ check, expected, description }: CheckTestForm): CheckTestValue | null {
	const body = checkBody(separateInstance(check));
	if (body === null) return null;
	const facts = contextualFactsBody(check.contextualFacts, check.user);
	return {
		check: facts === undefined ? body : { ...body, contextual_facts: facts },
		expected,
		...(description === '' ? {} : { description }),
	};
}

/** Builds the form for a stored or drafted test. */
export function checkTestForm(value: unknown): CheckTestForm {
	const { check, expected, description } = isRecord(value) ? value : {};
	return {
		check: loggedCheckForm(check, { revision: '', at: '' }),
		expected: readExpected(expected),
		description: typeof description === 'string' ? description : '',
	};
}

export function readExpected(value: unknown): Expected {
	return value === 'deny' ? 'deny' : 'allow';
}

/** Maximum length of a suggested key. The server allows more. */
const maxSuggestedLength = 60;

/** Returns a test key that describes a check; empty for an empty check. */
export function suggestedTestKey({ user, action, resource, instance }: CheckForm): string {
	const words = [user, action, resource, instance].filter((word) => word !== '').join('-');
	return words
		.replaceAll(/[^A-Za-z0-9_]+/g, '-')
		.slice(0, maxSuggestedLength)
		.replaceAll(/^-+|-+$/g, '');
}

/** Formats the check of a stored test. */
export function testedCheckPhrases(check: unknown): readonly Phrase[] {
	const form = checkTestForm({ check }).check;
	const { user, action, resource, instance, tenant, userAttributes, resourceAttributes, context, contextualFacts } =
		form;
	return [
		{ key: user },
		' ',
		{ name: action },
		' ',
		{ key: instance === '' ? resource : `${resource}:${instance}` },
		' in ',
		{ key: tenant === '' ? 'default' : tenant },
		...(userAttributes + resourceAttributes + context === '' ? [] : [', with attributes']),
		...(contextualFacts === '' ? [] : [', with contextual facts']),
	];
}

export interface TestCounts {
	readonly passed: number;
	readonly failed: number;
}

/** Formats the counts of a test run. */
export function testCountText({ passed, failed }: TestCounts): string {
	const total = passed + failed;
	if (total === 1) return failed === 1 ? 'The test fails' : 'The test passes';
	if (failed === 0) return `All ${total.toLocaleString('en')} tests pass`;
	return `${failed.toLocaleString('en')} of ${total.toLocaleString('en')} tests ${failed === 1 ? 'fails' : 'fail'}`;
}

import test from 'ava';
import { conditionSteps } from '../../../compiler/condition/condition-steps.js';
import { parseConditions } from '../../../compiler/condition/parse/grammar.js';
import type { Json, ParameterType } from '../../../compiler/model.js';

/** Steps of a condition, which limit a user's conditional assignments. */

const parameters: Readonly<Record<string, ParameterType>> = { limit: 'number', list: 'array' };
const equal = (operand: Json): Json => ({ 'context.a': { equals: operand } });

const cases: Readonly<Record<string, readonly [conditions: Json, steps: number]>> = {
	'no condition': [{}, 0],
	'a comparison with a value': [equal(1), 4],
	'a comparison with a short parameter': [equal({ ref: 'grant.limit' }), 4],
	'a comparison with a list parameter': [equal({ ref: 'grant.list' }), 1_500],
	'a comparison with an attribute': [equal({ ref: 'user.a' }), 1_500],
	'the values of a list': [{ 'context.a': { in: ['a', 'b', 'c'] } }, 7],
	'the values of an object': [equal({ a: [1, 2], b: null }), 8],
	'several comparisons': [{ allOf: [equal(1), { not: { anyOf: [equal(2), equal(3)] } }] }, 12],
	'a list in the context': [{ 'context.a': { array_contains: 'a' } }, 1_500],
	'a subset': [{ 'context.a': { array_subset: { ref: 'grant.list' } } }, 3_000],
	'IP ranges of the assignment': [{ 'context.a': { 'in-cidr': { ref: 'grant.list' } } }, 1_500],
	'IP ranges of the condition': [{ 'context.a': { 'in-cidr': ['10.0.0.0/8'] } }, 5],
	'contained text': [{ 'context.a': { contains: 'a' } }, 4_000],
	'contained text, by the alias of the operator': [{ 'context.a': { string_contains: 'a' } }, 4_000],
	'a regular expression': [{ 'context.a': { matches: '^ab$' } }, 1_516],
	'items of a list': [
		{ 'context.a': { any_match: { match: { anyOf: [{ b: { equals: 1 } }, { c: { equals: 2 } }] } } } },
		3_000,
	],
	'the time': [{ 'context.a': { 'less-than': { ref: 'now' } } }, 4],
};

for (const [title, [conditions, steps]] of Object.entries(cases)) {
	test(title, (t) => {
		const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(parameters) });
		if (!('condition' in parsed)) return t.fail(JSON.stringify(parsed.problems));
		t.is(conditionSteps(parsed.condition, parameters), steps);
	});
}

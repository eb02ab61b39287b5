import test from 'ava';
import { conditionSteps, itemSteps } from '../../../compiler/condition/condition-steps.js';
import { parseConditions } from '../../../compiler/condition/parse/grammar.js';
import type { Json, ParameterType } from '../../../compiler/model.js';
import { estimateSteps } from '../../../src/pattern/compiled-patterns.js';

/** Steps of a condition, which limit a user's conditional assignments. */

const parameters: Readonly<Record<string, ParameterType>> = { limit: 'number', list: 'array' };
const equal = (operand: Json): Json => ({ 'context.a': { equals: operand } });

const each = (operator: Json): Json => ({ 'context.a': { any_match: { match: { b: operator } } } });
const not = (condition: Json): Json => ({ not: condition });

const cases: Readonly<Record<string, readonly [conditions: Json, steps: number]>> = {
	'no condition': [{}, 0],
	'a comparison with a value': [equal(1), 4],
	'a comparison with a short parameter': [equal({ ref: 'grant.limit' }), 4],
	'a comparison with a list parameter': [equal({ ref: 'grant.list' }), 6_500],
	'a comparison with an attribute': [equal({ ref: 'user.a' }), 43_000],
	'a comparison with a key': [equal({ ref: 'user.key' }), 4],
	'a key in an attribute': [{ 'user.key': { in: { ref: 'context.a' } } }, 6_500],
	'the values of a list': [{ 'context.a': { in: ['a', 'b', 'c'] } }, 7],
	'the values of an object': [equal({ a: [1, 2], b: null }), 6_504],
	'objects in a list': [{ 'context.a': { in: [{}] } }, 6_501],
	'a long text': [equal('a'.repeat(5_000)), 14],
	'several comparisons': [{ allOf: [equal(1), equal(2), { allOf: [equal(3)] }] }, 12],
	'a negated comparison': [not(equal(1)), 6_504],
	alternatives: [{ anyOf: [equal(1), { allOf: [equal(2)] }, { 'context.b': { 'not-equals': 1 } }] }, 6_512],
	'alternatives for different objects': [{ anyOf: [equal(1), { 'user.a': { in: [1] } }] }, 13_009],
	'alternatives for nested values': [{ anyOf: [equal(1), { 'context.a.b': { equals: 1 } }] }, 13_008],
	'a negated comparison with an attribute': [not(equal({ ref: 'user.a' })), 43_000],
	'a negated list in the context': [not({ 'context.a': { array_contains: 'a' } }), 6_500],
	'a negated order': [not({ 'context.a': { 'less-than': 1 } }), 4],
	'a different value': [{ 'context.a': { 'not-equals': 1 } }, 6_500],
	'a value outside a list': [{ 'context.a': { 'not-in': ['a'] } }, 6_501],
	'a list in the context': [{ 'context.a': { array_contains: 'a' } }, 6_500],
	'an item of an attribute': [{ 'context.a': { array_contains: { ref: 'user.a' } } }, 43_000],
	'a subset': [{ 'context.a': { array_subset: { ref: 'grant.list' } } }, 66_000],
	'a common item': [{ 'context.a': { array_intersect: ['a', 'b'] } }, 44_002],
	'a common item of attributes': [{ 'context.a': { array_intersect: { ref: 'user.a' } } }, 130_000],
	'IP ranges of the assignment': [{ 'context.a': { 'in-cidr': { ref: 'grant.list' } } }, 5_000],
	'IP ranges of the condition': [{ 'context.a': { 'in-cidr': ['10.0.0.0/8'] } }, 5_001],
	'IP ranges of an attribute': [{ 'context.a': { 'in-cidr': { ref: 'user.a' } } }, 13_500],
	'a duration': [{ 'context.a': { 'within-last': 'P30D' } }, 1_500],
	'contained text': [{ 'context.a': { contains: 'a' } }, 11_500],
	'contained text, by the alias of the operator': [{ 'context.a': { string_contains: 'a' } }, 11_500],
	'a regular expression': [{ 'context.a': { matches: '^ab$' } }, 1_500 + 400],
	'repetitions in a regular expression': [{ 'context.a': { matches: 'a{20}' } }, 1_500 + 4_000],
	'a Unicode class': [{ 'context.a': { matches: '\\pL' } }, 1_500 + 10_000],
	'items of a list': [each({ equals: 1 }), 6_500],
	'two comparisons of items': [
		{ 'context.a': { any_match: { match: { anyOf: [{ b: { 'less-than': 1 } }, { c: { equals: 2 } }] } } } },
		8_000,
	],
	'no comparisons of items': [{ 'context.a': { all_match: { match: {} } } }, 1_500],
	'items of items': [each({ any_match: { match: { c: { equals: 1 } } } }), 6_500],
	'items in a list': [each({ in: ['a', 'b', 'c'] }), 11_000],
	'text in items': [each({ contains: 'a' }), 36_000],
	'a regular expression for items': [each({ matches: '^ab$' }), 1_500 + 38_000],
	'fields of an object': [{ 'context.a': { object_match: { match: { b: { array_superset: ['a'] } } } } }, 45_500],
	'the time': [{ 'context.a': { 'less-than': { ref: 'now' } } }, 4],
};

for (const [title, [conditions, steps]] of Object.entries(cases)) {
	test(`counts the steps of ${title}`, (t) => {
		const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(parameters) });
		if (!('condition' in parsed)) return t.fail(JSON.stringify(parsed.problems));
		t.is(conditionSteps(parsed.condition, { parameters, patternSize: estimateSteps }), steps);
	});
}

const ofObject = (match: Json): Json => ({ 'context.a': { object_match: { match } } });
const limitedLists: Readonly<Record<string, readonly [conditions: Json, steps: number]>> = {
	'comparisons outside lists': [{ allOf: [equal(1), { 'context.a': { array_superset: ['a'] } }] }, 0],
	'fields of an object': [ofObject({ b: { contains: 'a' } }), 0],
	'items in a field of an object': [ofObject({ b: { all_match: { match: { c: { contains: 'a' } } } } }), 36_000],
	'items of several lists': [{ anyOf: [each({ contains: 'a' }), not(each({ contains: 'b' }))] }, 72_000],
	'values compared with items': [each({ in: Array.from({ length: 95 }, String) }), 149_000],
};

for (const [title, [conditions, steps]] of Object.entries(limitedLists)) {
	test(`counts the steps that are repeated for list items: ${title}`, (t) => {
		const parsed = parseConditions(conditions, { type: 'userset', bound: false });
		if (!('condition' in parsed)) return t.fail(JSON.stringify(parsed.problems));
		t.is(itemSteps(parsed.condition, { parameters: {}, patternSize: estimateSteps }), steps);
	});
}

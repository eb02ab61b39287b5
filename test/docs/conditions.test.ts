import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { acceptedKinds } from '../../compiler/condition/accepted-kinds.js';
import { toJsonLogic } from '../../compiler/condition/json-logic.js';
import { type Operator, operators } from '../../compiler/condition/operator.js';
import { parseConditions } from '../../compiler/condition/parse/grammar.js';
import { deepest, maxNodes } from '../../compiler/condition/parse/parse-run.js';
import type { Json } from '../../compiler/model.js';
import { writeConditionSet } from '../../compiler/policy/set-policy.js';
import { parsedCondition, userSet } from '../support/conditions.js';
import { root } from '../support/root.js';

/** Generates `docs/policy/conditions.md`, which shows the Rego for each operator. `UPDATE=1` writes the page. */

const page = join(root, 'docs/policy/conditions.md');

const body = {
	key: 'senior-staff',
	name: 'Senior staff',
	description: 'Grown up, and trusted or in charge',
	type: 'userset',
	parent_id: 'employees',
	conditions: {
		allOf: [
			{ 'user.age': { 'greater-than-equals': 18 } },
			{ 'user.country': { in: ['de', 'fr', 'it'] } },
			{ anyOf: [{ 'user.level': { not: { 'less-than': 3 } } }, { 'user.roles': { array_contains: 'manager' } }] },
			{ 'user.team': { equals: { ref: 'resource.team' } } },
		],
	},
} as const satisfies Json;

/** Returns an attribute whose type fits an operator. */
function exampleAttribute({ attribute, example, match }: Operator): string {
	const ofArray = match === undefined ? 'user.tags' : 'user.skills';
	const names = { string: 'user.email', array: ofArray, object: 'user.address' };
	const ordered = typeof example === 'string' ? 'user.hired_at' : 'user.age';
	if (attribute === 'orderable') return ordered;
	if (attribute === 'searched') return names.string;
	if (attribute === 'address') return 'context.ip';
	if (attribute === 'instant') return 'user.hired_at';
	return attribute === 'string' || attribute === 'array' || attribute === 'object'
		? names[attribute]
		: 'user.department';
}

/** Returns the code from `selects` on. Except for the imports, the code before `selects` is the same in each set. */
function conditionRego(conditions: Json): readonly string[] {
	const { text } = writeConditionSet(userSet('example', conditions));
	const code = text.replace(/^[\s\S]*# scope: document\n/, '').trim();
	return ['```rego', code, '```'];
}

function json(value: Json): readonly string[] {
	return ['```json', JSON.stringify(value), '```'];
}

/** Sentences for operators whose phrase needs a more specific noun than "operand". */
const sentences: ReadonlyMap<string, string> = new Map([
	['not-equals', 'Holds if the attribute does not equal the operand.'],
	['between', 'Holds if the attribute is between the two values in the operand.'],
	['in', 'Holds if the attribute equals an item of the operand.'],
	['not-in', 'Holds if the attribute equals no item of the operand.'],
	['in-cidr', 'Holds if the attribute is an address in any range of the operand.'],
	['within-last', 'Holds if the attribute is no earlier than the time of the check minus the operand.'],
	['older-than', 'Holds if the attribute is earlier than the time of the check minus the operand.'],
	['is-null', 'Tests whether the attribute is missing.'],
]);

function section(operator: Operator): readonly string[] {
	const { name, aliases, words, note, example } = operator;
	const attribute = exampleAttribute(operator);
	const also = aliases.length === 0 ? '' : ` Also written ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`;
	const operand = operator.literal === true ? '' : ', or a `ref`';
	const sentence = sentences.get(name) ?? `Holds if the attribute ${words.holds} the operand.`;
	const plain = { [attribute]: { [name]: example } };
	const denied = { [attribute]: { not: { [name]: example } } };
	const referring = { [attribute]: { [name]: { ref: attribute.replace('user', 'resource') } } };
	return [
		'',
		`### \`${name}\``,
		'',
		`${sentence}${note === '' ? '' : ` ${note}`}${also}`,
		'',
		`- Attribute: ${operator.attribute === 'anything' ? 'anything' : acceptedKinds[operator.attribute].description}`,
		`- Operand: ${acceptedKinds[operator.operand].description}${operand}`,
		'',
		...json(plain),
		...conditionRego(plain),
		'',
		'Under `not`:',
		'',
		...conditionRego(denied),
		...(operator.literal === true
			? []
			: ['', `With \`${JSON.stringify(referring[attribute])}\`:`, '', ...conditionRego(referring)]),
	];
}

/** Returns the problems with these conditions, as in API responses. */
function problems(conditions: Json): readonly string[] {
	const parsed = parseConditions(conditions, { type: 'userset', bound: false });
	const found = 'problems' in parsed ? parsed.problems : [];
	return found.map(
		({ at, msg }) => `| \`${JSON.stringify(conditions)}\` | \`${at.join(' › ')}\` | ${msg.replaceAll('|', '\\|')} |`,
	);
}

function text(): string {
	const { conditions, parent_id: parent, ...named } = body;
	const set = { ...userSet(named.key, conditions), name: named.name, description: named.description, parent };
	return `${[
		...introduction,
		'```json',
		JSON.stringify(body, null, 2),
		'```',
		'',
		'compiles to the package `regolith.user_sets["senior-staff"]`:',
		'',
		'```rego',
		writeConditionSet(set).text.trim(),
		'```',
		...reading,
		'The store evaluates conditions as JsonLogic, for example to preview the members of a set.',
		'`{"user.age": {"greater-than": 18}}` becomes:',
		'',
		...json(toJsonLogic(parsedCondition({ 'user.age': { 'greater-than': 18 } }))),
		...grammar,
		...problems({ all_of: [] }),
		...problems({ 'user.age': { gt: 18 } }),
		...problems({ 'user.team': { equals: null } }),
		...problems({ 'user.age': { between: [65, 18] } }),
		'',
		'## Operators',
		...operators.flatMap(section),
	].join('\n')}\n`;
}

const introduction = [
	'# Conditions',
	'',
	'This page shows the Rego for each operator; [condition semantics](condition-semantics.md) has the rules. A test generates it',
	'from the operator table and the compiler: `UPDATE=1 npm test -- test/docs/conditions.test.ts`.',
	'',
	'## Example',
	'',
	'The request body',
	'',
];

const reading = [
	'',
	'- Rules call `selects`. `data.regolith.matching` has the keys of all matching sets, for lookups by key.',
	'- `user`, `resource`, `tenant` and `context` are the merged attributes: a sent attribute replaces the stored attribute.',
	'  `user_roles` and similar rules use stored values only.',
	"- The statements keep the author's order, after the parent of the set.",
	'- A null or missing value is null or undefined in Rego. Null sorts before all other values, so comparisons that null would',
	'  satisfy add `!= null`.',
	'- A mistyped value prevents the whole set from matching. For a required comparison, `is_number` and similar functions test',
	'  the type in place. Under `not` or next to alternatives, `mistyped` tests the whole set.',
	'- `not` negates a separate function, because the negated condition may have many statements.',
	'',
];

const grammar = [
	'',
	'## Grammar',
	'',
	'`conditions` is one condition, or `{}` for no restriction. A condition is an object with one field:',
	'',
	'| Member | Value |',
	'|---|---|',
	'| `allOf` or `and`, `anyOf` or `or` | an array of conditions |',
	'| `not` | one condition |',
	'| an attribute of the set’s user or resource or of the context, such as `user.address.city`, or `now` | a comparison: an object with one field, an operator and its operand, or the logic above over comparisons |',
	'',
	'An operand can be a reference to an attribute of the user, resource, tenant or context, or to `now`: `{"ref": "user.key"}`.',
	'A name with a dot is unreachable. Inside `match`, attributes are the fields of the object, without prefix and without references.',
	`Conditions and values have a maximum depth of ${deepest} and a maximum total of ${maxNodes}.`,
	'',
	'A response contains up to twenty problems, with their locations inside `conditions`:',
	'',
	'| Conditions | Location | Message |',
	'|---|---|---|',
];

test('the page shows the compiled conditions', (t) => {
	const written = text();
	if (process.env['UPDATE'] === '1') writeFileSync(page, written);
	t.is(existsSync(page) ? readFileSync(page, 'utf8') : '', written, 'run with UPDATE=1 to rewrite the page');
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { acceptedKinds } from '../../compiler/condition/accepted-kinds.js';
import { parseConditions } from '../../compiler/condition/grammar.js';
import { toJsonLogic } from '../../compiler/condition/json-logic.js';
import { type Operator, operators } from '../../compiler/condition/operator.js';
import { deepest, maxNodes } from '../../compiler/condition/parse-run.js';
import type { Json } from '../../compiler/model.js';
import { writeConditionSet } from '../../compiler/set-policy.js';
import { parsedCondition, userSet } from '../support/conditions.js';
import { root } from '../support/root.js';

/** `docs/conditions.md` leads from the body of a request to the Rego, operator by operator; `UPDATE=1` writes it anew. */

const page = join(root, 'docs/conditions.md');

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

/** An attribute that an operator can be asked of. */
function exampleAttribute({ attribute, example, match }: Operator): string {
	const ofArray = match === undefined ? 'user.tags' : 'user.skills';
	const names = { string: 'user.email', array: ofArray, object: 'user.address' };
	const ordered = typeof example === 'string' ? 'user.hired_at' : 'user.age';
	if (attribute === 'orderable') return ordered;
	if (attribute === 'searched') return names.string;
	return attribute === 'string' || attribute === 'array' || attribute === 'object'
		? names[attribute]
		: 'user.department';
}

/** From `selects` on: what comes before is the same in every set, but for imports. */
function conditionRego(conditions: Json): readonly string[] {
	const { text } = writeConditionSet(userSet('example', conditions));
	const code = text.replace(/^[\s\S]*# scope: document\n/, '').trim();
	return ['```rego', code, '```'];
}

function json(value: Json): readonly string[] {
	return ['```json', JSON.stringify(value), '```'];
}

function section(operator: Operator): readonly string[] {
	const { name, aliases, words, note, example } = operator;
	const attribute = exampleAttribute(operator);
	const also = aliases.length === 0 ? '' : ` Also written ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`;
	const operand = operator.literal === true ? '' : ', or a `ref`';
	const sentence =
		name === 'is-null'
			? 'Asks whether the attribute is there.'
			: `Holds when the attribute ${words.holds} the operand.`;
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

/** What is wrong with some conditions, as the API tells it. */
function problems(conditions: Json): readonly string[] {
	const parsed = parseConditions(conditions, { type: 'userset' });
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
		'becomes a package, `regolith.user_sets["senior-staff"]`:',
		'',
		'```rego',
		writeConditionSet(set).text.trim(),
		'```',
		...reading,
		'The same conditions become JsonLogic, for questions that are asked of the store, such as whom a set selects now. Of',
		'`{"user.age": {"greater-than": 18}}` it is:',
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
	'# Conditions: from the body of a request to the Rego',
	'',
	'[What conditions mean](condition-semantics.md) has the rules. This page shows what they are compiled to. It is written',
	'by a test, from the table of operators and with the compiler itself:',
	'`UPDATE=1 npm test -- test/docs/conditions.test.ts`.',
	'',
	'## One set',
	'',
	'The body',
	'',
];

const reading = [
	'',
	'- `selects` is what rules ask of a set. `data.regolith.matching` has the keys of all sets that select, for whoever asks by them.',
	'- `user`, `resource`, `tenant` and `context` are the attributes that are known: those stored, each replaced by the one',
	'  that the check sends. `user_roles` and the like come from what is stored alone.',
	'- The statements are in the order of the author. The parent of the set comes first.',
	'- What can be null or missing is undefined or null in Rego. There null is less than everything, so `!= null` stands',
	'  where a comparison could hold of it.',
	'- A value of a kind that an operator does not take makes the whole set not match. Where a comparison is required',
	'  anyway, `is_number` and the like check that in place. Under `not` or beside alternatives, `mistyped` checks it for',
	'  the whole set.',
	'- `not` negates a function of its own, because the negated condition may have many statements.',
	'',
];

const grammar = [
	'',
	'## Grammar',
	'',
	'`conditions` is one condition, or `{}`, which restricts nothing. A condition is an object with one member:',
	'',
	'| Member | Value |',
	'|---|---|',
	'| `allOf` or `and`, `anyOf` or `or` | an array of conditions |',
	'| `not` | one condition |',
	'| an attribute, such as `user.address.city` | a comparison: an object with one member, an operator and its operand, or the logic above over comparisons |',
	'',
	'`{"ref": "user.key"}` in place of an operand names an attribute of user, resource, tenant or context. Names that',
	'contain a dot cannot be reached. Inside `match`, attributes are the members of the object, by their names alone; there',
	'are no references.',
	`Conditions and values may be nested ${deepest} deep, and there may be ${maxNodes} in all.`,
	'',
	'One answer names all problems, up to twenty, each at its place inside `conditions`:',
	'',
	'| Conditions | Place | Message |',
	'|---|---|---|',
];

test('the page says what conditions are compiled to', (t) => {
	const written = text();
	if (process.env['UPDATE'] === '1') writeFileSync(page, written);
	t.is(existsSync(page) ? readFileSync(page, 'utf8') : '', written, 'UPDATE=1 writes the page anew');
});

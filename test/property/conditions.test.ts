// @both

import test from 'ava';
import fc from 'fast-check';
import { type ConditionReaders, compileCondition } from '../../compiler/condition/compile-condition.js';
import type { AttributePath } from '../../compiler/condition/condition.js';
import { explainCondition } from '../../compiler/condition/explain-condition.js';
import { lookUp } from '../../compiler/condition/value.js';
import {
	checkFormat,
	compileSets,
	logicAnswer,
	parsedCondition,
	patternMatches,
	relatedReader,
	type Subject,
	userSet,
} from '../support/conditions.js';
import { draws, inPush } from '../support/tier.js';
import { selects } from './condition-oracle.js';
import { anyConditions, anySubject, hostile } from './conditions.js';

const random = fc.tuple(
	fc.array(anyConditions, { minLength: 60, maxLength: 60, size: 'max' }),
	fc.array(anySubject, { minLength: 25, maxLength: 25, size: 'max' }),
);

const readAttribute =
	({ object, path }: AttributePath) =>
	(subject: Subject) =>
		lookUp(subject[object], path);
const readers: ConditionReaders<Subject, AttributePath> = {
	attribute: readAttribute,
	reference: readAttribute,
	related: (subject, type, key) => relatedReader(subject)(type, key),
	matches: patternMatches,
};

test('WebAssembly, opa eval, JsonLogic, the trace and the compiled condition agree with the oracle', async (t) => {
	let selected = 0;
	await fc.assert(
		fc.asyncProperty(random, async ([conditions, subjects]) => {
			const sets = conditions.map((one, index) => userSet(`set-${index}`, one));
			const [{ wasm, opa }] = await Promise.all([compileSets(sets), checkFormat(sets)]);
			const asked = subjects.map((subject) => ({ ...subject, sets: sets.map(({ key }) => key) }));
			const evaluated = await opa(asked);
			for (const [index, question] of asked.entries()) {
				const answers = wasm(question);
				t.deepEqual(evaluated[index], answers, 'opa eval');
				for (const [number, one] of conditions.entries()) {
					const right = selects(one, question);
					const condition = parsedCondition(one);
					selected += Number(right);
					const said = () => `${JSON.stringify(one)} of ${JSON.stringify(question)}`;
					const logic = logicAnswer(condition, question);
					const trace =
						explainCondition(condition, question, { related: relatedReader(question), matches: patternMatches })
							.holds === true;
					const compiled = compileCondition(condition, readers)(question, question.now) === true;
					const found = { wasm: answers[`set-${number}`], logic, trace, compiled };
					if (Object.values(found).some((one) => one !== right)) {
						t.deepEqual(found, { wasm: right, logic: right, trace: right, compiled: right }, said());
					}
				}
			}
		}),
		{ numRuns: draws(3) },
	);
	t.true(selected > 200, 'enough subjects are selected');
});

/**
 * Limits a key to the API's maximum length, and replaces characters that OPA's WebAssembly cannot find in a package
 * name.
 */
function nameableKey(text: string): string {
	return text.replace(/[\0\u007f]/, 'unnameable').slice(0, 512);
}

inPush('hostile names and values are compared unchanged, and affect no other set', async (t) => {
	const names = hostile.filter((text) => !text.includes('.'));
	const sets = names.flatMap((text, index) => [
		userSet(nameableKey(text), { [`user.${text}`]: { equals: text } }),
		userSet(`${index}-member`, {
			'user.x': { any_match: { match: Object.fromEntries([['x', { equals: 1 }]]) } },
		}),
		userSet(`${index}-list`, { 'user.list': { not: { array_contains: text } } }),
	]);
	const { wasm, opa } = await compileSets(sets);
	const keys = sets.map(({ key }) => key);
	const subjects: readonly Subject[] = names.map((text) => ({
		resource: {},
		tenant: {},
		context: {},
		now: 0,
		user: Object.fromEntries([
			[text, text],
			['list', [text]],
		]),
	}));
	const asked = subjects.map((subject) => ({ ...subject, sets: keys }));
	const evaluated = await opa(asked);
	for (const [index, question] of asked.entries()) {
		const right = sets.map(({ key, selects: by }) => [key, 'conditions' in by && selects(by.conditions, question)]);
		const expected = Object.fromEntries(right);
		t.deepEqual(wasm(question), expected, `wasm: ${names[index]?.slice(0, 20)}`);
		t.deepEqual(evaluated[index], expected, `opa eval: ${names[index]?.slice(0, 20)}`);
	}
});

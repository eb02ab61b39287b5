/**
 * For each operator, compares the compiled form with the table in `test/case-conditions`, and each engine's results
 * with the hand-written truths of the cases. `UPDATE=1` rewrites the tables, but never the truths.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Truth } from '../../../compiler/condition/evaluate-comparison.js';
import { explainCondition } from '../../../compiler/condition/explain-condition.js';
import { operators } from '../../../compiler/condition/operator.js';
import type { Json } from '../../../compiler/model.js';
import {
	type Asked,
	checkFormat,
	compileSets,
	logicAnswer,
	parsedCondition,
	patternMatches,
	relatedReader,
	userSet,
} from '../../support/conditions.js';
import { root } from '../../support/root.js';
import { comparisonForms, type Form, page, type Row } from './table.js';

/** A comparison and its cases. */
interface Group {
	readonly attribute: string;
	readonly operand: Json;
	readonly cases: readonly {
		readonly case: string;
		readonly user: Json;
		readonly resource?: Json;
		readonly related?: Readonly<Record<string, Json>>;
		readonly truth: Truth;
	}[];
}

/** Time of every case. */
const now = Date.UTC(2026, 10, 24, 9, 30, 0, 0);

const folder = join(root, 'test/case-conditions');
const groups = operators.flatMap(({ name }) => read(name).map((group, index) => ({ ...group, name, index })));
const forms = groups.flatMap(({ name, index, attribute, operand }) => comparisonForms(name, index, attribute, operand));
const sets = forms.map(({ key, conditions }) => userSet(key, conditions));
const compiled = compileSets(sets);

/** The checks of each group, with one check for each case. */
const questions = groups.map(({ name, index, cases }) =>
	cases.map(({ user, resource = {}, related = {} }) => ({
		user,
		resource,
		tenant: {},
		context: {},
		now,
		related,
		sets: forms.filter((form) => form.operator === name && form.group === index).map(({ key }) => key),
	})),
);
const opaAnswers = compiled.then(({ opa }) => opa(questions.flat()));

for (const { name } of operators) {
	test(`${name}: every engine gives the hand-written results`, async (t) => {
		const { wasm, files } = await compiled;
		const answers = await opaAnswers;
		const sections = groups.flatMap((group, position) => {
			if (group.name !== name) return [];
			const before = questions.slice(0, position).flat().length;
			const rows = group.cases.flatMap((given, index): readonly Row[] => {
				const asked = questions[position]?.[index];
				if (asked === undefined) return t.fail();
				const engines = [wasm(asked), answers[before + index] ?? {}];
				return [answeredRow(given, asked, engines)];
			});
			for (const { case: title, truth, answers } of rows) {
				for (const { form, said, trace } of answers) {
					const told = form.negated && truth !== 'mistyped' ? !truth : truth;
					t.is(trace.holds, told, `${title}: ${form.key}`);
					const right = form.negated ? truth === false : truth === true;
					t.deepEqual(said, { wasm: right, opa: right, logic: right, trace: right }, `${title}: ${form.key}`);
				}
			}
			return [{ ...group, rows, forms: formsIn(name, group.index), files }];
		});
		const text = page(name, sections);
		const table = join(folder, name, 'table.md');
		if (process.env['UPDATE'] === '1') writeFileSync(table, text);
		t.is(existsSync(table) ? readFileSync(table, 'utf8') : '', text, 'UPDATE=1 rewrites the table');
	});
}

test('every operator has test cases of every kind', (t) => {
	for (const { name, literal } of operators) {
		const cases = groups.filter((group) => group.name === name).flatMap((group) => group.cases);
		const has = (text: string) =>
			t.true(
				cases.some((one) => one.case.includes(text)),
				`${name}: ${text}`,
			);
		for (const kind of ['missing', 'null', 'empty array']) has(kind);
		if (literal === undefined) for (const kind of ['ref missing', 'ref null']) has(kind);
		t.true(cases.some(({ truth }) => truth === true) && cases.some(({ truth }) => truth === false), name);
	}
});

test('both nesting styles have the same meaning', async (t) => {
	const { files } = await compiled;
	for (const form of forms.filter(({ nesting }) => nesting === 'attribute-first')) {
		const other = form.key.replace('attribute-first', 'logical-first');
		const keylessTexts = (key: string) =>
			files.filter(({ text }) => text.includes(JSON.stringify(key))).map(({ text }) => text.replaceAll(key, ''));
		t.true(keylessTexts(form.key).length > 0);
		t.deepEqual(keylessTexts(form.key), keylessTexts(other));
	}
});

test('the Rego of sets passes strict checks and is formatted', async (t) => {
	await t.notThrowsAsync(checkFormat(sets));
});

function read(name: string): readonly Group[] {
	return JSON.parse(readFileSync(join(folder, name, 'cases.json'), 'utf8'));
}

function formsIn(name: string, index: number): readonly Form[] {
	return forms.filter((form) => form.operator === name && form.group === index);
}

function answeredRow(
	given: Group['cases'][number],
	asked: Asked,
	[wasm = {}, opa = {}]: readonly Readonly<Record<string, boolean>>[],
): Row {
	const ofCase = forms.filter(({ key }) => asked.sets.includes(key));
	const answers = ofCase.map((form) => {
		const condition = parsedCondition(form.conditions);
		const logic = logicAnswer(condition, asked);
		const trace = explainCondition(condition, asked, { related: relatedReader(asked), matches: patternMatches });
		return { form, trace, said: { wasm: wasm[form.key], opa: opa[form.key], logic, trace: trace.holds === true } };
	});
	return { ...given, answers };
}

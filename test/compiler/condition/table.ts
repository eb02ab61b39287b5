/** The golden page for an operator, with its compiled form and each engine's results. */

import type { Truth } from '../../../compiler/condition/evaluate-comparison.js';
import type { Trace } from '../../../compiler/condition/explain-condition.js';
import { toJsonLogic } from '../../../compiler/condition/json-logic.js';
import type { Json, RegoFile } from '../../../compiler/model.js';
import { parsedCondition } from '../../support/conditions.js';

/** A way to write a comparison. */
export interface Form {
	/** Set key. */
	readonly key: string;
	readonly operator: string;
	/** Index of the comparison in the operator. */
	readonly group: number;
	readonly negated: boolean;
	readonly nesting: 'logical-first' | 'attribute-first';
	readonly conditions: Json;
}

/** A case, with its truth and the result for each form. */
export interface Row {
	readonly case: string;
	readonly user: Json;
	readonly resource?: Json;
	readonly related?: Readonly<Record<string, Json>>;
	readonly truth: Truth;
	readonly answers: readonly {
		readonly form: Form;
		readonly trace: Trace;
		readonly said: Readonly<Record<'wasm' | 'opa' | 'logic' | 'trace', unknown>>;
	}[];
}

/** A comparison and its cases. */
export interface Section {
	readonly attribute: string;
	readonly operand: Json;
	readonly forms: readonly Form[];
	readonly rows: readonly Row[];
	readonly files: readonly RegoFile[];
}

/** Returns the plain and negated forms of a comparison, with the logic above and below the attribute. */
export function comparisonForms(operator: string, group: number, attribute: string, operand: Json): readonly Form[] {
	const comparison = { [operator]: operand };
	const form = (nesting: Form['nesting'], negated: boolean, conditions: Json): Form => ({
		operator,
		group,
		negated,
		nesting,
		conditions,
		key: `${operator} ${group}${negated ? ' denied' : ''}, ${nesting}`,
	});
	return [
		form('logical-first', false, { allOf: [{ [attribute]: comparison }] }),
		form('attribute-first', false, { [attribute]: { and: [comparison] } }),
		form('logical-first', true, { not: { [attribute]: comparison } }),
		form('attribute-first', true, { [attribute]: { not: comparison } }),
	];
}

/** Returns the whole page. */
export function page(operator: string, sections: readonly Section[]): string {
	const text = [
		`# ${operator}`,
		'',
		'Truths are from `cases.json`; the rest is written by a test: `UPDATE=1 npm test -- test/compiler/condition/operators.test.ts`.',
		...sections.flatMap(sectionLines),
	];
	return `${text.join('\n')}\n`;
}

function sectionLines({ attribute, operand, forms, rows, files }: Section): readonly string[] {
	const shown = forms.filter(({ nesting }) => nesting === 'attribute-first');
	return [
		'',
		`## \`${attribute}\` and ${code(operand)}`,
		...shown.flatMap((form) => [
			'',
			'```json',
			JSON.stringify(form.conditions),
			'```',
			...files.filter(({ text }) => text.includes(`.user_sets[${JSON.stringify(form.key)}]\n`)).flatMap(regoLines),
			'```json',
			JSON.stringify(toJsonLogic(parsedCondition(form.conditions))),
			'```',
		]),
		'',
		'| Case | User | Resource | Truth | Plain: WASM, opa eval, JsonLogic, trace | Under `not` | Why |',
		'|---|---|---|---|---|---|---|',
		...rows.map(rowLine),
	];
}

/** Returns a file's lines, without the parts that every file has in common. */
function regoLines({ text }: RegoFile): readonly string[] {
	const code = text.split('\n').filter((line) => !line.startsWith('#'));
	return [
		'```rego',
		code
			.join('\n')
			.replaceAll(/\n{2,}/g, '\n\n')
			.trim(),
		'```',
	];
}

function rowLine({ case: title, user, resource = {}, related, truth, answers }: Row): string {
	const said = (negated: boolean) => {
		const [first] = answers.filter(({ form }) => form.negated === negated);
		return first === undefined ? '' : Object.values(first.said).map(String).join(', ');
	};
	const [first] = answers;
	const why = first === undefined ? '' : traceReason(first.trace);
	const others = related === undefined ? '' : `, related ${code(related)}`;
	const cells = [
		title,
		code(user),
		`${code(resource)}${others}`,
		String(truth),
		said(false),
		said(true),
		why.replaceAll('|', '\\|'),
	];
	return `| ${cells.join(' | ')} |`;
}

function traceReason(trace: Trace): string {
	if (trace.kind === 'comparison') return trace.why;
	return trace.kind === 'not' ? traceReason(trace.condition) : trace.conditions.map(traceReason).join('; ');
}

function code(value: Json): string {
	return `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``;
}

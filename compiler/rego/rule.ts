/** Rules and functions as Rego, laid out as `opa fmt` prints them. */
import { Fragment, lines, list, rego } from './rego.js';

/** Statements that are all true, from the first to the last. */
export type Body = readonly Fragment[];

/** A rule with one body. */
export function rule(head: Fragment, body: Body): Fragment {
	const [first = rego`true`, ...others] = body;
	return others.length === 0 && !first.text.includes('\n')
		? rego`${head} if ${first}`
		: lines([rego`${head} if {`, ...body.map((statement) => rego`	${statement}`), rego`}`]);
}

/** A function with one body. A parameter that the body does not use becomes `_`, as `opa check --strict` demands. */
export function regoFunction(name: Fragment, parameters: readonly string[], body: Body): Fragment {
	const named = namesIn(body);
	const given = parameters.map((parameter) => new Fragment(named.has(parameter) ? parameter : '_'));
	const head = rego`${name}(${list(given)})`;
	return body.length === 0 ? rego`${head} := true` : rule(head, body);
}

/** The identifiers in code that do not follow a dot. */
export function namesIn(code: readonly Fragment[]): ReadonlySet<string> {
	return new Set(code.flatMap(({ text }) => withoutTexts(text).match(firstNames) ?? []));
}

const firstNames = /(?<![\w.])[a-z]\w*/g;

/** The code with its string literals emptied. */
function withoutTexts(code: string): string {
	return code.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

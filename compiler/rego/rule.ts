/** Rego rules and functions, in `opa fmt` layout. */
import { Fragment, lines, list, rego } from './rego.js';

/** Statements that must all be true, in order. */
export type Body = readonly Fragment[];

/** Writes a rule with a single body. */
export function rule(head: Fragment, body: Body): Fragment {
	const [first = rego`true`, ...others] = body;
	return others.length === 0 && !first.text.includes('\n')
		? rego`${head} if ${first}`
		: lines([rego`${head} if {`, ...body.map((statement) => rego`	${statement}`), rego`}`]);
}

/** Writes a function with a single body. An unused parameter becomes `_`, as `opa check --strict` requires. */
export function regoFunction(name: Fragment, parameters: readonly string[], body: Body): Fragment {
	const named = namesIn(body);
	const given = parameters.map((parameter) => new Fragment(named.has(parameter) ? parameter : '_'));
	const head = rego`${name}(${list(given)})`;
	return body.length === 0 ? rego`${head} := true` : rule(head, body);
}

/** Returns the identifiers in code that do not follow a dot. */
export function namesIn(code: readonly Fragment[]): ReadonlySet<string> {
	return new Set(code.flatMap(({ text }) => withoutTexts(text).match(firstNames) ?? []));
}

const firstNames = /(?<![\w.])[a-z]\w*/g;

/** Returns the code with all string literals emptied. */
function withoutTexts(code: string): string {
	return code.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

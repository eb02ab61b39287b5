/** Thread of `PatternThread`: matches regular expressions with unbounded run time. */

import { answerQuestions } from '../../limit/limited-thread.js';
import type { PatternAnswer, PatternQuestion } from './pattern-thread.js';

/** Maximum number of cached expressions. */
const maxKept = 1_000;

/** Compiled expressions, keyed by source; null if the source does not compile. */
const compiled = new Map<string, RegExp | null>();

function compile(source: string): RegExp | null {
	const known = compiled.get(source);
	if (known !== undefined) return known;
	let expression: RegExp | null = null;
	try {
		// The `y` flag anchors the match at the start. With the `u` flag, unknown syntax is an error instead of literal text.
		expression = new RegExp(source, 'uy');
	} catch {}
	if (compiled.size >= maxKept) compiled.clear();
	compiled.set(source, expression);
	return expression;
}

function answer({ source, url }: PatternQuestion): PatternAnswer {
	const expression = compile(source);
	if (expression === null) return { groups: null };
	expression.lastIndex = 0;
	const match = expression.exec(url);
	if (match === null) return { groups: null };
	return { groups: Object.entries(match.groups ?? {}).map(([name, text]) => [name, text ?? null]) };
}

answerQuestions(answer);

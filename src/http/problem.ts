import type { z } from 'zod';
import { mostProblems, type Problem } from '../failure.js';

/** The part of a request that a problem is in. */
export type Part = 'path' | 'query' | 'body';

/** How much of a value a message shows, in characters. */
const longestShown = 80;

/** What is wrong with a part of a request, as the wire says it; no more than an answer holds. */
export function problemsIn(part: Part, issues: readonly z.core.$ZodIssue[]): readonly Problem[] {
	const problems: Problem[] = [];
	for (const issue of issues) {
		for (const problem of problemsOf(part, issue)) {
			problems.push(problem);
			if (problems.length === mostProblems) return problems;
		}
	}
	return problems;
}

/** One by one: an issue may name a million members that are not known. */
function* problemsOf(part: Part, issue: z.core.$ZodIssue): Iterable<Problem> {
	const loc = [part, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
	if (issue.code === 'unrecognized_keys') {
		for (const key of issue.keys)
			yield { loc: [...loc, key], msg: 'extra field not permitted: it would have no effect', type: 'extra_forbidden' };
	} else if ((issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined) {
		yield { loc, msg: 'field required', type: 'missing' };
	} else {
		yield { loc, msg: `${issue.message}${shown(issue.input)}`, type: issue.code ?? 'value_error' };
	}
}

/** A list or an object is not shown: to write it out costs what it holds. */
function shown(value: unknown): string {
	if (value === undefined || (typeof value === 'object' && value !== null)) return '';
	if (typeof value !== 'string') return `, got \`${value}\``;
	if (value.length <= longestShown) return `, got \`${JSON.stringify(value)}\``;
	return `, got \`${JSON.stringify(value.slice(0, longestShown))}\` and ${value.length - longestShown} characters more`;
}

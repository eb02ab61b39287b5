import type { z } from 'zod';
import { maxProblems, type Problem } from '../failure.js';

/** Request part with a problem. */
export type Part = 'path' | 'query' | 'body';

/** Maximum length of a value in a message, in characters. */
const maxShownLength = 80;

/** Converts Zod issues to problems, at most as many as a response may contain. */
export function problemsIn(part: Part, issues: readonly z.core.$ZodIssue[]): readonly Problem[] {
	const problems: Problem[] = [];
	for (const issue of issues) {
		for (const problem of issueProblems(part, issue)) {
			problems.push(problem);
			if (problems.length === maxProblems) return problems;
		}
	}
	return problems;
}

/** Yields the problems in an issue one by one, because an issue may list a million unknown fields. */
function* issueProblems(part: Part, issue: z.core.$ZodIssue): Iterable<Problem> {
	const loc = [part, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
	if (issue.code === 'unrecognized_keys') {
		for (const key of issue.keys)
			yield { loc: [...loc, key], msg: 'extra field not permitted: it would have no effect', type: 'extra_forbidden' };
	} else if ((issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined) {
		yield { loc, msg: 'field required', type: 'missing' };
	} else {
		yield { loc, msg: withInput(issue.message, issue.input), type: issue.code ?? 'value_error' };
	}
}

/** Appends the value to a message, unless the message already contains it. */
function withInput(message: string, value: unknown): string {
	return message.includes(', got ') ? message : `${message}${inputExcerpt(value)}`;
}

/** Formats a value. Lists and objects are omitted, because they may be large. */
function inputExcerpt(value: unknown): string {
	if (value === undefined || (typeof value === 'object' && value !== null)) return '';
	if (typeof value !== 'string') return `, got \`${value}\``;
	if (value.length <= maxShownLength) return `, got \`${JSON.stringify(value)}\``;
	return `, got \`${JSON.stringify(value.slice(0, maxShownLength))}\` and ${value.length - maxShownLength} more characters`;
}

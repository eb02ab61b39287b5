import { RE2JS } from 're2js';

/** Regular expressions as decisions read them: of the syntax RE2, whose matching takes time linear in the text. */

/** What is wrong with a regular expression; `null` when it is one. */
export function patternProblem(pattern: string): string | null {
	try {
		RE2JS.compile(pattern);
		return null;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
}

const maxKept = 100;
const compiled = new Map<string, RE2JS>();

/** Whether a text holds what a regular expression describes. Throws what `patternProblem` tells. */
export function matchesPattern(pattern: string, text: string): boolean {
	const known = compiled.get(pattern) ?? RE2JS.compile(pattern);
	if (compiled.size >= maxKept) compiled.clear();
	compiled.set(pattern, known);
	return known.matcher(text).find();
}

import { RE2JS } from 're2js';
import { unicodeClasses } from './unicode-classes.js';

/**
 * Regular expressions as decisions read them: of the syntax RE2, whose matching takes time linear in the text. The
 * engine here reads more than the one of decision points, so what only this one reads is refused: over there it would
 * hold nowhere, and under `not` everywhere.
 */

/** What is wrong with a regular expression; `null` when it is one. */
export function patternProblem(pattern: string): string | null {
	try {
		const size = RE2JS.compile(pattern).programSize();
		return groupProblem(pattern) ?? classProblem(pattern) ?? sizeProblem(pattern, size);
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

/** Where `(?<` begins no group: in quoted text, after a backslash, in a class of characters. Otherwise it does. */
const groups = /\\Q(?:(?!\\E).)*|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\(\?</gsu;

function groupProblem(pattern: string): string | null {
	const named = [...pattern.matchAll(groups)].some(([token]) => token === '(?<');
	return named ? 'has a group that begins with `(?<`: a named one is written `(?P<name>…)`' : null;
}

/** Quoted text, Unicode classes, and whatever else a backslash makes of the next character. */
const escapes = /\\Q(?:(?!\\E).)*|\\[pP](?:\{\^?(?<long>\w*)\}|(?<short>\w))|\\./gsu;

function classProblem(pattern: string): string | null {
	for (const { groups: named } of pattern.matchAll(escapes)) {
		const name = named?.['long'] ?? named?.['short'];
		if (name !== undefined && !unicodeClasses.has(name)) return `has an unknown Unicode class \`${name}\``;
	}
	return null;
}

/** The most steps that an expression may have over there: it is made anew at every check, at some 20 ms for so many. */
const mostSteps = 25_000;

/** A Unicode class takes up to 230 steps, each at twice the price; any other character or class hardly more than 24. */
function sizeProblem(pattern: string, size: number): string | null {
	const steps = size * (/\\[pP]/u.test(pattern) ? 500 : 24);
	return steps > mostSteps ? 'is too large: it repeats too much' : null;
}

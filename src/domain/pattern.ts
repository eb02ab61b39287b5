import { RE2JS } from 're2js';
import { errorMessage } from '../failure.js';
import { unicodeClasses } from './unicode-classes.js';

/**
 * Regular expressions as decisions read them, in the syntax of RE2, which matches in linear time. The engine here
 * accepts more than the one in decision points. What only this one accepts is refused: there, such a pattern would
 * never hold, and under `not` always.
 */

/** What is wrong with a regular expression; `null` when it is one. */
export function patternProblem(pattern: string): string | null {
	try {
		const size = RE2JS.compile(pattern).programSize();
		return groupProblem(pattern) ?? classProblem(pattern) ?? sizeProblem(pattern, size);
	} catch (error) {
		return errorMessage(error);
	}
}

const maxKept = 100;
const compiled = new Map<string, RE2JS>();

/** Whether a regular expression matches anywhere in a text. Throws for a pattern that `patternProblem` refuses. */
export function matchesPattern(pattern: string, text: string): boolean {
	const known = compiled.get(pattern) ?? RE2JS.compile(pattern);
	if (compiled.size >= maxKept) compiled.clear();
	compiled.set(pattern, known);
	return known.matcher(text).find();
}

/** Tokens in which `(?<` opens no group: quoted text, an escape, a character class. Any other `(?<` opens one. */
const groups = /\\Q(?:(?!\\E).)*|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\(\?</gsu;

function groupProblem(pattern: string): string | null {
	const named = [...pattern.matchAll(groups)].some(([token]) => token === '(?<');
	return named ? 'has a group that begins with `(?<`: a named one is written `(?P<name>…)`' : null;
}

/** Quoted text, Unicode classes, and any other escape. */
const escapes = /\\Q(?:(?!\\E).)*|\\[pP](?:\{\^?(?<long>\w*)\}|(?<short>\w))|\\./gsu;

function classProblem(pattern: string): string | null {
	for (const { groups: named } of pattern.matchAll(escapes)) {
		const name = named?.['long'] ?? named?.['short'];
		if (name !== undefined && !unicodeClasses.has(name)) return `has an unknown Unicode class \`${name}\``;
	}
	return null;
}

/**
 * The most steps that an expression may have in a decision point, which compiles it again at every check: so many take
 * some 20 ms.
 */
const maxSteps = 25_000;

/**
 * A Unicode class takes up to 230 steps, each twice as expensive; any other character or class hardly more than 24.
 */
function sizeProblem(pattern: string, size: number): string | null {
	const steps = size * (/\\[pP]/u.test(pattern) ? 500 : 24);
	return steps > maxSteps ? 'is too large: it repeats too much' : null;
}

import { RE2JS } from 're2js';
import type { PatternMeasure } from '../../compiler/condition/parse-run.js';
import { errorMessage } from '../failure.js';
import { estimateSteps } from './compiled-patterns.js';
import { unicodeClasses } from './unicode-classes.js';

/**
 * Regular expressions as decisions read them, in the syntax of RE2, which matches in linear time. The engine here
 * accepts more than the one in decision points. What only this one accepts is refused: there, such a pattern would
 * never hold, and under `not` always.
 */

/**
 * Measures a regular expression, and finds the reason to refuse it. Compiles nothing that is sure to be refused for its
 * size.
 */
export function measurePattern(pattern: string): PatternMeasure {
	const stepsPerPart = /\\[pP]/u.test(pattern) ? unicodeStepsPerPart : plainStepsPerPart;
	if (estimateSteps(pattern) * stepsPerPart > maxEstimate) return { steps: 0, problem: tooLarge };
	try {
		const steps = RE2JS.compile(pattern).programSize() * stepsPerPart;
		const problem = groupProblem(pattern) ?? classProblem(pattern) ?? (steps > maxSteps ? tooLarge : null);
		return { steps, problem };
	} catch (error) {
		return { steps: 0, problem: errorMessage(error) };
	}
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
 * Maximum steps of one expression. A decision point compiles it again at every check, which takes about 20 ms for so
 * many steps.
 */
const maxSteps = 25_000;

/** An estimate is at most twice the size of usual expressions; RE2 joins some alternatives. */
const maxEstimate = 4 * maxSteps;

/**
 * Steps of a part of RE2's program. A Unicode class takes up to 230 parts, each twice as expensive; any other character
 * or class hardly more than 24.
 */
const plainStepsPerPart = 24;
const unicodeStepsPerPart = 500;

const tooLarge = 'is too large: it repeats too much';

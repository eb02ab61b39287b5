import { RE2JS } from 're2js';
import type { PatternMeasure } from '../../compiler/condition/parse/parse-run.js';
import { errorMessage } from '../failure.js';
import { estimateSteps } from './compiled-patterns.js';
import { unicodeClasses } from './unicode-classes.js';

/**
 * Regular expressions in conditions, in RE2 syntax, which matches in linear time. The engine here accepts more
 * expressions than the engine in decision points. Expressions that only this engine accepts are rejected: in a decision
 * point, such an expression would never match, and under `not` it would always match.
 */

/**
 * Measures a regular expression and finds the reason to reject it, if any. Does not compile an expression that is
 * certainly too large.
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

/**
 * Tokens in which `(?<` does not open a group: quoted text, an escape, a character class. In all other places, `(?<`
 * opens a group.
 */
const groups = /\\Q(?:(?!\\E).)*|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\(\?</gsu;

function groupProblem(pattern: string): string | null {
	const named = [...pattern.matchAll(groups)].some(([token]) => token === '(?<');
	return named ? 'has a group that begins with `(?<`: write a named group as `(?P<name>…)`' : null;
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
 * Maximum number of steps per expression. A decision point compiles the expression in every check, which takes about 20
 * ms at this limit.
 */
const maxSteps = 25_000;

/** For typical expressions, the estimate is at most twice the real size. It is higher if RE2 joins alternatives. */
const maxEstimate = 4 * maxSteps;

/**
 * Number of steps per part in RE2's program. A Unicode class needs up to 230 parts, each twice as expensive. Any other
 * character or class needs at most about 24 steps.
 */
const plainStepsPerPart = 24;
const unicodeStepsPerPart = 500;

const tooLarge = 'is too large, because of its repetitions';

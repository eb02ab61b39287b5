/** One run of the parser: the problems it has found so far, and how much it has read. */
import { isBuiltIn } from './attribute.js';
import type { AttributePath, ConditionPath } from './condition.js';
import { truncate } from './excerpt.js';

/** Something wrong in what was written. */
export interface ConditionProblem {
	readonly at: ConditionPath;
	readonly msg: string;
	readonly type: 'unknown_operator' | 'wrong_attribute' | 'wrong_operand' | 'wrong_shape' | 'too_large';
	/** The offending value, where it is short. */
	readonly input?: unknown;
}

/** An attribute that a condition names. */
export interface NamedAttribute {
	readonly attribute: AttributePath;
	/** Its place in the text. */
	readonly at: ConditionPath;
	/** Whether it is known without being defined. */
	readonly built_in: boolean;
}

/** The most that conditions within conditions, and values within a value, may be nested. */
export const deepest = 100;

/** The most conditions, comparisons and values that `conditions` may hold. */
export const maxNodes = 10_000;

/** Maximum steps of all regular expressions of one set: a check takes up to 200 ms for so many. */
export const maxPatternSteps = 50_000;

/** The size of a regular expression, and the reason to refuse it; `null` for a valid one. */
export interface PatternMeasure {
	readonly steps: number;
	readonly problem: string | null;
}

/** The most problems that are reported: reading stops there. */
export const maxProblems = 20;

/** Collects the problems and attributes of one run, and keeps its limits. */
export class ParseRun {
	readonly problems: ConditionProblem[] = [];
	/** In the order of the text. */
	readonly attributes: NamedAttribute[] = [];
	readonly #limitsTold = new Set<string>();
	readonly #measurePattern: (pattern: string) => PatternMeasure;
	#nodes = 0;
	#patternSteps = 0;

	constructor(measurePattern: (pattern: string) => PatternMeasure) {
		this.#measurePattern = measurePattern;
	}

	/** Records a problem, up to the twentieth. */
	refuse(type: ConditionProblem['type'], at: ConditionPath, msg: string, input?: unknown): void {
		if (this.problems.length >= maxProblems) return;
		const short = input === null || ['string', 'number', 'boolean'].includes(typeof input);
		this.problems.push({ at, msg, type, ...(short ? { input: truncate(input) } : {}) });
	}

	/** Records an attribute, even where something around it is wrong. */
	name(attribute: AttributePath, at: ConditionPath): AttributePath {
		this.attributes.push({ attribute, at, built_in: isBuiltIn(attribute) });
		return attribute;
	}

	/**
	 * Counts one more node, at that depth, and says whether to read it. The first time a limit is exceeded, that is
	 * recorded as a problem.
	 */
	enter(at: ConditionPath, depth: number): boolean {
		if (this.problems.length >= maxProblems) return false;
		this.#nodes += 1;
		if (this.#nodes > maxNodes) {
			this.#tell(at.slice(0, 0), `must not hold more than ${maxNodes} conditions and values`);
			return false;
		}
		if (depth > deepest) {
			this.#tell(at, `must not be nested deeper than ${deepest}`);
			return false;
		}
		return true;
	}

	/**
	 * The reason to refuse a regular expression, or null. Adds its size to that of the set. Past the limit of the set, the
	 * set is refused already, and further expressions are not measured.
	 */
	patternProblem(pattern: string): string | null {
		if (this.#patternSteps > maxPatternSteps) return null;
		const { steps, problem } = this.#measurePattern(pattern);
		this.#patternSteps += steps;
		if (problem === null && this.#patternSteps > maxPatternSteps) {
			this.#tell([], `the regular expressions must not take more than ${maxPatternSteps} steps together`);
		}
		return problem;
	}

	#tell(at: ConditionPath, msg: string): void {
		if (!this.#limitsTold.has(msg)) {
			this.#limitsTold.add(msg);
			this.refuse('too_large', at, msg);
		}
	}
}

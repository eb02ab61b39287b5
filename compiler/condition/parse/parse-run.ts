/** The state of a parser run: its problems and counters. */
import { isBuiltIn } from '../attribute.js';
import type { AttributePath, ConditionPath } from '../condition.js';
import { excerpt, truncate } from '../excerpt.js';

export interface ConditionProblem {
	readonly at: ConditionPath;
	readonly msg: string;
	readonly type: 'unknown_operator' | 'wrong_attribute' | 'wrong_operand' | 'wrong_shape' | 'too_large';
	/** The offending value, if it is short. */
	readonly input?: unknown;
}

/** An attribute used in a condition. */
export interface NamedAttribute {
	readonly attribute: AttributePath;
	/** Its location in the conditions. */
	readonly at: ConditionPath;
	/** True if it needs no definition. */
	readonly built_in: boolean;
}

/** A resource type in a `fk_resource_type`, or an attribute of its instances. */
export interface RelatedName {
	readonly type: string;
	readonly attribute?: string;
	/** Its location in the conditions. */
	readonly at: ConditionPath;
}

/** Maximum nesting depth for conditions, and for values. */
export const deepest = 100;

/** Maximum number of conditions, comparisons and values in `conditions`, together. */
export const maxNodes = 10_000;

/** Maximum size of all regular expressions in a set, in steps. At this limit a check takes up to 200 ms. */
export const maxPatternSteps = 50_000;

/** A regular expression's size, and the reason to reject it, which is `null` for a valid expression. */
export interface PatternMeasure {
	readonly steps: number;
	readonly problem: string | null;
}

/** Maximum number of reported problems. The parser stops at this number. */
export const maxProblems = 20;

/** Collects a run's problems and attributes, and enforces its limits. */
export class ParseRun {
	readonly problems: ConditionProblem[] = [];
	/** All attributes, in input order. */
	readonly attributes: NamedAttribute[] = [];
	/** All related types and their attributes, in input order. */
	readonly related: RelatedName[] = [];
	readonly #limitsTold = new Set<string>();
	readonly #measurePattern: (pattern: string) => PatternMeasure;
	readonly #parameters: ReadonlySet<string> | undefined;
	#nodes = 0;
	#patternSteps = 0;

	/** @param parameters parameter names of a `grant` condition; `undefined` for a set */
	constructor(measurePattern: (pattern: string) => PatternMeasure, parameters: ReadonlySet<string> | undefined) {
		this.#measurePattern = measurePattern;
		this.#parameters = parameters;
	}

	/** Returns the reason why no condition of this kind can read an attribute; `undefined` if it can. */
	reasonAgainst({ object, path }: AttributePath): string | undefined {
		const parameters = this.#parameters;
		if (parameters === undefined) {
			return object === 'grant' ? 'grant values are available only in condition sets of type `grant`' : undefined;
		}
		if (object === 'resource') {
			return 'a condition of type `grant` cannot read the resource, because derived roles apply to other resources';
		}
		const [name = ''] = path;
		if (object !== 'grant' || (parameters.has(name) && path.length === 1)) return undefined;
		if (parameters.has(name)) return `the value of the parameter \`${name}\` has no fields`;
		const known = [...parameters].slice(0, maxProblems).map((parameter) => `\`${parameter}\``);
		return `the condition has no parameter ${excerpt(name)}; its parameters are ${known.join(', ') || 'none'}`;
	}

	/** Records a problem, unless there are already twenty. */
	refuse(type: ConditionProblem['type'], at: ConditionPath, msg: string, input?: unknown): void {
		if (this.problems.length >= maxProblems) return;
		const short = input === null || ['string', 'number', 'boolean'].includes(typeof input);
		this.problems.push({ at, msg, type, ...(short ? { input: truncate(input) } : {}) });
	}

	/** Records an attribute, even if there are problems around it. */
	name(attribute: AttributePath, at: ConditionPath): AttributePath {
		this.attributes.push({ attribute, at, built_in: isBuiltIn(attribute) });
		return attribute;
	}

	/**
	 * Counts a node at this depth. Returns false if a limit is exceeded: then the caller must not read the node. Records
	 * a problem the first time this happens.
	 */
	enter(at: ConditionPath, depth: number): boolean {
		if (this.problems.length >= maxProblems) return false;
		this.#nodes += 1;
		if (this.#nodes > maxNodes) {
			this.#tell(at.slice(0, 0), `must not have more than ${maxNodes} conditions and values`);
			return false;
		}
		if (depth > deepest) {
			this.#tell(at, `must not be nested deeper than ${deepest}`);
			return false;
		}
		return true;
	}

	/**
	 * Returns the reason to reject a regular expression, or null. Adds its size to the set's total. Once the total
	 * exceeds the limit, the set is rejected, so further expressions are not measured.
	 */
	patternProblem(pattern: string): string | null {
		if (this.#patternSteps > maxPatternSteps) return null;
		const { steps, problem } = this.#measurePattern(pattern);
		this.#patternSteps += steps;
		if (problem === null && this.#patternSteps > maxPatternSteps) {
			this.#tell([], `the regular expressions must not take more than ${maxPatternSteps} steps in total`);
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

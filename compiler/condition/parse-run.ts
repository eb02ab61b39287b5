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

/** The most problems that are reported: reading stops there. */
export const maxProblems = 20;

/** Collects the problems and attributes of one run, and keeps its limits. */
export class ParseRun {
	readonly problems: ConditionProblem[] = [];
	/** In the order of the text. */
	readonly attributes: NamedAttribute[] = [];
	readonly #limitsTold = new Set<string>();
	#nodes = 0;

	constructor(readonly patternProblem: (pattern: string) => string | null) {}

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

	#tell(at: ConditionPath, msg: string): void {
		if (!this.#limitsTold.has(msg)) {
			this.#limitsTold.add(msg);
			this.refuse('too_large', at, msg);
		}
	}
}

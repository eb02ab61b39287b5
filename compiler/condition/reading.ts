/** One run of the parser: what it has found wrong so far, and how much it has read. */
import { isBuiltIn } from './attribute.js';
import type { AttributePath, Place } from './condition.js';
import { cut } from './shown.js';

/** Something wrong in what was written. */
export interface ConditionProblem {
	readonly at: Place;
	readonly msg: string;
	readonly type: 'unknown_operator' | 'wrong_attribute' | 'wrong_operand' | 'wrong_shape' | 'too_large';
	/** What stands there, where it is short. */
	readonly input?: unknown;
}

/** An attribute that a condition names. */
export interface NamedAttribute {
	readonly attribute: AttributePath;
	/** Where it stands in what was written. */
	readonly at: Place;
	/** Whether it is known without being defined. */
	readonly built_in: boolean;
}

/** The most that conditions within conditions, and values within a value, may be nested. */
export const deepest = 100;

/** The most conditions, comparisons and values that `conditions` may hold. */
export const mostNodes = 10_000;

/** The most problems that are told of: reading stops there. */
export const mostProblems = 20;

/** See above. */
export class Reading {
	readonly problems: ConditionProblem[] = [];
	/** In the order in which they stand there. */
	readonly attributes: NamedAttribute[] = [];
	readonly #limitsTold = new Set<string>();
	#nodes = 0;

	constructor(readonly patternProblem: (pattern: string) => string | null) {}

	/** Notes a problem, up to the twentieth. */
	refuse(type: ConditionProblem['type'], at: Place, msg: string, input?: unknown): void {
		if (this.problems.length >= mostProblems) return;
		const short = input === null || ['string', 'number', 'boolean'].includes(typeof input);
		this.problems.push({ at, msg, type, ...(short ? { input: cut(input) } : {}) });
	}

	/** Notes an attribute, wrong as what is around it may be. */
	name(attribute: AttributePath, at: Place): AttributePath {
		this.attributes.push({ attribute, at, built_in: isBuiltIn(attribute) });
		return attribute;
	}

	/**
	 * Counts one more node, at that depth. Says whether to go on there; if not, the problem is noted, once, unless there
	 * are enough of them.
	 */
	enter(at: Place, depth: number): boolean {
		if (this.problems.length >= mostProblems) return false;
		this.#nodes += 1;
		if (this.#nodes > mostNodes) {
			this.#tell(at.slice(0, 0), `must not hold more than ${mostNodes} conditions and values`);
			return false;
		}
		if (depth > deepest) {
			this.#tell(at, `must not be nested deeper than ${deepest}`);
			return false;
		}
		return true;
	}

	#tell(at: Place, msg: string): void {
		if (!this.#limitsTold.has(msg)) {
			this.#limitsTold.add(msg);
			this.refuse('too_large', at, msg);
		}
	}
}

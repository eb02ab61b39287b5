/** Generated functions for conditions, in addition to `selects`: for alternatives, negations and array items. */

import { Fragment, rego } from '../../rego/rego.js';
import { type Body, regoFunction } from '../../rego/rule.js';

/** Reason for a helper function; a prefix in its name. */
export type HelperKind = 'any' | 'excluded' | 'present' | 'any_match';

/** Functions with a common parameter, such as `any_1(user)`. */
export class HelperFunctions {
	readonly #counts = new Map<HelperKind, number>();
	/** The rules of each function, one per body. */
	readonly #functions: Fragment[][] = [];

	constructor(
		/** Name prefix. It separates functions about array items from functions about the user, the resource or the grant. */
		private readonly prefix: '' | 'item_',
		private readonly parameter: 'user' | 'resource' | 'grant' | 'item',
	) {}

	/** Writes a function that is true if any of its bodies is, and returns a call to it. */
	add(kind: HelperKind, writeBodies: () => readonly Body[]): Fragment {
		const number = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, number);
		const name = new Fragment(`${this.prefix}${kind}_${number}`);
		// Reserve the place before the bodies are written, because called functions come after their caller.
		const rules: Fragment[] = [];
		this.#functions.push(rules);
		rules.push(...writeBodies().map((body) => regoFunction(name, [this.parameter], body)));
		return rego`${name}(${new Fragment(this.parameter)})`;
	}

	/** Returns all functions, in first-call order. */
	written(): readonly Fragment[] {
		return this.#functions.flat();
	}
}

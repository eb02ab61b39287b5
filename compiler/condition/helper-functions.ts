/** The functions that conditions need besides `selects`: for alternatives, for negations, for items of arrays. */

import { Fragment, rego } from '../rego/rego.js';
import { type Body, regoFunction } from '../rego/rule.js';

/** Why a condition needs a function of its own: the function's name begins with it. */
export type HelperKind = 'any' | 'excluded' | 'present' | 'any_match';

/** Functions with the same one parameter, such as `any_1(user)`. */
export class HelperFunctions {
	readonly #counts = new Map<HelperKind, number>();
	/** For each function its rules, one for each of its bodies. */
	readonly #functions: Fragment[][] = [];

	constructor(
		/** Tells functions about items from those about the user or the resource. */
		private readonly prefix: '' | 'item_',
		private readonly parameter: 'user' | 'resource' | 'item',
	) {}

	/** Writes a function that is true when one of its bodies is, and returns a call of it. */
	add(kind: HelperKind, writeBodies: () => readonly Body[]): Fragment {
		const number = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, number);
		const name = new Fragment(`${this.prefix}${kind}_${number}`);
		// It takes its place before its bodies are written: the functions that they call come after it.
		const rules: Fragment[] = [];
		this.#functions.push(rules);
		rules.push(...writeBodies().map((body) => regoFunction(name, [this.parameter], body)));
		return rego`${name}(${new Fragment(this.parameter)})`;
	}

	/** All functions, in the order in which they are first called. */
	written(): readonly Fragment[] {
		return this.#functions.flat();
	}
}

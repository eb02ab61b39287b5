/** The one that a module has in place of all others, as OPA names it. */
const forAll = 'eval';

/**
 * The entrypoints of a module by their names. A module of the compiler that stays up has a single one, which answers for
 * all: `policy/regolith/entry` says how. One of `opa build` has each.
 */
export class Entrypoints {
	readonly #ids: ReadonlyMap<string, number>;

	/** Takes what the module says: names and numbers. */
	constructor(ids: Readonly<Record<string, number>>) {
		this.#ids = new Map(Object.entries(ids));
	}

	/** The number to evaluate for a name; `undefined` when no entrypoint answers for it. */
	find(name: string): number | undefined {
		return this.#ids.get(name) ?? this.#ids.get(forAll);
	}

	/** The input with which that number answers as the named one does. */
	inputFor(name: string, input: unknown): unknown {
		return this.#ids.has(name) ? input : { ...Object(input), entrypoint: name };
	}
}

/** OPA's name for a single, general entrypoint. */
const forAll = 'eval';

/**
 * Maps entrypoint names to numbers. A module from the resident compiler has a single general entrypoint (see
 * `policy/regolith/entry`). A module from `opa build` has an entrypoint per name.
 */
export class Entrypoints {
	readonly #ids: ReadonlyMap<string, number>;

	/** `ids` are the entrypoint names and numbers reported by the module. */
	constructor(ids: Readonly<Record<string, number>>) {
		this.#ids = new Map(Object.entries(ids));
	}

	/** Returns the entrypoint number for a name; `undefined` if the module has no matching entrypoint. */
	find(name: string): number | undefined {
		return this.#ids.get(name) ?? this.#ids.get(forAll);
	}

	/** Returns the input to pass to the entrypoint found for `name`. */
	inputFor(name: string, input: unknown): unknown {
		return this.#ids.has(name) ? input : { ...Object(input), entrypoint: name };
	}
}

/** Lists the methods in an SDK's API classes, found by reflection, and the methods called in a test. */

/** Methods declared private or protected. Users of the SDK cannot call these methods. */
const internal: ReadonlySet<string> = new Set(['constructor', 'setContextFromApiKey', 'handleApiError', 'clone']);

/** API object methods, named `<object>.<method>`. Methods inherited by several classes are named `every.<method>`. */
export class SdkMethods {
	/** Methods called through a `watched` object. */
	readonly called = new Set<string>();
	readonly #names = new Map<object, string>();

	constructor(private readonly objects: Readonly<Record<string, object>>) {
		const chains = Object.values(objects).map(prototypeChain);
		for (const [name, chain] of Object.keys(objects).map((name, index) => [name, chains[index] ?? []] as const)) {
			for (const prototype of chain) {
				const shared = chains.filter((other) => other.includes(prototype)).length > 1;
				this.#names.set(prototype, shared ? 'every' : name);
			}
		}
	}

	/** Returns all methods, sorted. */
	all(): readonly string[] {
		const names = [...this.#names].flatMap(([prototype, name]) =>
			Object.getOwnPropertyNames(prototype)
				.filter((method) => !internal.has(method))
				.map((method) => `${name}.${method}`),
		);
		return [...new Set(names)].sort();
	}

	/** Returns a proxy that records direct calls to the object. Does not record calls from the object's own methods. */
	watched<T extends object>(object: T): T {
		return new Proxy(object, {
			get: (target, member) => {
				const value: unknown = Reflect.get(target, member);
				if (typeof value === 'function') return this.#watchedMethod(target, String(member), value);
				const isApi = typeof value === 'object' && value !== null && Object.values(this.objects).includes(value);
				return isApi ? this.watched(value) : value;
			},
		});
	}

	#watchedMethod(target: object, method: string, value: object) {
		const owner = prototypeChain(target).find((prototype) => Object.hasOwn(prototype, method));
		return (...given: unknown[]): unknown => {
			this.called.add(`${this.#names.get(owner ?? {})}.${method}`);
			// `#watchedMethod` is called only for functions.
			return Reflect.apply(value as (...given: unknown[]) => unknown, target, given);
		};
	}
}

function prototypeChain(object: object): readonly object[] {
	const prototype: unknown = Object.getPrototypeOf(object);
	if (typeof prototype !== 'object' || prototype === null || prototype === Object.prototype) return [];
	return [prototype, ...prototypeChain(prototype)];
}

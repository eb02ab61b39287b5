/** The methods of an SDK's API classes, found by reflection, and which of them a test called. */

/** Methods of the classes that their types call private or protected: no users of the SDK call them. */
const internal: ReadonlySet<string> = new Set(['constructor', 'setContextFromApiKey', 'handleApiError', 'clone']);

/** The methods of API objects, each called `<object>.<method>`; what several classes inherit is `every.<method>`. */
export class SdkMethods {
	/** Those called through what `watched` returned. */
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

	/** All of them, sorted. */
	all(): readonly string[] {
		const names = [...this.#names].flatMap(([prototype, name]) =>
			Object.getOwnPropertyNames(prototype)
				.filter((method) => !internal.has(method))
				.map((method) => `${name}.${method}`),
		);
		return [...new Set(names)].sort();
	}

	/** The object, as it is; what is called through it is kept, what its methods call themselves is not. */
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
			// What `watched` got as a function is called as one.
			return Reflect.apply(value as (...given: unknown[]) => unknown, target, given);
		};
	}
}

function prototypeChain(object: object): readonly object[] {
	const prototype: unknown = Object.getPrototypeOf(object);
	if (typeof prototype !== 'object' || prototype === null || prototype === Object.prototype) return [];
	return [prototype, ...prototypeChain(prototype)];
}

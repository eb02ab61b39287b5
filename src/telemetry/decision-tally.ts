import { counter, type MetricFamilies, sample } from './metric-family.js';

/** The parts of a check that tell its model. */
interface Asked {
	readonly user: { readonly key: string; readonly attributes?: unknown };
	readonly resource: { readonly type: string; readonly key?: string; readonly attributes?: unknown };
	readonly context?: unknown;
}

/** The models that checks are counted by. Each has its place in the array of a code's counts. */
const models = ['rbac', 'rebac', 'abac'] as const;

/** The most codes that are counted separately. There are fewer than thirty; a policy of another version may have others. */
const maxCodes = 64;

/**
 * Counts decisions by code and by model. The model is that of the question, because only the reasons would tell which
 * rule granted it: `abac` where the check brings attributes or a context, else `rebac` where it names an instance, else
 * `rbac`.
 */
export class DecisionTally {
	readonly #codes = new Map<string, Float64Array>();

	/** Counts a decision. */
	add({ user, resource, context }: Asked, code: string): void {
		const counts = this.#codes.get(code) ?? this.#begin(code);
		const brings = context !== undefined || user.attributes !== undefined || resource.attributes !== undefined;
		const model = brings ? 2 : resource.key === undefined ? 0 : 1;
		counts[model] = (counts[model] ?? 0) + 1;
	}

	/** How many decisions were counted. */
	get total(): number {
		let total = 0;
		for (const counts of this.#codes.values()) for (const count of counts) total += count;
		return total;
	}

	/** The counts as metrics. */
	families(): MetricFamilies {
		const values = [...this.#codes].flatMap(([code, counts]) =>
			models.flatMap((model, index) => {
				const count = counts[index] ?? 0;
				const outcome = code === 'allow' ? 'allow' : 'deny';
				return count === 0 ? [] : [sample(count, { outcome, code, model })];
			}),
		);
		return [counter('regolith_pdp_decisions_total', 'Checks that were decided', values)];
	}

	#begin(code: string): Float64Array {
		const name = this.#codes.size < maxCodes ? code : 'other';
		const counts = this.#codes.get(name) ?? new Float64Array(models.length);
		this.#codes.set(name, counts);
		return counts;
	}
}

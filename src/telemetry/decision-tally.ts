import { counter, type MetricFamilies, sample } from './metric-family.js';

/** Parts of a check that determine its model. */
interface Asked {
	readonly user: { readonly key: string; readonly attributes?: unknown };
	readonly resource: { readonly type: string; readonly key?: string; readonly attributes?: unknown };
	readonly context?: unknown;
}

/** Models by which checks are counted, in the order of each code's count array. */
const models = ['rbac', 'rebac', 'abac'] as const;

/** Maximum codes with separate counts. There are fewer than thirty; a policy from a different version may have more. */
const maxCodes = 64;

/**
 * Counts decisions by code and model. The model follows from the check, because only the reasons would show the rule
 * that granted it: `abac` if the check has attributes or a context, else `rebac` if it names an instance, else `rbac`.
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

	/** Total decisions. */
	get total(): number {
		let total = 0;
		for (const counts of this.#codes.values()) for (const count of counts) total += count;
		return total;
	}

	/** Returns the counts as metrics. */
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

import { counter, type MetricFamilies, sample } from './metric-family.js';

/** Parts of a check that determine its model. */
interface Asked {
	readonly user: { readonly key: string; readonly attributes?: unknown };
	readonly resource: { readonly type: string; readonly key?: string; readonly attributes?: unknown };
	readonly context?: unknown;
}

/** Access control models by which checks are counted. Each code's count array has the same order. */
const models = ['rbac', 'rebac', 'abac'] as const;

/**
 * Maximum number of codes with separate counts. Our policies have fewer than thirty codes; a policy from a different
 * version may have more.
 */
const maxCodes = 64;

/**
 * Counts decisions by code and model. The model is determined from the check, because a decision without reasons does
 * not show which rule granted access: `abac` if the check has attributes or a context, otherwise `rebac` if it
 * specifies an instance, otherwise `rbac`.
 */
export class DecisionTally {
	readonly #codes = new Map<string, Float64Array>();
	#differences = 0;

	/** Counts a decision. */
	add({ user, resource, context }: Asked, code: string): void {
		const counts = this.#codes.get(code) ?? this.#begin(code);
		const brings = context !== undefined || user.attributes !== undefined || resource.attributes !== undefined;
		const model = brings ? 2 : resource.key === undefined ? 0 : 1;
		counts[model] = (counts[model] ?? 0) + 1;
	}

	/** Counts a listing in which the facts index differs from the engine. */
	addDifference(): void {
		this.#differences += 1;
	}

	get total(): number {
		let total = 0;
		for (const counts of this.#codes.values()) for (const count of counts) total += count;
		return total;
	}

	families(): MetricFamilies {
		const values = [...this.#codes].flatMap(([code, counts]) =>
			models.flatMap((model, index) => {
				const count = counts[index] ?? 0;
				const outcome = code === 'allow' ? 'allow' : 'deny';
				return count === 0 ? [] : [sample(count, { outcome, code, model })];
			}),
		);
		return [
			counter('regolith_pdp_decisions_total', 'Decided checks', values),
			counter('regolith_pdp_listing_differences_total', 'Listings in which the index differed from the policy', [
				sample(this.#differences),
			]),
		];
	}

	#begin(code: string): Float64Array {
		const name = this.#codes.size < maxCodes ? code : 'other';
		const counts = this.#codes.get(name) ?? new Float64Array(models.length);
		this.#codes.set(name, counts);
		return counts;
	}
}

/** The condition sets of a schema, as explanations read them from the data document. */

import type { Condition } from '../../../compiler/condition/condition.js';
import { parseConditions } from '../../../compiler/condition/grammar.js';
import type { Json } from '../../../compiler/model.js';
import { jsonMember, jsonMembers, valueAt } from './json-members.js';
import type { SchemaTables } from './schema-tables.js';

/** The two types of sets. */
export type SetType = 'userset' | 'resourceset';

/** A condition set. */
export interface ReadSet {
	readonly key: string;
	/** The key of the set, of the same type, that this one narrows. */
	readonly parent: string | undefined;
	/** For an automatic set, the key of the role or resource type that it stands for. */
	readonly standsFor: string | undefined;
	/** `undefined` for automatic sets, and where the conditions cannot be read: such a set selects nothing. */
	readonly condition: Condition | undefined;
	/** How many comparisons the condition holds. */
	readonly comparisons: number;
}

/** A rule between two sets, by their keys. */
export interface RuleOfSets {
	readonly userSet: string;
	readonly resourceSet: string;
}

const known = new WeakMap<SchemaTables, ConditionSets>();

/** The condition sets of a schema. */
export function conditionSetsIn(schema: SchemaTables): ConditionSets {
	const sets = known.get(schema) ?? new ConditionSets(schema.value);
	known.set(schema, sets);
	return sets;
}

/** Reads each set when it is first asked for. */
export class ConditionSets {
	readonly #schema: Json;
	readonly #known = new Map<string, ReadSet | undefined>();

	/** @param schema the value at `regolith.schema`. */
	constructor(schema: Json) {
		this.#schema = schema;
	}

	/** The rules that grant an action on a resource type. */
	*rules(type: string, action: string): Iterable<RuleOfSets> {
		for (const [userSet, resourceSets] of jsonMembers(valueAt(this.#schema, 'set_rules', type, action))) {
			for (const [resourceSet] of jsonMembers(resourceSets)) yield { userSet, resourceSet };
		}
	}

	/** A user set, or a set of a resource type; `undefined` when there is none. */
	find(type: SetType, resource: string, key: string): ReadSet | undefined {
		const name = JSON.stringify([type, resource, key]);
		if (!this.#known.has(name)) this.#known.set(name, this.#read(type, resource, key));
		return this.#known.get(name);
	}

	#read(type: SetType, resource: string, key: string): ReadSet | undefined {
		const place = type === 'userset' ? ['user_sets', key] : ['resource_sets', resource, key];
		const standsFor = valueAt(this.#schema, ...place);
		const written = valueAt(this.#schema, 'conditions', type, key);
		if (standsFor === undefined || written === undefined) return undefined;
		const parent = jsonMember(written, 'parent');
		const conditions = jsonMember(written, 'conditions');
		const parsed = conditions === undefined ? undefined : parseConditions(conditions, { type });
		const condition = parsed !== undefined && 'condition' in parsed ? parsed.condition : undefined;
		return {
			key,
			parent: typeof parent === 'string' ? parent : undefined,
			standsFor: typeof standsFor === 'string' ? standsFor : undefined,
			condition,
			comparisons: condition === undefined ? 0 : countComparisons(condition),
		};
	}
}

/** The number of comparisons in a condition, with those inside `match`. */
export function countComparisons<A>(condition: Condition<A>): number {
	if (condition.kind === 'not') return countComparisons(condition.condition);
	if (condition.kind !== 'comparison') {
		return condition.conditions.reduce((sum, one) => sum + countComparisons(one), 0);
	}
	return 'match' in condition.operand ? 1 + countComparisons(condition.operand.match) : 1;
}

/** Condition sets in a schema, read from the data document. */

import type { Condition } from '../../../compiler/condition/condition.js';
import { attributesIn, parseConditions } from '../../../compiler/condition/parse/grammar.js';
import { actsAsRole, roleFormulaOf, rolesNamedIn } from '../../../compiler/condition/resource-roles.js';
import type { Json } from '../../../compiler/model.js';
import { holdsFormula } from '../../../compiler/role-expression.js';
import { jsonMember, jsonMembers, valueAt } from './json-members.js';
import type { SchemaTables } from './schema-tables.js';

export type SetType = 'userset' | 'resourceset';

export interface ReadSet {
	readonly key: string;
	/** Parent set key. The parent set has the same type, and this set narrows it. */
	readonly parent: string | undefined;
	/** For an automatic set, its role or resource type key. */
	readonly standsFor: string | undefined;
	/** `undefined` for automatic sets and for unreadable conditions. A set with unreadable conditions selects nothing. */
	readonly condition: Condition | undefined;
	readonly comparisons: number;
	/** Keys of the roles on the resource that the condition names. */
	readonly roles: readonly string[];
}

/** A rule that connects two sets, identified by their keys. */
export interface RuleOfSets {
	readonly userSet: string;
	readonly resourceSet: string;
}

/** A rule that acts like a role on the resource. */
export interface RuleLikeRole {
	/** Roles on the resource that the user set names outside `not`. Without any of these roles, it selects nobody. */
	readonly required: ReadonlySet<string>;
	/** All roles on the resource that the user set names. */
	readonly named: ReadonlySet<string>;
	/** True if the user set names a role under `not`, so an additional role may remove the grant. */
	readonly excludes: boolean;
	/** True for a user with these roles on the resource. */
	readonly grants: (roles: ReadonlySet<string>) => boolean;
}

const known = new WeakMap<SchemaTables, ConditionSets>();

export function conditionSetsIn(schema: SchemaTables): ConditionSets {
	const sets = known.get(schema) ?? new ConditionSets(schema.value);
	known.set(schema, sets);
	return sets;
}

/** Reads each set on first use. */
export class ConditionSets {
	readonly #schema: Json;
	readonly #known = new Map<string, ReadSet | undefined>();
	readonly #compared = new Map<string, ReadonlySet<string>>();

	/** @param schema the value at `regolith.schema`. */
	constructor(schema: Json) {
		this.#schema = schema;
	}

	/** Yields the rules that grant an action on a resource type. */
	*rules(type: string, action: string): Iterable<RuleOfSets> {
		for (const [userSet, resourceSets] of jsonMembers(valueAt(this.#schema, 'set_rules', type, action))) {
			for (const [resourceSet] of jsonMembers(resourceSets)) yield { userSet, resourceSet };
		}
	}

	/**
	 * Returns the action's rules that act like roles on the resource. Listings that skip conditions still evaluate these
	 * rules.
	 */
	rulesLikeRoles(resource: string, action: string): readonly RuleLikeRole[] {
		return [...this.rules(resource, action)].flatMap(({ userSet, resourceSet }) => {
			const user = conditionsOf('userset', this.ancestry('userset', resource, userSet));
			const others = conditionsOf('resourceset', this.ancestry('resourceset', resource, resourceSet));
			if (user === undefined || others === undefined || !actsAsRole(user, others)) return [];
			const named = user.flatMap(rolesNamedIn);
			const formulas = [...user, ...others].map((condition) => roleFormulaOf(condition));
			return {
				required: new Set(named.filter(({ negated }) => !negated).map(({ role }) => role)),
				named: new Set(named.map(({ role }) => role)),
				excludes: named.some(({ negated }) => negated),
				grants: (roles) => formulas.every((formula) => holdsFormula(formula, (role) => roles.has(role))),
			};
		});
	}

	/** Finds a user set, or a set for a resource type. */
	find(type: SetType, resource: string, key: string): ReadSet | undefined {
		const name = JSON.stringify([type, resource, key]);
		if (!this.#known.has(name)) this.#known.set(name, this.#read(type, resource, key));
		return this.#known.get(name);
	}

	/**
	 * Returns a set and its ancestors, starting with the set. A set that does not exist, or is its own ancestor, selects
	 * nothing, and ends the list.
	 */
	ancestry(type: SetType, resource: string, key: string): readonly ReadSet[] {
		const found: ReadSet[] = [];
		const keys = new Set<string>();
		for (let next: string | undefined = key; next !== undefined; ) {
			const set: ReadSet | undefined = keys.has(next) ? undefined : this.find(type, resource, next);
			if (set === undefined) return [...found, { key: next, ...nothing }];
			found.push(set);
			keys.add(next);
			next = set.parent;
		}
		return found;
	}

	/** Returns the attributes of a resource type's instances that conditions compare, as paths joined with dots. */
	comparedAttributes(resource: string): ReadonlySet<string> {
		const known = this.#compared.get(resource);
		if (known !== undefined) return known;
		const sets = [
			...jsonMembers(valueAt(this.#schema, 'resource_sets', resource)).map(([key]) =>
				this.find('resourceset', resource, key),
			),
			...jsonMembers(valueAt(this.#schema, 'user_sets')).map(([key]) => this.find('userset', resource, key)),
		];
		const attributes = sets.flatMap((set) => (set?.condition === undefined ? [] : attributesIn(set.condition)));
		const compared = attributes.flatMap(({ object, path }) => (object === 'resource' ? [path.join('.')] : []));
		const names = new Set(compared);
		this.#compared.set(resource, names);
		return names;
	}

	/**
	 * Returns the keys of the roles on the resource that are named by the user sets in an action's rules, or by the
	 * parents of these sets.
	 */
	rolesNamed(resource: string, action: string): ReadonlySet<string> {
		const userSets = new Set(Array.from(this.rules(resource, action), ({ userSet }) => userSet));
		const sets = [...userSets].flatMap((userSet) => this.ancestry('userset', resource, userSet));
		return new Set(sets.flatMap(({ roles }) => roles));
	}

	#read(type: SetType, resource: string, key: string): ReadSet | undefined {
		const place = type === 'userset' ? ['user_sets', key] : ['resource_sets', resource, key];
		const standsFor = valueAt(this.#schema, ...place);
		const written = valueAt(this.#schema, 'conditions', type, key);
		if (standsFor === undefined || written === undefined) return undefined;
		const parent = jsonMember(written, 'parent');
		const conditions = jsonMember(written, 'conditions');
		const parsed = conditions === undefined ? undefined : parseConditions(conditions, { type, bound: true });
		const condition = parsed !== undefined && 'condition' in parsed ? parsed.condition : undefined;
		return {
			key,
			parent: typeof parent === 'string' ? parent : undefined,
			standsFor: typeof standsFor === 'string' ? standsFor : undefined,
			condition,
			comparisons: condition === undefined ? 0 : countComparisons(condition),
			roles: condition === undefined ? [] : [...new Set(rolesNamedIn(condition).map(({ role }) => role))],
		};
	}
}

/** Returns the conditions of sets; `undefined` if a set is an automatic user set, or selects nothing. */
function conditionsOf(type: SetType, sets: readonly ReadSet[]): readonly Condition[] | undefined {
	const found: Condition[] = [];
	for (const { standsFor, condition } of sets) {
		if (condition !== undefined) found.push(condition);
		else if (standsFor === undefined || type === 'userset') return undefined;
	}
	return found;
}

const nothing = { parent: undefined, standsFor: undefined, condition: undefined, comparisons: 0, roles: [] } as const;

/** Counts the comparisons in a condition, including those inside `match`. */
export function countComparisons<A>(condition: Condition<A>): number {
	if (condition.kind === 'not') return countComparisons(condition.condition);
	if (condition.kind !== 'comparison') {
		return condition.conditions.reduce((sum, one) => sum + countComparisons(one), 0);
	}
	return 'match' in condition.operand ? 1 + countComparisons(condition.operand.match) : 1;
}

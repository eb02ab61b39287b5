/** Finds differences between two schemas that may change checks, using the tables in their data. */

import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../compiler/model.js';
import { conditionSetsIn } from '../pdp/facts/condition-sets.js';
import { jsonMember, jsonMembers, valueAt } from '../pdp/facts/json-members.js';
import type { SchemaTables } from '../pdp/facts/schema-tables.js';

/** Users that set rules may select: everybody, or only users with one of these roles in the tenant. */
export type Selectable = 'everybody' | ReadonlySet<string>;

/** An action in two schemas, with all its grants and the grants that differ between the schemas. */
export interface ActionDifference {
	readonly type: string;
	readonly action: string;
	/** Tenant roles that grant the action. */
	readonly tenantRoles: ReadonlySet<string>;
	/** Tenant roles that grant the action in only one schema. */
	readonly changedTenantRoles: ReadonlySet<string>;
	/** Instance roles that grant the action, or that its user sets name. */
	readonly instanceRoles: ReadonlySet<string>;
	/**
	 * Instance roles that grant the action, or are named, in only one schema, or that have different derivations or
	 * expressions.
	 */
	readonly changedInstanceRoles: ReadonlySet<string>;
	/** Users that the action's set rules may select. */
	readonly selectable: Selectable;
	/** Users selectable by rules that exist in only one schema, or that have a changed set. */
	readonly newlySelectable: Selectable;
}

export interface SchemaDifference {
	/** All actions in both schemas, keyed by resource type. */
	readonly actions: ReadonlyMap<string, readonly ActionDifference[]>;
	/** True if a condition may use a user's tenants. */
	readonly asksForTenants: boolean;
	/** Types whose instances a condition may read by a key in an attribute. */
	readonly relatedTypes: ReadonlySet<string>;
}

/** Compares two schemas. With `everything`, treats all grants as different. */
export function compareSchemas(before: SchemaTables, after: SchemaTables, everything: boolean): SchemaDifference {
	const derivedOtherwise = changedRoles(before, after);
	const changedSets = setsThatDiffer(before, after);
	const types = new Set([...before.types, ...after.types]);
	const written = [before, after].map(writtenConditions);
	const compare = (type: string, action: string): ActionDifference => {
		const whole = everything || exists(before, type, action) !== exists(after, type, action);
		const tenant = compareSets(
			before.tenantRolesThatGrant(type, action),
			after.tenantRolesThatGrant(type, action),
			whole,
		);
		const instance = compareSets(rolesThatMatter(before, type, action), rolesThatMatter(after, type, action), whole);
		const derived = [...instance.all].filter((role) => derivedOtherwise.has(roleName(type, role)));
		const rules = compareRules(before, after, { type, action, changedSets, whole });
		return {
			type,
			action,
			tenantRoles: tenant.all,
			changedTenantRoles: tenant.changed,
			instanceRoles: instance.all,
			changedInstanceRoles: new Set([...instance.changed, ...derived]),
			...rules,
		};
	};
	return {
		actions: new Map(
			[...types].map((type) => {
				const actions = new Set([...before.actions(type), ...after.actions(type)]);
				return [type, [...actions].map((action) => compare(type, action))];
			}),
		),
		asksForTenants: written.some((conditions) => conditions.includes('tenants')),
		relatedTypes: new Set([...relatedTypes(before), ...relatedTypes(after)]),
	};
}

function writtenConditions({ value }: SchemaTables): string {
	return JSON.stringify(valueAt(value, 'conditions') ?? null);
}

/** Returns the types whose instances a condition may read by a key in an attribute. */
export function relatedTypes(schema: SchemaTables): ReadonlySet<string> {
	const types = writtenConditions(schema).matchAll(/"fk_resource_type":("(?:[^"\\]|\\.)*")/g);
	return new Set([...types].map(([, type = '""']) => JSON.parse(type)));
}

/** Returns the instance roles that grant an action, or that are named by the user sets in the action's rules. */
function rolesThatMatter(schema: SchemaTables, type: string, action: string): readonly string[] {
	return [...schema.instanceRolesThatGrant(type, action), ...conditionSetsIn(schema).rolesNamed(type, action)];
}

function exists({ value }: SchemaTables, type: string, action: string): boolean {
	return valueAt(value, 'actions', type, action) !== undefined;
}

function compareSets(before: readonly string[], after: readonly string[], whole: boolean) {
	const [left, right] = [new Set(before), new Set(after)];
	const all = new Set([...left, ...right]);
	return { all, changed: whole ? all : new Set([...all].filter((item) => left.has(item) !== right.has(item))) };
}

/** Returns the conditions under which a role may be assigned, or derived by each relation. */
function declaredConditions(schema: SchemaTables, type: string, role: string): readonly Json[] {
	const { value } = schema;
	const relations = new Set(schema.derivations(type, role).map(({ relation }) => relation));
	const declared = [
		valueAt(value, 'grant_conditions', type, role),
		...Array.from(relations, (relation) => valueAt(value, 'relation_conditions', type, relation)),
	];
	return declared.map((sets) =>
		Array.isArray(sets) ? sets.map((set) => [set, valueAt(value, 'conditions', 'grant', String(set)) ?? null]) : null,
	);
}

/**
 * Returns the instance roles with different derivations, expressions or conditions, and all roles derived or computed
 * from them in either schema.
 */
function changedRoles(before: SchemaTables, after: SchemaTables): ReadonlySet<string> {
	const found = new Map<string, readonly [type: string, role: string]>();
	const add = (type: string, role: string) => found.set(roleName(type, role), [type, role]);
	for (const type of new Set([...before.types, ...after.types])) {
		for (const role of new Set([...before.rolesOn(type), ...after.rolesOn(type)])) {
			const isSame =
				isDeepStrictEqual(before.derivations(type, role), after.derivations(type, role)) &&
				isDeepStrictEqual(before.computed(type, role), after.computed(type, role)) &&
				isDeepStrictEqual(declaredConditions(before, type, role), declaredConditions(after, type, role));
			if (!isSame) add(type, role);
		}
	}
	// Iterating a map also visits entries added during the iteration, so the map doubles as the queue.
	for (const [, [type, role]] of found) {
		for (const schema of [before, after]) {
			for (const target of schema.derivedFrom(type, role)) add(target.resource, target.role);
			for (const reader of schema.computedOn(type)) if (reader.operands.includes(role)) add(type, reader.role);
		}
	}
	return new Set(found.keys());
}

function roleName(type: string, role: string): string {
	return JSON.stringify([type, role]);
}

const setTypes = ['userset', 'resourceset'] as const;

/** Returns the names of condition sets that exist in only one schema, or that select differently. */
function setsThatDiffer(before: SchemaTables, after: SchemaTables): ReadonlySet<string> {
	const changed = new Set<string>();
	const children = new Map<string, Set<string>>();
	for (const type of setTypes) {
		const [left, right] = [writtenSets(before, type), writtenSets(after, type)];
		for (const key of new Set([...left.keys(), ...right.keys()])) {
			const name = setName(type, key);
			if (!isDeepStrictEqual(left.get(key), right.get(key))) changed.add(name);
			for (const set of [left.get(key), right.get(key)]) {
				const parent = jsonMember(set?.written, 'parent');
				if (typeof parent !== 'string') continue;
				const narrowing = children.get(setName(type, parent)) ?? new Set();
				children.set(setName(type, parent), narrowing.add(name));
			}
		}
	}
	// Sets that narrow a changed set also differ. The loop also visits sets added during iteration.
	for (const name of changed) for (const child of children.get(name) ?? []) changed.add(child);
	return changed;
}

function setName(type: (typeof setTypes)[number], key: string): string {
	return JSON.stringify([type, key]);
}

/** A condition set in the tables: its conditions and parent, or the target of an automatic set. */
interface WrittenSet {
	readonly written: Json;
	readonly standsFor: Json | undefined;
}

function writtenSets({ value }: SchemaTables, type: (typeof setTypes)[number]): ReadonlyMap<string, WrittenSet> {
	const targets =
		type === 'userset'
			? jsonMembers(valueAt(value, 'user_sets'))
			: jsonMembers(valueAt(value, 'resource_sets')).flatMap(([, sets]) => jsonMembers(sets));
	const standsFor = new Map(targets);
	return new Map(
		jsonMembers(valueAt(value, 'conditions', type)).map(([key, written]) => [
			key,
			{ written, standsFor: standsFor.get(key) },
		]),
	);
}

interface ComparedRules {
	readonly type: string;
	readonly action: string;
	readonly changedSets: ReadonlySet<string>;
	readonly whole: boolean;
}

function compareRules(
	before: SchemaTables,
	after: SchemaTables,
	{ type, action, changedSets, whole }: ComparedRules,
): Pick<ActionDifference, 'selectable' | 'newlySelectable'> {
	const all = new Selection();
	const changed = new Selection();
	for (const [schema, other] of [
		[before, after],
		[after, before],
	] as const) {
		for (const [userSet, resourceSets] of jsonMembers(valueAt(schema.value, 'set_rules', type, action))) {
			const role = valueAt(schema.value, 'user_sets', userSet);
			for (const [resourceSet] of jsonMembers(resourceSets)) {
				all.add(role);
				const differs =
					whole ||
					valueAt(other.value, 'set_rules', type, action, userSet, resourceSet) === undefined ||
					changedSets.has(setName('userset', userSet)) ||
					changedSets.has(setName('resourceset', resourceSet));
				if (differs) changed.add(role);
			}
		}
	}
	return { selectable: all.selectable, newlySelectable: changed.selectable };
}

/** Users that the user sets of rules may select. */
class Selection {
	readonly #roles = new Set<string>();
	#everybody = false;

	/** @param role role key of an automatic user set; anything else for a set with conditions. */
	add(role: Json | undefined): void {
		if (typeof role === 'string') this.#roles.add(role);
		else this.#everybody = true;
	}

	get selectable(): Selectable {
		return this.#everybody ? 'everybody' : this.#roles;
	}
}

/** What of two schemas may make checks come out differently, as the tables of their data say it. */

import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../compiler/model.js';
import { jsonMember, jsonMembers, valueAt } from '../pdp/facts/json-members.js';
import type { SchemaTables } from '../pdp/facts/schema-tables.js';

/** Whom set rules may select: everybody, or at most those who hold one of these roles in the tenant. */
export type Selectable = 'everybody' | ReadonlySet<string>;

/** One action of the two schemas: what grants it in either of them, and what of that differs. */
export interface ActionDifference {
	readonly type: string;
	readonly action: string;
	/** The tenant roles that grant it. */
	readonly tenantRoles: ReadonlySet<string>;
	/** Those that grant it in one of the schemas only. */
	readonly changedTenantRoles: ReadonlySet<string>;
	/** The roles on instances that grant it. */
	readonly instanceRoles: ReadonlySet<string>;
	/** Those that grant it in one of the schemas only, or that are derived otherwise. */
	readonly changedInstanceRoles: ReadonlySet<string>;
	/** Whom set rules of the action may select. */
	readonly selectable: Selectable;
	/** The same of rules that only one of the schemas has, or of which a set differs. */
	readonly newlySelectable: Selectable;
}

/** What two schemas have together. */
export interface SchemaDifference {
	/** Every action of either schema, by resource type. */
	readonly actions: ReadonlyMap<string, readonly ActionDifference[]>;
	/** Whether a condition may ask for the tenants of a user. */
	readonly asksForTenants: boolean;
}

/** Compares the tables of two schemas. With `everything`, all that grants anything counts as different. */
export function compareSchemas(before: SchemaTables, after: SchemaTables, everything: boolean): SchemaDifference {
	const derivedOtherwise = changedRoles(before, after);
	const changedSets = setsThatDiffer(before, after);
	const types = new Set([...before.types, ...after.types]);
	const compare = (type: string, action: string): ActionDifference => {
		const whole = everything || exists(before, type, action) !== exists(after, type, action);
		const tenant = compareSets(
			before.tenantRolesThatGrant(type, action),
			after.tenantRolesThatGrant(type, action),
			whole,
		);
		const instance = compareSets(
			before.instanceRolesThatGrant(type, action),
			after.instanceRolesThatGrant(type, action),
			whole,
		);
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
		asksForTenants: [before, after].some(({ value }) =>
			JSON.stringify(valueAt(value, 'conditions') ?? null).includes('tenants'),
		),
	};
}

function exists({ value }: SchemaTables, type: string, action: string): boolean {
	return valueAt(value, 'actions', type, action) !== undefined;
}

function compareSets(before: readonly string[], after: readonly string[], whole: boolean) {
	const [left, right] = [new Set(before), new Set(after)];
	const all = new Set([...left, ...right]);
	return { all, changed: whole ? all : new Set([...all].filter((item) => left.has(item) !== right.has(item))) };
}

/** The roles on instances that are derived otherwise, and all that are derived from them in either schema. */
function changedRoles(before: SchemaTables, after: SchemaTables): ReadonlySet<string> {
	const found = new Map<string, readonly [type: string, role: string]>();
	const add = (type: string, role: string) => found.set(roleName(type, role), [type, role]);
	for (const type of new Set([...before.types, ...after.types])) {
		for (const role of new Set([...before.rolesOn(type), ...after.rolesOn(type)])) {
			if (!isDeepStrictEqual(before.derivations(type, role), after.derivations(type, role))) add(type, role);
		}
	}
	// A map iterates what is added to it while it is iterated: it is the queue as well.
	for (const [, [type, role]] of found) {
		for (const schema of [before, after]) {
			for (const target of schema.derivedFrom(type, role)) add(target.resource, target.role);
		}
	}
	return new Set(found.keys());
}

function roleName(type: string, role: string): string {
	return JSON.stringify([type, role]);
}

const setTypes = ['userset', 'resourceset'] as const;

/** The names of the condition sets that only one of the schemas has, or that select otherwise. */
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
	// What narrows a changed set differs too. The loop also visits what is added while it runs.
	for (const name of changed) for (const child of children.get(name) ?? []) changed.add(child);
	return changed;
}

function setName(type: (typeof setTypes)[number], key: string): string {
	return JSON.stringify([type, key]);
}

/** A condition set as the tables hold it: its conditions and its parent, or what an automatic one stands for. */
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

/** Whom the user sets of rules may select. */
class Selection {
	readonly #roles = new Set<string>();
	#everybody = false;

	/** @param role what an automatic user set stands for; anything else for a set with conditions. */
	add(role: Json | undefined): void {
		if (typeof role === 'string') this.#roles.add(role);
		else this.#everybody = true;
	}

	get selectable(): Selectable {
		return this.#everybody ? 'everybody' : this.#roles;
	}
}

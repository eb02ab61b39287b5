/** Condition sets as functions, for the evaluation of many checks. */

import { isAsked } from '../../../compiler/condition/attribute.js';
import { compileCondition, usesPattern } from '../../../compiler/condition/compile-condition.js';
import type { AttributePath } from '../../../compiler/condition/condition.js';
import { isResourceRoles } from '../../../compiler/condition/resource-roles.js';
import { conditionSetsIn, type ReadSet, type SetType } from './condition-sets.js';
import { ConditionSubject } from './condition-subject.js';
import type { SchemaTables } from './schema-tables.js';

/** A condition set, together with its ancestors. */
export interface CompiledSet {
	/** False if the result is the same for all users. */
	readonly readsUser: boolean;
	/** False if the result is the same for all instances of a type in a tenant. */
	readonly readsInstance: boolean;
	readonly selects: (subject: ConditionSubject) => boolean;
}

/** A user set and all resource sets that rules join with it. */
export interface CompiledRule {
	readonly users: CompiledSet;
	readonly resources: readonly CompiledSet[];
}

/** Thrown if only the engine can decide, for example because a condition contains a regular expression. */
export class NeedsEngine extends Error {
	override readonly name = 'NeedsEngine';
}

const known = new WeakMap<SchemaTables, CompiledSets>();

/** Returns the compiled condition sets in a schema. */
export function compiledSetsIn(schema: SchemaTables): CompiledSets {
	const sets = known.get(schema) ?? new CompiledSets(schema);
	known.set(schema, sets);
	return sets;
}

const nothing: CompiledSet = { readsUser: false, readsInstance: false, selects: () => false };

/** Compiles each set on first use. */
export class CompiledSets {
	readonly #schema: SchemaTables;
	readonly #sets = new Map<string, CompiledSet>();
	readonly #rules = new Map<string, readonly CompiledRule[]>();

	constructor(schema: SchemaTables) {
		this.#schema = schema;
	}

	/** Returns the rules that grant an action on a resource type. Throws `NeedsEngine`. */
	rules(type: string, action: string): readonly CompiledRule[] {
		const name = JSON.stringify([type, action]);
		const rules = this.#rules.get(name) ?? this.#readRules(type, action);
		this.#rules.set(name, rules);
		return rules;
	}

	#readRules(type: string, action: string): readonly CompiledRule[] {
		const byUsers = new Map<CompiledSet, CompiledSet[]>();
		for (const { userSet, resourceSet } of conditionSetsIn(this.#schema).rules(type, action)) {
			const users = this.#find('userset', type, userSet, []);
			const resources = this.#find('resourceset', type, resourceSet, []);
			const joined = byUsers.get(users);
			if (joined === undefined) byUsers.set(users, [resources]);
			else joined.push(resources);
		}
		return Array.from(byUsers, ([users, resources]) => ({ users, resources }));
	}

	/** `below` are the keys of the set's descendants. A set that is its own ancestor selects nothing. */
	#find(type: SetType, resource: string, key: string, below: readonly string[]): CompiledSet {
		if (below.includes(key)) return nothing;
		const name = JSON.stringify([type, type === 'userset' ? '' : resource, key]);
		const set = this.#sets.get(name) ?? this.#compile(type, resource, key, below);
		this.#sets.set(name, set);
		return set;
	}

	#compile(type: SetType, resource: string, key: string, below: readonly string[]): CompiledSet {
		const set = conditionSetsIn(this.#schema).find(type, resource, key);
		if (set === undefined) return nothing;
		const own = compileOwn(type, set);
		if (set.parent === undefined) return own;
		const parent = this.#find(type, resource, set.parent, [...below, key]);
		return {
			readsUser: own.readsUser || parent.readsUser,
			readsInstance: own.readsInstance || parent.readsInstance,
			selects: (subject) => parent.selects(subject) && own.selects(subject),
		};
	}
}

/** Compiles a set without its ancestors. */
function compileOwn(type: SetType, { standsFor, condition }: ReadSet): CompiledSet {
	if (standsFor !== undefined) {
		return type === 'userset'
			? { readsUser: true, readsInstance: false, selects: (subject) => subject.roles.includes(standsFor) }
			: { readsUser: false, readsInstance: false, selects: () => true };
	}
	if (condition === undefined) return nothing;
	if (usesPattern(condition)) throw new NeedsEngine('a condition contains a regular expression');
	let [readsUser, readsInstance] = [false, false];
	const read = (attribute: AttributePath) => {
		const { object, path } = attribute;
		// A tenant's attributes are only visible to its members.
		if (object === 'user' || (object === 'tenant' && !isAsked(attribute))) readsUser = true;
		if (isResourceRoles(attribute) || (object === 'resource' && path[0] !== 'type' && path[0] !== 'tenant'))
			readsInstance = true;
		return ConditionSubject.reader(attribute);
	};
	const test = compileCondition<ConditionSubject, AttributePath>(condition, {
		attribute: read,
		reference: read,
		related: (subject, type, key) => subject.related(type, key),
		matches: () => false,
	});
	return { readsUser, readsInstance, selects: (subject) => test(subject, subject.time) === true };
}

/** Finds the permitted actions of a user with set operations on the facts, without the engine. */

import { type CompiledRule, type CompiledSet, compiledSetsIn } from '../facts/compiled-sets.js';
import { conditionSetsIn, type RuleLikeRole } from '../facts/condition-sets.js';
import { ConditionSubject, type SentAttributes, type SubjectPlace } from '../facts/condition-subject.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceType } from '../facts/instance-name.js';
import type { RolesByInstance } from '../facts/role-walk.js';

/** Actions on a type: a bit for each, in the order of the type's actions. */
type Actions = readonly number[];

/** Bits in a word. */
const wordLength = 31;

/** Roles and condition sets that permit actions on a type in a tenant. */
interface TenantRules {
	readonly place: SubjectPlace;
	/** Actions granted by the user's roles in the tenant. */
	readonly byRoles: Actions;
	/** Actions granted by condition sets on all instances. */
	readonly bySets: Actions;
	/** Resource sets that depend on the instance, each with the actions that it grants. */
	readonly resources: readonly (readonly [CompiledSet, Actions])[];
	/** Rules whose user set depends on the instance. */
	readonly rules: readonly (readonly [CompiledRule, Actions])[];
	/** Rules that act like roles on the instance, if other rules are skipped. */
	readonly likeRoles: readonly (readonly [RuleLikeRole, Actions])[];
}

interface TypeActions {
	readonly type: string;
	readonly keys: readonly string[];
	readonly none: Actions;
	/** Granted actions, keyed by instance role. Includes all roles of the type. */
	readonly byRole: ReadonlyMap<string, Actions>;
	readonly byTenant: Map<number, TenantRules>;
	/** Permissions as JSON, by their actions. */
	readonly texts: Map<string, string>;
}

/** The condition set rules that may grant actions: all, only rules that act like roles on the instance, or none. */
export type EvaluatedRules = 'all' | 'like_roles' | 'none';

/** A query about one user. */
export interface UserQuestion {
	readonly user: { readonly key: string; readonly attributes?: SentAttributes };
	readonly context: SentAttributes;
	/** Attributes sent for every instance. */
	readonly resource?: SentAttributes;
	readonly time: number;
	readonly rules: EvaluatedRules;
	/** Roles that the user holds on instances. */
	readonly held: RolesByInstance;
}

const noRoles: readonly string[] = [];

/** Permitted actions of a user. All methods throw `NeedsEngine` if only the engine can evaluate a condition. */
export class PermittedActions {
	readonly #facts: FactsIndex;
	readonly #question: UserQuestion;
	readonly #subject: ConditionSubject;
	readonly #types = new Map<string, TypeActions>();
	/** Cached results of user sets, keyed by tenant. */
	readonly #selecting = new Map<number, Map<CompiledSet, boolean>>();

	constructor(facts: FactsIndex, question: UserQuestion) {
		const { user, context, resource, time } = question;
		this.#facts = facts;
		this.#question = question;
		this.#subject = new ConditionSubject(facts, time, { context, resource }, question.held);
		this.#subject.setUser(user.key, user.attributes);
	}

	/** Returns the fields `permissions` and `roles` for an existing tenant, as JSON. */
	tenantEntry(tenant: number): string {
		const permissions = this.#facts.schema.types.flatMap((type) => {
			const about = this.#type(type);
			return permissionsIn(about, this.#actions(about, this.#rules(about, tenant), undefined));
		});
		this.#subject.setResource({ type: '', tenant }, undefined);
		return `"permissions":${JSON.stringify(permissions.sort())},"roles":${JSON.stringify(this.#subject.roles.toSorted())}`;
	}

	/**
	 * Returns the fields `permissions` and `roles` for an instance in an existing tenant, as JSON. Returns `undefined` if
	 * the user holds no role on the instance, and no condition set permits an action. With `byPermission`, actions
	 * permitted by tenant roles also count.
	 */
	instanceEntry(instance: number, tenant: number, byPermission: boolean): string | undefined {
		const about = this.#type(instanceType(this.#facts.names.text(instance)));
		const rules = this.#rules(about, tenant);
		const roles = this.#question.held.get(instance)?.filter((role) => about.byRole.has(role)) ?? [];
		const actions = this.#actions(about, rules, instance);
		if (roles.length === 0) {
			const granted = byPermission ? actions : this.#withSets(about.none, rules, instance);
			if (includes(about.none, granted)) return undefined;
		}
		const key = actions.join();
		const known = about.texts.get(key);
		const text = known ?? JSON.stringify(permissionsIn(about, actions).sort());
		if (known === undefined) about.texts.set(key, text);
		return `"permissions":${text},"roles":${roles.length === 0 ? '[]' : JSON.stringify(roles.sort())}`;
	}

	/** True if an action is permitted on an instance in its tenant. */
	permits(action: string, name: string): boolean {
		const instance = this.#facts.names.number(name) ?? -1;
		const tenant = this.#facts.instanceTenants.at(instance);
		if (tenant === undefined) return false;
		const about = this.#type(instanceType(name));
		const index = about.keys.indexOf(action);
		return index >= 0 && hasBit(this.#actions(about, this.#rules(about, tenant), instance), index);
	}

	#type(type: string): TypeActions {
		const known = this.#types.get(type);
		if (known !== undefined) return known;
		const { schema } = this.#facts;
		const keys = schema.actions(type);
		const none = Array.from({ length: Math.ceil(keys.length / wordLength) }, () => 0);
		const byRole = new Map<string, Actions>(schema.rolesOn(type).map((role) => [role, none]));
		for (const [index, action] of keys.entries()) {
			for (const role of schema.instanceRolesThatGrant(type, action)) {
				byRole.set(role, withBit(byRole.get(role) ?? none, index));
			}
		}
		const about = { type, keys, none, byRole, byTenant: new Map(), texts: new Map() };
		this.#types.set(type, about);
		return about;
	}

	#actions(about: TypeActions, rules: TenantRules, instance: number | undefined): Actions {
		let actions = rules.byRoles;
		for (const role of (instance === undefined ? undefined : this.#question.held.get(instance)) ?? noRoles) {
			actions = union(actions, about.byRole.get(role) ?? about.none);
		}
		return this.#withSets(actions, rules, instance);
	}

	/** Adds the actions that condition sets permit. */
	#withSets(before: Actions, about: TenantRules, instance: number | undefined): Actions {
		const { place, bySets, resources, rules, likeRoles } = about;
		let actions = union(before, bySets);
		if (likeRoles.length > 0) {
			const held = new Set(instance === undefined ? noRoles : this.#question.held.get(instance));
			for (const [rule, granted] of likeRoles) if (rule.grants(held)) actions = union(actions, granted);
		}
		if (resources.length === 0 && rules.length === 0) return actions;
		const subject = this.#subject;
		subject.setResource(place, instance);
		for (const [set, granted] of resources) {
			if (!includes(actions, granted) && set.selects(subject)) actions = union(actions, granted);
		}
		for (const [{ users, resources: sets }, granted] of rules) {
			if (includes(actions, granted) || !users.selects(subject)) continue;
			if (sets.some((set) => set.selects(subject))) actions = union(actions, granted);
		}
		return actions;
	}

	#rules(about: TypeActions, tenant: number): TenantRules {
		const known = about.byTenant.get(tenant);
		if (known !== undefined) return known;
		const { schema, tenants } = this.#facts;
		const evaluated = tenants.at(tenant) === undefined ? 'none' : this.#question.rules;
		const subject = this.#subject;
		const place = { type: about.type, tenant };
		subject.setResource(place, undefined);
		const { roles } = subject;
		let [byRoles, bySets] = [about.none, about.none];
		const resources = new Map<CompiledSet, Actions>();
		const rules: [CompiledRule, Actions][] = [];
		const likeRoles: [RuleLikeRole, Actions][] = [];
		for (const [index, action] of about.keys.entries()) {
			const granting = new Set(schema.tenantRolesThatGrant(about.type, action));
			if (roles.some((role) => granting.has(role))) byRoles = withBit(byRoles, index);
			if (evaluated === 'like_roles') {
				for (const rule of conditionSetsIn(schema).rulesLikeRoles(about.type, action)) {
					likeRoles.push([rule, withBit(about.none, index)]);
				}
			}
			for (const rule of evaluated === 'all' ? compiledSetsIn(schema).rules(about.type, action) : []) {
				if (rule.users.readsInstance) rules.push([rule, withBit(about.none, index)]);
				else if (this.#selects(rule.users, tenant)) {
					for (const set of rule.resources) {
						if (set.readsInstance) resources.set(set, withBit(resources.get(set) ?? about.none, index));
						else if (set.selects(subject)) bySets = withBit(bySets, index);
					}
				}
			}
		}
		const found = { place, byRoles, bySets, resources: [...resources], rules, likeRoles };
		about.byTenant.set(tenant, found);
		return found;
	}

	/** True if a user set that does not depend on the instance selects the user in the tenant. */
	#selects(set: CompiledSet, tenant: number): boolean {
		const results = this.#selecting.get(tenant) ?? new Map<CompiledSet, boolean>();
		this.#selecting.set(tenant, results);
		const known = results.get(set) ?? set.selects(this.#subject);
		results.set(set, known);
		return known;
	}
}

function permissionsIn({ type, keys }: TypeActions, actions: Actions): string[] {
	return keys.filter((_, index) => hasBit(actions, index)).map((key) => `${type}:${key}`);
}

function hasBit(actions: Actions, index: number): boolean {
	return ((actions[Math.floor(index / wordLength)] ?? 0) & (1 << (index % wordLength))) !== 0;
}

function withBit(actions: Actions, index: number): Actions {
	return actions.with(
		Math.floor(index / wordLength),
		(actions[Math.floor(index / wordLength)] ?? 0) | (1 << (index % wordLength)),
	);
}

function includes(actions: Actions, others: Actions): boolean {
	for (let index = 0; index < others.length; index += 1) {
		if (((others[index] ?? 0) & ~(actions[index] ?? 0)) !== 0) return false;
	}
	return true;
}

function union(actions: Actions, others: Actions): Actions {
	return includes(actions, others) ? actions : actions.map((word, index) => word | (others[index] ?? 0));
}

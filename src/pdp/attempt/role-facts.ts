/** Decides checks by roles on modified facts, which are a revision's facts with a few additions and removals. */

import { everyone } from '../../../compiler/everyone.js';
import type { RoleFormula } from '../../../compiler/role-expression.js';
import type { Steps } from '../../../compiler/steps.js';
import type { AttemptFact } from '../../wire/decision/attempt.js';
import type { EngineInput, Holdings } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import type { GrantConditions } from '../facts/grant-conditions.js';
import { instanceName, instanceType } from '../facts/instance-name.js';
import { follows, type RelationshipTest, type RoleOnInstance, RoleWalk } from '../facts/role-walk.js';
import type { Derivation } from '../facts/schema-tables.js';
import type { WorkLimit } from './work-limit.js';

export interface CheckNames {
	readonly user: string;
	readonly action: string;
	readonly type: string;
	readonly tenant: string;
	/** `<type>:<key>`; `undefined` if the check has no instance. */
	readonly instance: string | undefined;
}

export function checkNames({ user, action, resource }: EngineInput): CheckNames {
	const { type, key, tenant } = resource;
	const instance = key === undefined ? undefined : instanceName({ type, key });
	return { user: user.key, action, type, tenant, instance };
}

/** Facts added to and removed from a revision's facts. */
export interface FactChanges {
	readonly add: readonly AttemptFact[];
	readonly remove: readonly AttemptFact[];
}

export const noFactChanges: FactChanges = { add: [], remove: [] };

const nothing: ReadonlySet<string> = new Set();

interface GatherOptions {
	readonly work: WorkLimit;
	readonly conditions?: GrantConditions;
	/** Replaces the user's roles on instances, for a set of users. */
	readonly holdings?: Holdings | undefined;
}

/** Facts for deciding a check by roles, with the user's facts gathered in advance. */
export class RoleFacts {
	readonly #inTenant = new Set<string>();
	readonly #assigned = new Map<string, Set<string>>();
	readonly #public = new Map<string, Set<string>>();
	/** Instances with conditional assignments. The assignments block derivations, and no proposal removes them. */
	readonly #blocked = new Set<string>();

	private constructor(
		readonly facts: FactsIndex,
		readonly check: CheckNames,
		readonly time: number,
		/** True for the conditional relationships that count in the check. */
		readonly counts: RelationshipTest,
		/** True for a check about a set of users, which holds a single role. */
		readonly isOfSet: boolean,
	) {}

	/**
	 * Gathers the role assignments to the user and to everyone at `time`, and the role in the holdings of a set of users.
	 * Throws `WorkSpent` if there are too many assignments.
	 */
	static *gather(
		facts: FactsIndex,
		check: CheckNames,
		time: number,
		{ work, conditions, holdings }: GatherOptions,
	): Steps<RoleFacts> {
		const found = new RoleFacts(facts, check, time, (row) => conditions?.holds(row) ?? false, holdings !== undefined);
		for (const roles of Object.values(holdings ?? {})) {
			for (const [role, instances] of Object.entries(roles)) {
				for (const instance of Object.keys(instances)) found.#assigned.set(instance, new Set([role]));
			}
		}
		for (const [tenant, role] of facts.tenantRoles.from(check.user, time)) {
			if (work.step()) yield;
			if (tenant === check.tenant) found.#inTenant.add(role);
		}
		for (const [holder, assigned] of [
			[check.user, found.#assigned],
			[everyone, found.#public],
		] as const) {
			// For a check about `everyone`, roles assigned to everyone are not own roles.
			if (holder === everyone && assigned === found.#assigned) continue;
			for (const [instance, role] of facts.instanceRoles.from(holder, time)) {
				if (work.step()) yield;
				const roles = assigned.get(instance) ?? new Set();
				assigned.set(instance, roles.add(role));
			}
		}
		for (const grant of facts.conditionalRoles.from(check.user, time)) {
			work.step();
			found.#blocked.add(grant.instance);
			yield;
			if (!conditions?.holds(grant)) continue;
			const roles = found.#assigned.get(grant.instance) ?? new Set();
			found.#assigned.set(grant.instance, roles.add(grant.role));
		}
		return found;
	}

	/** The user's roles in the tenant. */
	get inTenant(): ReadonlySet<string> {
		return this.#inTenant;
	}

	/** Roles assigned to the user, keyed by instance. */
	get assigned(): ReadonlyMap<string, ReadonlySet<string>> {
		return this.#assigned;
	}

	/** Roles assigned to everyone, keyed by instance. */
	get public(): ReadonlyMap<string, ReadonlySet<string>> {
		return this.#public;
	}

	/** True if a conditional assignment blocks derivations on an instance, whether its condition holds or not. */
	isBlocked(instance: string): boolean {
		return this.#blocked.has(instance);
	}

	/**
	 * Returns the roles assigned to the user on an instance, including conditional assignments whose conditions hold.
	 * Only these roles, and all conditional assignments, block derivations.
	 */
	assignedOn(instance: string): ReadonlySet<string> {
		return this.#assigned.get(instance) ?? nothing;
	}

	/** True if the user holds the role on the instance by an assignment, to the user or to everyone. */
	isAssigned({ role, instance }: RoleOnInstance): boolean {
		return this.assignedOn(instance).has(role) || this.#isPublic(instance, role);
	}

	/** True if the user holds the role on the instance by an assignment to everyone alone. */
	isOnlyPublic({ role, instance }: RoleOnInstance): boolean {
		return !this.assignedOn(instance).has(role) && this.#isPublic(instance, role);
	}

	#isPublic(instance: string, role: string): boolean {
		return this.#public.get(instance)?.has(role) ?? false;
	}

	/** True if roles allow the check after the changes. */
	*allowWith(changes: FactChanges, work: WorkLimit): Steps<boolean> {
		const { schema } = this.facts;
		const { type, action } = this.check;
		if (this.#tenantExists(changes) && this.#userExists(changes)) {
			for (const role of schema.tenantRolesThatGrant(type, action)) {
				if (this.#inTenant.has(role) || addsAssignment(changes.add, undefined, role)) return true;
			}
		}
		return yield* this.holdsOneOf(schema.instanceRolesThatGrant(type, action), changes, work);
	}

	/** True for a stored user, and for a set of users, which needs no stored user. */
	get userExists(): boolean {
		return this.isOfSet || this.facts.hasUser(this.check.user);
	}

	/** True if the user exists after the changes. Other users hold only roles assigned to everyone. */
	#userExists({ add }: FactChanges): boolean {
		return this.userExists || add.some(({ fact }) => fact === 'user');
	}

	#tenantExists({ add }: FactChanges): boolean {
		return this.facts.tenants.has(this.check.tenant) || add.some(({ fact }) => fact === 'tenant');
	}

	/** True if the user holds any of these roles on the check's instance after the changes. */
	*holdsOneOf(roles: Iterable<string>, changes: FactChanges, work: WorkLimit): Steps<boolean> {
		const { facts, check } = this;
		const { tenant, instance } = check;
		if (instance === undefined || !this.#tenantExists(changes)) return false;
		if (!this.#userExists(changes) && this.#public.size === 0) return false;
		const added = changes.add.some(({ fact }) => fact === 'resource_instance');
		const home = facts.tenantKey(instance) ?? (added ? tenant : null);
		return home === tenant && (yield* this.#holdsOn(instance, roles, changes, work));
	}

	/** True if the user holds a role on a stored instance in the check's tenant after the changes. */
	holds({ role, instance }: RoleOnInstance, changes: FactChanges, work: WorkLimit): Steps<boolean> {
		return this.#holdsOn(instance, [role], changes, work);
	}

	*#holdsOn(instance: string, roles: Iterable<string>, changes: FactChanges, work: WorkLimit): Steps<boolean> {
		const { facts, time } = this;
		const { schema } = facts;
		const { add, remove } = changes;
		const exists = this.#userExists(changes);
		const walk = new RoleWalk(facts, time, work, this.counts);
		for (const role of roles) walk.visit({ role, instance });
		for (const { role, instance: object } of walk.nodes) {
			if (work.step()) yield;
			const computed = schema.computed(instanceType(object), role);
			if (computed !== undefined) {
				if (yield* this.#meets(object, computed.formula, changes, work)) return true;
				continue;
			}
			const held = exists ? rolesWith(this.assignedOn(object), object, add, remove) : nothing;
			if (held.has(role) || this.#isPublic(object, role)) return true;
			const open = schema
				.derivations(instanceType(object), role)
				.filter(
					(derivation) => (held.size === 0 && !this.#blocked.has(object)) || !derivation.no_direct_roles_on_object,
				);
			const reach = (derivation: Derivation, subject: string) =>
				walk.visit({ role: derivation.role, instance: subject });
			for (const fact of add) {
				if (fact.fact !== 'relationship_tuple' || fact.object !== object) continue;
				for (const derivation of open) {
					if (follows(derivation, fact.relation, fact.subject)) reach(derivation, fact.subject);
				}
			}
			yield* walk.followUpstream(object, open, reach);
		}
		return false;
	}

	/** True if the user's roles on an instance satisfy a formula after the changes. */
	*#meets(instance: string, formula: RoleFormula, changes: FactChanges, work: WorkLimit): Steps<boolean> {
		if (formula.kind === 'role') {
			return (yield* this.#holdsOn(instance, [formula.role], changes, work)) !== formula.negated;
		}
		for (const part of formula.parts) {
			const met = yield* this.#meets(instance, part, changes, work);
			if (met !== (formula.kind === 'all')) return met;
		}
		return formula.kind === 'all';
	}
}

function addsAssignment(add: readonly AttemptFact[], instance: string | undefined, role: string): boolean {
	return add.some(
		(fact) => fact.fact === 'role_assignment' && fact.resource_instance === instance && fact.role === role,
	);
}

/** Returns the roles assigned on an instance after the changes. */
function rolesWith(
	stored: ReadonlySet<string>,
	instance: string,
	add: readonly AttemptFact[],
	remove: readonly AttemptFact[],
): ReadonlySet<string> {
	if (add.length === 0 && remove.length === 0) return stored;
	const roles = new Set(stored);
	for (const fact of remove) {
		if (fact.fact === 'role_assignment' && fact.resource_instance === instance) roles.delete(fact.role);
	}
	for (const fact of add) {
		if (fact.fact === 'role_assignment' && fact.resource_instance === instance) roles.add(fact.role);
	}
	return roles;
}

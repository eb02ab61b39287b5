/** What a check would be if some facts were others: the facts of a revision, with few added and few removed. */

import type { Steps } from '../../../compiler/steps.js';
import type { AttemptFact } from '../../wire/decision/attempt.js';
import type { EngineInput } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceName, instanceType } from '../facts/instance-name.js';
import { RolesOnInstances } from '../facts/role-walk.js';
import type { WorkLimit } from './work-limit.js';

/** What a check is about, by names. */
export interface CheckNames {
	readonly user: string;
	readonly action: string;
	readonly type: string;
	readonly tenant: string;
	/** `<type>:<key>`; `undefined` when the check names no instance. */
	readonly instance: string | undefined;
}

/** The names in the input of a check. */
export function checkNames({ user, action, resource }: EngineInput): CheckNames {
	const { type, key, tenant } = resource;
	const instance = key === undefined ? undefined : instanceName({ type, key });
	return { user: user.key, action, type, tenant, instance };
}

const nothing: ReadonlySet<string> = new Set();

/** The facts that a check by roles is decided from, those of its user gathered beforehand. */
export class RoleFacts {
	readonly #inTenant = new Set<string>();
	readonly #assigned = new Map<string, Set<string>>();

	private constructor(
		readonly facts: FactsIndex,
		readonly check: CheckNames,
		readonly time: number,
	) {}

	/** Gathers what is assigned to the user of a check at `time`. Throws `WorkSpent` when that is too much. */
	static *gather(facts: FactsIndex, check: CheckNames, time: number, work: WorkLimit): Steps<RoleFacts> {
		const found = new RoleFacts(facts, check, time);
		for (const [tenant, role] of facts.tenantRoles.from(check.user, time)) {
			if (work.step()) yield;
			if (tenant === check.tenant) found.#inTenant.add(role);
		}
		for (const [instance, role] of facts.instanceRoles.from(check.user, time)) {
			if (work.step()) yield;
			const roles = found.#assigned.get(instance) ?? new Set();
			found.#assigned.set(instance, roles.add(role));
		}
		return found;
	}

	/** The roles that the user has in the tenant. */
	get inTenant(): ReadonlySet<string> {
		return this.#inTenant;
	}

	/** The instances on which the user has roles assigned, with these. */
	get assigned(): ReadonlyMap<string, ReadonlySet<string>> {
		return this.#assigned;
	}

	/** The roles that are assigned to the user on an instance. */
	assignedOn(instance: string): ReadonlySet<string> {
		return this.#assigned.get(instance) ?? nothing;
	}

	/** Whether roles allow the check once `add` is added and `remove` is removed. */
	*allowWith(add: readonly AttemptFact[], remove: readonly AttemptFact[], work: WorkLimit): Steps<boolean> {
		const { facts, check, time } = this;
		const { user, tenant, type, action, instance } = check;
		const { schema } = facts;
		if (!facts.hasUser(user) && !add.some(({ fact }) => fact === 'user')) return false;
		if (!facts.tenants.has(tenant) && !add.some(({ fact }) => fact === 'tenant')) return false;
		for (const role of schema.tenantRolesThatGrant(type, action)) {
			if (this.#inTenant.has(role) || addsAssignment(add, undefined, role)) return true;
		}
		if (instance === undefined) return false;
		const home = facts.tenantKey(instance) ?? (add.some(({ fact }) => fact === 'resource_instance') ? tenant : null);
		if (home !== tenant) return false;
		const seen = new RolesOnInstances();
		const nodes: (readonly [role: string, instance: string])[] = [];
		const visit = (role: string, on: string) => {
			if (seen.add(role, on)) nodes.push([role, on]);
		};
		for (const role of schema.instanceRolesThatGrant(type, action)) visit(role, instance);
		// The loop also visits nodes that are added while it runs.
		for (const [role, object] of nodes) {
			if (work.step()) yield;
			const held = rolesWith(this.assignedOn(object), object, add, remove);
			if (held.has(role)) return true;
			const open = schema
				.derivations(instanceType(object), role)
				.filter((derivation) => held.size === 0 || !derivation.no_direct_roles_on_object);
			if (open.length === 0) continue;
			const follow = (subject: string, relation: string) => {
				for (const derivation of open) {
					if (derivation.relation === relation && derivation.resource === instanceType(subject)) {
						visit(derivation.role, subject);
					}
				}
			};
			for (const fact of add) {
				if (fact.fact === 'relationship_tuple' && fact.object === object) follow(fact.subject, fact.relation);
			}
			for (const [subject, relation] of facts.relations.from(object, time)) {
				if (work.step()) yield;
				follow(subject, relation);
			}
		}
		return false;
	}
}

function addsAssignment(add: readonly AttemptFact[], instance: string | undefined, role: string): boolean {
	return add.some(
		(fact) => fact.fact === 'role_assignment' && fact.resource_instance === instance && fact.role === role,
	);
}

/** The roles that are assigned on an instance after the changes. */
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

/** Finds the users and objects affected by changed facts. */

import type { Touched } from '../../compiler/data/delta.js';
import type { Steps } from '../../compiler/steps.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceName, instanceType } from '../pdp/facts/instance-name.js';
import { leadingTo, RolesOnInstances } from '../pdp/facts/role-walk.js';
import type { StatePair } from './deciding-state.js';

/** Keys of the facts touched by a change. */
export type TouchedFacts = Pick<
	Touched,
	| 'tenants'
	| 'tenant_attributes'
	| 'memberships'
	| 'instances'
	| 'instance_assignments'
	| 'relationships'
	| 'user_attributes'
	| 'instance_attributes'
>;

/** Number of nodes and links visited between two pauses. */
const stride = 1_000;

const nowhere: ReadonlySet<string> = new Set();

/** Checks whose result may differ after facts have changed, as far as this is known without running the checks. */
export class TouchedChecks {
	/** Users with changed attributes, in any tenant. */
	readonly users: ReadonlySet<string>;
	/** Users who hold a role in some tenant in only one state. Conditions may use a user's tenants. */
	readonly tenantsOfUsers: ReadonlySet<string>;
	/** Users with changed roles, keyed by tenant, and the roles that each user holds in only one state. */
	readonly members: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
	/** Tenants that exist in only one state. */
	readonly tenants: ReadonlySet<string>;
	/** Tenants with changed attributes, including tenants that exist in only one state. */
	readonly tenantAttributes: ReadonlySet<string>;
	/** Instances with changes that conditions may see. */
	readonly instances: ReadonlySet<string>;
	/** Users whose roles on an instance may have changed, keyed by instance. */
	readonly holders: ReadonlyMap<string, readonly ReadonlySet<string>[]>;

	private constructor(
		states: StatePair,
		touched: TouchedFacts,
		time: number,
		holders: ReadonlyMap<string, readonly ReadonlySet<string>[]>,
	) {
		const { members, tenantsOfUsers } = changedMembers(states, touched.memberships, time);
		this.members = members;
		this.tenantsOfUsers = tenantsOfUsers;
		this.users = new Set(touched.user_attributes);
		this.tenants = new Set(touched.tenants);
		this.tenantAttributes = new Set([...touched.tenants, ...touched.tenant_attributes]);
		this.instances = new Set([...touched.instances, ...touched.instance_attributes].map(instanceName));
		this.holders = holders;
	}

	/**
	 * Finds the affected checks. Both states must already contain the touched facts, each with the values from its state.
	 */
	static *find(states: StatePair, touched: TouchedFacts, time: number): Steps<TouchedChecks> {
		const holders = new Holders(states, time);
		for (const { user, type, instance } of touched.instance_assignments) {
			yield* holders.touch(instanceName({ type, key: instance }), new Set([user]));
		}
		for (const row of touched.relationships) {
			const subject = instanceName({ type: row.subject_type, key: row.subject });
			const users = yield* holders.leadingTo(subject);
			if (users.size > 0) yield* holders.touch(instanceName({ type: row.type, key: row.instance }), users);
		}
		for (const name of touched.instances.map(instanceName)) holders.add(name, yield* holders.leadingTo(name));
		return new TouchedChecks(states, touched, time, holders.found);
	}
}

function changedMembers({ before, after }: StatePair, memberships: TouchedFacts['memberships'], time: number) {
	const members = new Map<string, Map<string, ReadonlySet<string>>>();
	const tenantsOfUsers = new Set<string>();
	for (const { user, tenant } of memberships) {
		const [held, holding] = [rolesIn(before.facts, user, tenant, time), rolesIn(after.facts, user, tenant, time)];
		const changed = [...held, ...holding].filter((role) => held.has(role) !== holding.has(role));
		if (changed.length === 0) continue;
		const users = members.get(tenant) ?? new Map<string, ReadonlySet<string>>();
		members.set(tenant, users.set(user, new Set(changed)));
		if (held.size === 0 || holding.size === 0) tenantsOfUsers.add(user);
	}
	return { members, tenantsOfUsers };
}

function rolesIn({ tenantRoles }: FactsIndex, user: string, tenant: string, time: number): ReadonlySet<string> {
	return new Set([...tenantRoles.from(user, time)].filter(([where]) => where === tenant).map(([, role]) => role));
}

/** Collects users whose roles may have changed, keyed by instance. */
class Holders {
	readonly found = new Map<string, ReadonlySet<string>[]>();
	readonly #leading = new Map<string, ReadonlySet<string>>();
	#visited = 0;

	constructor(
		private readonly states: StatePair,
		private readonly time: number,
	) {}

	add(instance: string, users: ReadonlySet<string>): void {
		if (users.size === 0) return;
		const known = this.found.get(instance);
		if (known === undefined) this.found.set(instance, [users]);
		else known.push(users);
	}

	/** Adds users to an instance, and to all instances whose roles may be derived from it, in either state. */
	*touch(instance: string, users: ReadonlySet<string>): Steps<void> {
		const reached = new Set<string>([instance]);
		for (const { facts } of [this.states.before, this.states.after]) yield* this.#reach(facts, instance, reached);
		for (const name of reached) this.add(name, users);
	}

	/** Returns all users who may hold any role on an instance, in either state. */
	*leadingTo(instance: string): Steps<ReadonlySet<string>> {
		const known = this.#leading.get(instance);
		if (known !== undefined) return known;
		const users = new Set<string>();
		for (const { facts } of [this.states.before, this.states.after]) {
			const roles = facts.schema.rolesOn(instanceType(instance));
			yield* addHolders(facts, { roles, instance, time: this.time }, users);
		}
		this.#leading.set(instance, users);
		return users;
	}

	/** Adds the instances that derivations reach from any role on an instance. */
	*#reach({ schema, relations }: FactsIndex, start: string, reached: Set<string>): Steps<void> {
		const seen = new RolesOnInstances();
		const nodes: (readonly [role: string, instance: string])[] = [];
		const visit = (role: string, instance: string) => {
			if (seen.add(role, instance)) nodes.push([role, instance]);
		};
		for (const role of schema.rolesOn(instanceType(start))) visit(role, start);
		// The loop also visits nodes added during iteration.
		for (const [role, instance] of nodes) {
			if (this.#pausing()) yield;
			reached.add(instance);
			const derived = schema.derivedFrom(instanceType(instance), role);
			if (derived.length === 0) continue;
			for (const [object, relation] of relations.to(instance, this.time)) {
				if (this.#pausing()) yield;
				for (const target of derived) {
					if (target.relation === relation && target.resource === instanceType(object)) visit(target.role, object);
				}
			}
		}
	}

	#pausing(): boolean {
		this.#visited += 1;
		return this.#visited % stride === 0;
	}
}

/** Roles on an instance at a time. */
interface HeldRoles {
	readonly roles: readonly string[];
	readonly instance: string;
	readonly time: number;
}

/**
 * Adds all users who may hold any of these roles on an instance, whether the role is assigned or derived. Ignores roles
 * that block a derivation, so the result may contain too many users but never too few.
 */
export function* addHolders(facts: FactsIndex, held: HeldRoles, users: Set<string>): Steps<void> {
	if (held.roles.length === 0) return;
	const { nodes } = yield* leadingTo(facts, held, nowhere);
	let visited = 0;
	for (const [role, on] of nodes) {
		for (const [user, assigned] of facts.instanceRoles.to(on, held.time)) {
			visited += 1;
			if (visited % stride === 0) yield;
			if (assigned === role) users.add(user);
		}
	}
}

/** Finds the users and objects affected by changed facts. */

import type { Touched } from '../../compiler/data/delta.js';
import { everyone } from '../../compiler/everyone.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceName, instanceType } from '../pdp/facts/instance-name.js';
import { anyRelationship, leadingTo, RoleWalk } from '../pdp/facts/role-walk.js';
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

const nowhere: ReadonlySet<string> = new Set();

/** Checks whose result may differ after facts have changed, found without running the checks. */
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
	/** Types of the changed instances, keyed by the instances' tenants in either state. */
	readonly typesIn: ReadonlyMap<string, ReadonlySet<string>>;
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
		this.typesIn = typesByTenant(states, this.instances);
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
		for (const [name, user] of assignmentsUnderTouched(states, touched, time)) {
			yield* holders.touch(name, new Set([user]));
		}
		for (const [object, subject, users] of relationshipsUnderTouched(states, touched, time)) {
			const leading = yield* holders.leadingTo(subject);
			const mayLead = (user: string) => leading.has(user) || leading.has(everyone);
			const affected = users === 'all' ? leading : new Set([...users].filter(mayLead));
			if (affected.size > 0) yield* holders.touch(object, affected);
		}
		return new TouchedChecks(states, touched, time, holders.found);
	}
}

/** Yields the assignments whose conditions may read touched attributes, roles or tenants. */
function* assignmentsUnderTouched({ before, after }: StatePair, touched: TouchedFacts, time: number) {
	const users = new Set([...touched.user_attributes, ...touched.memberships.map(({ user }) => user)]);
	const tenants = new Set([...touched.tenants, ...touched.tenant_attributes]);
	for (const { facts } of [before, after]) {
		for (const user of facts.conditionalRoles.leftNames) {
			for (const { instance } of facts.conditionalRoles.from(user, time)) {
				if (users.has(user) || tenants.has(facts.tenantKey(instance) ?? '')) yield [instance, user] as const;
			}
		}
	}
}

/**
 * Yields the conditional relationships whose conditions may read touched attributes, roles or tenants, with the users
 * whose results may differ.
 */
function* relationshipsUnderTouched({ before, after }: StatePair, touched: TouchedFacts, time: number) {
	const users = new Set([...touched.user_attributes, ...touched.memberships.map(({ user }) => user)]);
	const tenants = new Set([...touched.tenants, ...touched.tenant_attributes]);
	if (users.size === 0 && tenants.size === 0) return;
	for (const { facts } of [before, after]) {
		for (const name of facts.conditionalRelations.leftNames) {
			const isTouched = tenants.has(facts.tenantKey(name) ?? '');
			for (const { object, subject } of facts.conditionalRelations.from(name, time)) {
				yield [object, subject, isTouched ? ('all' as const) : users] as const;
			}
		}
	}
}

function typesByTenant({ before, after }: StatePair, instances: Iterable<string>) {
	const types = new Map<string, Set<string>>();
	for (const instance of instances) {
		for (const { facts } of [before, after]) {
			const tenant = facts.tenantKey(instance);
			if (tenant === undefined) continue;
			types.set(tenant, (types.get(tenant) ?? new Set()).add(instanceType(instance)));
		}
	}
	return types;
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
	readonly #pauses = new Pauses();

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
	*#reach(facts: FactsIndex, start: string, reached: Set<string>): Steps<void> {
		const walk = new RoleWalk(facts, this.time, this.#pauses, anyRelationship);
		for (const role of facts.schema.rolesOn(instanceType(start))) walk.visit({ role, instance: start });
		for (const node of walk.nodes) {
			if (this.#pauses.step()) yield;
			reached.add(node.instance);
			for (const { role, operands } of facts.schema.computedOn(instanceType(node.instance))) {
				if (operands.includes(node.role)) walk.visit({ role, instance: node.instance });
			}
			yield* walk.followDownstream(node, ({ role }, object) => walk.visit({ role, instance: object }));
		}
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
	const pauses = new Pauses();
	for (const { role, instance } of nodes) {
		for (const [user, assigned] of facts.instanceRoles.to(instance, held.time)) {
			if (pauses.step()) yield;
			if (assigned === role) users.add(user);
		}
		for (const [user, assigned] of facts.conditionalRoles.to(instance, held.time)) {
			if (assigned.role === role) users.add(user);
		}
	}
}

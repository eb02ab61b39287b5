/** Finds checks whose result may differ between two states of an environment: possibly too many, never too few. */

import { everyone } from '../../compiler/everyone.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceName, parseInstanceName } from '../pdp/facts/instance-name.js';
import type { StatePair } from './deciding-state.js';
import { type ActionDifference, compareSchemas, type SchemaDifference, type Selectable } from './schema-difference.js';
import { addHolders, TouchedChecks, type TouchedFacts } from './touched-facts.js';

/** Object of a check: a resource type in a tenant, or an instance in its tenant. */
export interface Place {
	readonly type: string;
	/** `undefined` for checks on the type without an instance. */
	readonly key: string | undefined;
	readonly tenant: string;
}

/** A change between two states. */
export interface StateChange extends StatePair {
	/** Facts touched by the change; `null` if they are unknown, so every check may differ. */
	readonly touched: TouchedFacts | null;
}

/** Receives a check. Returns true to continue the search. */
export type TakeCheck = (user: string, action: string, place: Place) => boolean;

/**
 * Calls `take` once with every check that may differ at `time`, in milliseconds since 1970: first resource types in
 * tenants, then instances. Ends early and returns false if `take` returns false.
 */
export function* forEachCandidate(change: StateChange, time: number, take: TakeCheck): Steps<boolean> {
	const finder = yield* CandidateFinder.prepare(change, time);
	const pauses = new Pauses(500);
	for (const place of finder.places()) {
		if (pauses.step()) yield;
		for (const difference of finder.actionsAt(place)) {
			for (const user of yield* finder.usersAt(place, difference)) {
				if (!take(user, difference.action, place)) return false;
				yield;
			}
		}
	}
	return true;
}

const nobody: ReadonlySet<string> = new Set();

class CandidateFinder {
	readonly #states: readonly FactsIndex[];
	/** All users and, if roles are assigned to everyone, `everyone`, which represents users who are not stored. */
	readonly #everyUser: readonly string[];
	/** Users who hold any role in a set, keyed by the role set and then by tenant. */
	readonly #members = new Map<ReadonlySet<string>, Map<string, ReadonlySet<string>>>();
	/** Actions whose grants differ between the states, keyed by resource type. */
	readonly #different: ReadonlyMap<string, readonly ActionDifference[]>;

	private constructor(
		{ before, after }: StatePair,
		private readonly schema: SchemaDifference,
		/** `null` if every check may differ. */
		private readonly touched: TouchedChecks | null,
		private readonly time: number,
	) {
		this.#states = [before.facts, after.facts];
		const isPublic = this.#states.some(({ hasPublicRoles }) => hasPublicRoles);
		this.#everyUser = [...new Set([...before.facts.users, ...after.facts.users, ...(isPublic ? [everyone] : [])])];
		this.#different = new Map([...schema.actions].map(([type, actions]) => [type, actions.filter(isDifferent)]));
	}

	static *prepare(change: StateChange, time: number): Steps<CandidateFinder> {
		const { before, after } = change;
		const touched = change.touched && (yield* TouchedChecks.find(change, change.touched, time));
		const schema = compareSchemas(before.facts.schema, after.facts.schema, touched === null);
		return new CandidateFinder(change, schema, touched, time);
	}

	/** Yields all places in both states. An instance that moved to a different tenant is included in both tenants. */
	*places(): Iterable<Place> {
		const [before, after] = this.#states;
		for (const tenant of new Set(this.#states.flatMap(({ tenants }) => [...tenants.keys()]))) {
			for (const type of this.schema.actions.keys()) yield { type, key: undefined, tenant };
		}
		for (const facts of this.#states) {
			for (const name of facts.instances) {
				const tenant = facts.tenantKey(name);
				if (tenant === undefined || (facts === after && before?.tenantKey(name) === tenant)) continue;
				yield { ...parseInstanceName(name), tenant };
			}
		}
	}

	/** Returns the actions that may differ for any user at a place. */
	actionsAt(place: Place): readonly ActionDifference[] {
		const actions = this.#isTouched(place) ? this.schema.actions : this.#different;
		return actions.get(place.type) ?? [];
	}

	#isTouched({ type, key, tenant }: Place): boolean {
		const { touched, schema } = this;
		if (touched === null || touched.users.size > 0 || touched.tenantAttributes.has(tenant)) return true;
		if (this.#isRelatedTouched(tenant)) return true;
		if (touched.members.has(tenant) || (schema.asksForTenants && touched.tenantsOfUsers.size > 0)) return true;
		if (key === undefined) return false;
		const name = instanceName({ type, key });
		return touched.holders.has(name) || touched.instances.has(name);
	}

	/** True if instances in the tenant have changed that conditions on other objects may read. */
	#isRelatedTouched(tenant: string): boolean {
		const types = this.touched?.typesIn.get(tenant) ?? [];
		return [...types].some((type) => this.schema.relatedTypes.has(type));
	}

	/** Returns the users with a possibly different result for an action at a place, without duplicates. */
	*usersAt(place: Place, difference: ActionDifference): Steps<Iterable<string>> {
		if (this.touched === null) return this.#everyUser;
		const found = [
			yield* this.#membersWith(difference.changedTenantRoles, place.tenant),
			...this.#touchedMembers(place, difference),
			...(yield* this.#holders(place, difference)),
		];
		for (const selectable of this.#selectableAt(place, difference)) {
			if (selectable === 'everybody') return this.#everyUser;
			found.push(yield* this.#membersWith(selectable, place.tenant));
		}
		found.push(...(yield* this.#touchedSelectable(place, difference)));
		if (found.some((users) => users.has(everyone))) return this.#everyUser;
		const several = found.filter(({ size }) => size > 0);
		return several.length < 2 ? (several[0] ?? nobody) : new Set(several.flatMap((users) => [...users]));
	}

	/**
	 * Returns the users that the policy may select differently. Returns all selectable users if conditions may see the
	 * place differently.
	 */
	#selectableAt({ type, key, tenant }: Place, difference: ActionDifference): readonly Selectable[] {
		const { touched } = this;
		const differs =
			touched?.tenants.has(tenant) ||
			this.#isRelatedTouched(tenant) ||
			(key !== undefined && touched?.instances.has(instanceName({ type, key })));
		return [difference.newlySelectable, ...(differs ? [difference.selectable] : [])];
	}

	/** Returns users whose attributes, as seen by conditions, may differ at a place. */
	*#touchedSelectable({ tenant }: Place, { selectable }: ActionDifference): Steps<readonly ReadonlySet<string>[]> {
		const { touched, schema } = this;
		if (touched === null || isNobody(selectable)) return [];
		return [
			touched.users,
			schema.asksForTenants ? touched.tenantsOfUsers : nobody,
			new Set(touched.members.get(tenant)?.keys()),
			// A tenant's attributes only matter for users with a role in the tenant.
			touched.tenantAttributes.has(tenant) ? yield* this.#membersWith(null, tenant) : nobody,
		];
	}

	/** Returns users with changed roles in the tenant, if a changed role grants the action. */
	#touchedMembers({ tenant }: Place, { tenantRoles }: ActionDifference): readonly ReadonlySet<string>[] {
		const members = [...(this.touched?.members.get(tenant) ?? [])];
		const users = members.filter(([, roles]) => [...roles].some((role) => tenantRoles.has(role)));
		return [new Set(users.map(([user]) => user))];
	}

	/**
	 * Returns users whose roles on the instance may have changed, and users who hold a role with changed grants on the
	 * instance.
	 */
	*#holders({ type, key }: Place, difference: ActionDifference): Steps<readonly ReadonlySet<string>[]> {
		if (key === undefined || difference.instanceRoles.size === 0) return [];
		const instance = instanceName({ type, key });
		const touched = this.touched?.holders.get(instance) ?? [];
		if (difference.changedInstanceRoles.size === 0) return touched;
		const users = new Set<string>();
		const roles = [...difference.changedInstanceRoles];
		for (const facts of this.#states) yield* addHolders(facts, { roles, instance, time: this.time }, users);
		return [...touched, users];
	}

	/** Returns users with any of the roles in a tenant, in either state. `null` means any role. */
	*#membersWith(roles: ReadonlySet<string> | null, tenant: string): Steps<ReadonlySet<string>> {
		if (roles?.size === 0) return nobody;
		const byTenant = this.#members.get(roles ?? nobody) ?? new Map<string, ReadonlySet<string>>();
		this.#members.set(roles ?? nobody, byTenant);
		const known = byTenant.get(tenant);
		if (known !== undefined) return known;
		const found = new Set<string>();
		const pauses = new Pauses(500);
		for (const facts of this.#states) {
			for (const [user, role] of facts.tenantRoles.to(tenant, this.time)) {
				if (pauses.step()) yield;
				if (roles?.has(role) ?? true) found.add(user);
			}
		}
		byTenant.set(tenant, found);
		return found;
	}
}

function isDifferent({ changedTenantRoles, changedInstanceRoles, newlySelectable }: ActionDifference): boolean {
	return changedTenantRoles.size > 0 || changedInstanceRoles.size > 0 || !isNobody(newlySelectable);
}

function isNobody(selectable: Selectable): boolean {
	return selectable !== 'everybody' && selectable.size === 0;
}

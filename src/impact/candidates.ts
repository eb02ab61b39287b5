/** The checks that may come out differently in two states of an environment: more than do, and never less. */

import type { Steps } from '../../compiler/steps.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceName, parseInstanceName } from '../pdp/facts/instance-name.js';
import type { StatePair } from './deciding-state.js';
import { type ActionDifference, compareSchemas, type SchemaDifference, type Selectable } from './schema-difference.js';
import { addHolders, TouchedChecks, type TouchedFacts } from './touched-facts.js';

/** What checks are about: a resource type in a tenant, or an instance in its tenant. */
export interface Place {
	readonly type: string;
	/** `undefined` for the type without an instance. */
	readonly key: string | undefined;
	readonly tenant: string;
}

/** A change from one state to another. */
export interface StateChange extends StatePair {
	/** What of the facts was touched; `null` for who knows: then every check may come out differently. */
	readonly touched: TouchedFacts | null;
}

/** Takes one check. Returns whether it wants more. */
export type TakeCheck = (user: string, action: string, place: Place) => boolean;

/** How many places are looked at between two pauses. */
const stride = 500;

/**
 * Calls `take` with every check that may come out differently at `time`, in milliseconds since 1970, each once: those
 * of resource types in tenants first, then those of instances. Ends early when `take` returns false; false says so.
 */
export function* forEachCandidate(change: StateChange, time: number, take: TakeCheck): Steps<boolean> {
	const finder = yield* CandidateFinder.prepare(change, time);
	let visited = 0;
	for (const place of finder.places()) {
		visited += 1;
		if (visited % stride === 0) yield;
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
	readonly #everyUser: readonly string[];
	/** The users with some roles in a tenant, by the set of roles and the tenant. */
	readonly #members = new Map<ReadonlySet<string>, Map<string, ReadonlySet<string>>>();
	/** By resource type: the actions of which what grants them differs. */
	readonly #different: ReadonlyMap<string, readonly ActionDifference[]>;

	private constructor(
		{ before, after }: StatePair,
		private readonly schema: SchemaDifference,
		/** `null` when every check may come out differently. */
		private readonly touched: TouchedChecks | null,
		private readonly time: number,
	) {
		this.#states = [before.facts, after.facts];
		this.#everyUser = [...new Set([...before.facts.users, ...after.facts.users])];
		this.#different = new Map([...schema.actions].map(([type, actions]) => [type, actions.filter(isDifferent)]));
	}

	static *prepare(change: StateChange, time: number): Steps<CandidateFinder> {
		const { before, after } = change;
		const touched = change.touched && (yield* TouchedChecks.find(change, change.touched, time));
		const schema = compareSchemas(before.facts.schema, after.facts.schema, touched === null);
		return new CandidateFinder(change, schema, touched, time);
	}

	/** Everything that checks can be about in either state. An instance that changed its tenant is asked for in both. */
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

	/** The actions that may come out differently for somebody at a place. */
	actionsAt(place: Place): readonly ActionDifference[] {
		const actions = this.#isTouched(place) ? this.schema.actions : this.#different;
		return actions.get(place.type) ?? [];
	}

	#isTouched({ type, key, tenant }: Place): boolean {
		const { touched, schema } = this;
		if (touched === null || touched.users.size > 0 || touched.tenantAttributes.has(tenant)) return true;
		if (touched.members.has(tenant) || (schema.asksForTenants && touched.tenantsOfUsers.size > 0)) return true;
		if (key === undefined) return false;
		const name = instanceName({ type, key });
		return touched.holders.has(name) || touched.instances.has(name);
	}

	/** The users for whom an action may come out differently at a place, each once. */
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
		const several = found.filter(({ size }) => size > 0);
		return several.length < 2 ? (several[0] ?? nobody) : new Set(several.flatMap((users) => [...users]));
	}

	/** Whom the policy may select otherwise, or anybody where what it knows of the place differs. */
	#selectableAt({ type, key, tenant }: Place, difference: ActionDifference): readonly Selectable[] {
		const { touched } = this;
		const differs =
			touched?.tenants.has(tenant) || (key !== undefined && touched?.instances.has(instanceName({ type, key })));
		return [difference.newlySelectable, ...(differs ? [difference.selectable] : [])];
	}

	/** Users of whom conditions know something else at a place. */
	*#touchedSelectable({ tenant }: Place, { selectable }: ActionDifference): Steps<readonly ReadonlySet<string>[]> {
		const { touched, schema } = this;
		if (touched === null || isNobody(selectable)) return [];
		return [
			touched.users,
			schema.asksForTenants ? touched.tenantsOfUsers : nobody,
			new Set(touched.members.get(tenant)?.keys()),
			// Only who holds a role in a tenant is compared with its attributes.
			touched.tenantAttributes.has(tenant) ? yield* this.#membersWith(null, tenant) : nobody,
		];
	}

	/** Users who hold other roles in the tenant, of which one grants the action. */
	#touchedMembers({ tenant }: Place, { tenantRoles }: ActionDifference): readonly ReadonlySet<string>[] {
		const members = [...(this.touched?.members.get(tenant) ?? [])];
		const users = members.filter(([, roles]) => [...roles].some((role) => tenantRoles.has(role)));
		return [new Set(users.map(([user]) => user))];
	}

	/** Users who may hold other roles on the instance, or roles there that grant otherwise. */
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

	/** Users with any of these roles in a tenant, in either state; with any role at all for `null`. */
	*#membersWith(roles: ReadonlySet<string> | null, tenant: string): Steps<ReadonlySet<string>> {
		if (roles?.size === 0) return nobody;
		const byTenant = this.#members.get(roles ?? nobody) ?? new Map<string, ReadonlySet<string>>();
		this.#members.set(roles ?? nobody, byTenant);
		const known = byTenant.get(tenant);
		if (known !== undefined) return known;
		const found = new Set<string>();
		let visited = 0;
		for (const facts of this.#states) {
			for (const [user, role] of facts.tenantRoles.to(tenant, this.time)) {
				visited += 1;
				if (visited % stride === 0) yield;
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

/** Who may do an action on a resource, and by which assignments: proposed by the index, decided by the policy. */

import { z } from 'zod';
import type { AuthorizedUsers } from '../wire/check.js';
import type { Deciding } from './decide.js';
import type { Steps } from './engine/steps.js';
import type { FactsIndex } from './facts.js';
import { typeOf } from './instance-name.js';
import { objectOf } from './json-pieces.js';
import { listed } from './listed.js';
import type { UsersInput } from './normalise.js';
import { inPortions, sortedBy } from './portions.js';
import { type Leading, leadingTo } from './role-walk.js';

type Assignment = AuthorizedUsers['users'][string][number];

const Keys = z.array(z.string());
/** How many assignments are gone through between two pauses. */
const stride = 1_000;
const nowhere: ReadonlySet<string> = new Set();

/**
 * Lists the users that a check of the action on the resource allows, as the JSON of `AuthorizedUsers`: sorted by key, each with the assignments of roles
 * that grant it: in the tenant, or on the resource, or on instances from which the role there is derived. Without a key
 * of the resource these are roles in the tenant only. Users whom conditions alone allow, who are listed when the context
 * asks for them, have no assignments. Throws `Failure` (`unavailable`) when the policy gives no listing.
 */
export function* authorizedUsers({ engine, facts }: Deciding, input: UsersInput): Steps<readonly string[]> {
	const { type, key, tenant } = input.resource;
	const granting = new Granting();
	yield* assignedInTenant(facts, input, granting);
	if (key !== undefined) yield* assignedOnInstances(facts, input, granting);
	const users: [user: string, json: string][] = [];
	const candidates = yield* sortedBy(asksSets(facts, input) ? facts.users : granting.users(), (user) => user);
	yield* inPortions(candidates, (part) => {
		const allowed = listed(engine, 'authorized_users', { ...input, users: part }, Keys);
		for (const user of allowed) users.push([user, JSON.stringify(granting.of(user))]);
	});
	const about = JSON.stringify({ resource: `${type}:${key ?? '*'}`, tenant });
	return [`${about.slice(0, -1)},"users":`, ...(yield* objectOf(users)), '}'];
}

/** Whether anybody may be allowed by condition sets, and the question is about those too. */
function asksSets({ schema }: FactsIndex, { action, resource, context }: UsersInput): boolean {
	return context?.['enable_abac_authorized_users'] === true && schema.setsMayGrant(resource.type, action);
}

/** Assignments by the users that they are of. */
class Granting {
	readonly #byUser = new Map<string, Assignment[]>();

	add(assignment: Assignment): void {
		const known = this.#byUser.get(assignment.user) ?? [];
		this.#byUser.set(assignment.user, known);
		known.push(assignment);
	}

	users(): Iterable<string> {
		return this.#byUser.keys();
	}

	/** Sorted by resource, then role. */
	of(user: string): Assignment[] {
		const rows = (this.#byUser.get(user) ?? []).map((row) => ({
			row,
			order: JSON.stringify([row.resource, row.role]),
		}));
		return rows.sort((left, right) => (left.order < right.order ? -1 : 1)).map(({ row }) => row);
	}
}

function* assignedInTenant(facts: FactsIndex, input: UsersInput, granting: Granting): Steps<void> {
	const { action, resource } = input;
	const { type, tenant } = resource;
	const roles = new Set(facts.schema.tenantRolesThatGrant(type, action));
	if (roles.size === 0) return;
	let visited = 0;
	for (const [user, role] of facts.tenantRoles.to(tenant)) {
		visited += 1;
		if (visited % stride === 0) yield;
		if (roles.has(role)) granting.add({ user, tenant, resource: `__tenant:${tenant}`, role });
	}
}

function* assignedOnInstances(facts: FactsIndex, input: UsersInput, granting: Granting): Steps<void> {
	const { type, key, tenant } = input.resource;
	const instance = `${type}:${key}`;
	if (facts.tenantOf(instance) !== tenant) return;
	const roles = facts.schema.instanceRolesThatGrant(type, input.action);
	const leading = yield* leadingTo(facts, roles, instance, nowhere);
	const leadingFor = yield* withStops(facts, leading, (assigned) => leadingTo(facts, roles, instance, assigned));
	let visited = 0;
	for (const [role, on] of leading.nodes) {
		visited += 1;
		if (visited % stride === 0) yield;
		for (const [user, held] of facts.instanceRoles.to(on)) {
			visited += 1;
			if (visited % stride === 0) yield;
			if (held === role && (leadingFor.get(user) ?? leading).seen.has(role, on)) {
				granting.add({ user, tenant, resource: on, role: `${typeOf(on)}#${role}` });
			}
		}
	}
}

/**
 * What leads there for the users for whom it is less, because roles that they have on the way stop derivations. Users
 * who have roles on the same instances are stopped in the same way.
 */
function* withStops(
	facts: FactsIndex,
	{ stops }: Leading,
	leadingWith: (assigned: ReadonlySet<string>) => Steps<Leading>,
): Steps<ReadonlyMap<string, Leading>> {
	const stoppedAt = new Map<string, Set<string>>();
	let visited = 0;
	for (const stop of stops) {
		for (const [user] of facts.instanceRoles.to(stop)) {
			visited += 1;
			if (visited % stride === 0) yield;
			const known = stoppedAt.get(user) ?? new Set();
			stoppedAt.set(user, known.add(stop));
		}
	}
	const byStops = new Map<string, Leading>();
	const found = new Map<string, Leading>();
	for (const [user, assigned] of stoppedAt) {
		const name = JSON.stringify([...assigned]);
		const leading = byStops.get(name) ?? (yield* leadingWith(assigned));
		byStops.set(name, leading);
		found.set(user, leading);
	}
	return found;
}

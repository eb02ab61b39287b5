/**
 * Lists the users who may do an action on a resource, with their granting assignments. The index proposes candidates,
 * and the policy decides.
 */

import { z } from 'zod';
import type { Steps } from '../../../compiler/steps.js';
import type { AuthorizedUsers } from '../../wire/decision/check.js';
import type { DecisionContext } from '../decide/decide.js';
import type { UsersInput } from '../decide/normalise.js';
import { forEachChunk, sortedBy } from '../engine/chunks.js';
import { objectChunks } from '../engine/json-chunks.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceType } from '../facts/instance-name.js';
import { type Leading, leadingTo } from '../facts/role-walk.js';
import { evaluateListing } from './evaluate-listing.js';

type Assignment = AuthorizedUsers['users'][string][number];

const Keys = z.array(z.string());
/** Number of assignments visited between two pauses. */
const stride = 1_000;
const nowhere: ReadonlySet<string> = new Set();

/**
 * Lists the users allowed by a check, as `AuthorizedUsers` JSON, sorted by key. Each user has the granting assignments:
 * in the tenant, on the resource, or on instances from which a role is derived. Without a resource key, considers only
 * roles in the tenant. If the context asks for users allowed by conditions alone, lists these users without
 * assignments. Throws `Failure` (`unavailable`) if the policy returns no listing.
 */
export function* authorizedUsers(context: DecisionContext, input: UsersInput): Steps<readonly string[]> {
	const { engine, facts, time } = context;
	const { type, key, tenant } = input.resource;
	const granting = yield* assignmentsThatMayGrant(context, input);
	const users: [user: string, json: string][] = [];
	const candidates = yield* sortedBy(asksForSets(facts, input) ? facts.users : granting.users(), (user) => user);
	yield* forEachChunk(candidates, (part) => {
		const allowed = evaluateListing(engine, 'authorized_users', { ...input, time, users: part }, Keys);
		for (const user of allowed) users.push([user, JSON.stringify(granting.sortedAssignments(user))]);
	});
	const about = JSON.stringify({ resource: `${type}:${key ?? '*'}`, tenant });
	return [`${about.slice(0, -1)},"users":`, ...(yield* objectChunks(users)), '}'];
}

/**
 * Returns the keys of all users that a check may allow, in any order. Returns all users if conditions may grant the
 * action, and otherwise the users with a role that may grant it.
 */
export function* usersWhoMay(context: DecisionContext, input: UsersInput): Steps<Iterable<string>> {
	const { schema, users } = context.facts;
	if (schema.setsMayGrant(input.resource.type, input.action)) return users;
	return (yield* assignmentsThatMayGrant(context, input)).users();
}

/** Returns the assignments that grant the action, unless a role on the path blocks a derivation. */
function* assignmentsThatMayGrant(context: DecisionContext, input: UsersInput): Steps<Granting> {
	const granting = new Granting();
	yield* assignedInTenant(context, input, granting);
	if (input.resource.key !== undefined) yield* assignedOnInstances(context, input, granting);
	return granting;
}

/** True if condition sets may allow users, and the context asks for such users. */
function asksForSets({ schema }: FactsIndex, { action, resource, context }: UsersInput): boolean {
	return context?.['enable_abac_authorized_users'] === true && schema.setsMayGrant(resource.type, action);
}

/** Assignments, keyed by user. */
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

	/** Returns a user's assignments, sorted by resource, then role. */
	sortedAssignments(user: string): Assignment[] {
		const rows = (this.#byUser.get(user) ?? []).map((row) => ({
			row,
			order: JSON.stringify([row.resource, row.role]),
		}));
		return rows.sort((left, right) => (left.order < right.order ? -1 : 1)).map(({ row }) => row);
	}
}

function* assignedInTenant({ facts, time }: DecisionContext, input: UsersInput, granting: Granting): Steps<void> {
	const { action, resource } = input;
	const { type, tenant } = resource;
	const roles = new Set(facts.schema.tenantRolesThatGrant(type, action));
	if (roles.size === 0) return;
	let visited = 0;
	for (const [user, role] of facts.tenantRoles.to(tenant, time)) {
		visited += 1;
		if (visited % stride === 0) yield;
		if (roles.has(role)) granting.add({ user, tenant, resource: `__tenant:${tenant}`, role });
	}
}

function* assignedOnInstances(context: DecisionContext, input: UsersInput, granting: Granting): Steps<void> {
	const { facts, time } = context;
	const { type, key, tenant } = input.resource;
	const instance = `${type}:${key}`;
	if (facts.tenantKey(instance) !== tenant) return;
	const roles = facts.schema.instanceRolesThatGrant(type, input.action);
	const destination = { roles, instance, time };
	const leading = yield* leadingTo(facts, destination, nowhere);
	const leadingFor = yield* leadingWithStops(context, leading, (assigned) => leadingTo(facts, destination, assigned));
	let visited = 0;
	for (const [role, on] of leading.nodes) {
		visited += 1;
		if (visited % stride === 0) yield;
		for (const [user, held] of facts.instanceRoles.to(on, time)) {
			visited += 1;
			if (visited % stride === 0) yield;
			if (held === role && (leadingFor.get(user) ?? leading).seen.has(role, on)) {
				granting.add({ user, tenant, resource: on, role: `${instanceType(on)}#${role}` });
			}
		}
	}
}

/**
 * Finds the leading nodes for each user whose assigned roles block derivations. Users with roles on the same blocking
 * instances share a result.
 */
function* leadingWithStops(
	{ facts, time }: DecisionContext,
	{ stops }: Leading,
	leadingWith: (assigned: ReadonlySet<string>) => Steps<Leading>,
): Steps<ReadonlyMap<string, Leading>> {
	const stoppedAt = new Map<string, Set<string>>();
	let visited = 0;
	for (const stop of stops) {
		for (const [user] of facts.instanceRoles.to(stop, time)) {
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

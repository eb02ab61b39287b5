/**
 * Lists the users who may perform an action on a resource, with their granting assignments. Uses set operations on the
 * facts index, and the policy confirms a sample.
 */

import { z } from 'zod';
import { everyone } from '../../../compiler/everyone.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { AuthorizedUsers } from '../../wire/decision/check.js';
import type { DecisionContext } from '../decide/decide.js';
import type { UsersInput } from '../decide/normalise.js';
import { forEachChunk, sortedBy } from '../engine/chunks.js';
import { objectChunks } from '../engine/json-chunks.js';
import { NeedsEngine } from '../facts/compiled-sets.js';
import { conditionSetsIn } from '../facts/condition-sets.js';
import type { SentAttributes } from '../facts/condition-subject.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { instanceType } from '../facts/instance-name.js';
import { type Leading, leadingTo } from '../facts/role-walk.js';
import { EffectivePaths } from './effective-paths.js';
import { evaluateListing } from './evaluate-listing.js';
import { answerWithReferee, randomItems, sampleSize } from './referee.js';
import { userTest } from './user-test.js';

type Assignment = AuthorizedUsers['users'][string][number];

const Keys = z.array(z.string());
const nowhere: ReadonlySet<string> = new Set();
/** Represents the set of all instances. */
const everywhere: Pick<ReadonlySet<string>, 'has'> = { has: () => true };

/**
 * Lists the users allowed by a check, as `AuthorizedUsers` JSON, sorted by key. Each user has the granting assignments:
 * in the tenant, on the resource, or on instances from which a role is derived. Without a resource key, considers only
 * roles in the tenant. For a rule that acts like a role, the granting assignments are the assignments behind its
 * required roles. If the context requests users allowed only by other conditions, lists these users without
 * assignments. If roles assigned to everyone grant the action to all users, lists `everyone` and the users with their
 * own assignments. Throws `Failure` (`unavailable`) if the policy returns no listing.
 */
export function* authorizedUsers(context: DecisionContext, input: UsersInput): Steps<readonly string[]> {
	const { facts } = context;
	const { type, key, tenant } = input.resource;
	const byRoles = yield* assignmentsThatMayGrant(context, input);
	const likeRoles = yield* grantedLikeRoles(context, input);
	const assigned = new Set([...byRoles.users(), ...likeRoles.granting.users()]);
	const isPublic = assigned.has(everyone);
	// While a newer policy is pending, a rule may allow `everyone` but not all other users.
	const byUser = isPublic && facts.pending;
	const bySets = !isPublic && asksForSets(facts, input);
	const allowed = yield* answerWithReferee(context, {
		fromFacts: () => {
			requireExact(byRoles);
			requireExact(likeRoles.granting);
			return usersFromFacts(context, input, assigned, bySets);
		},
		isRight: (users) => agreesWithEngine(context, input, users),
		byEngine: () =>
			usersByEngine(context, input, bySets || byUser ? facts.users : [...assigned, ...likeRoles.candidates]),
	});
	const assignments = (user: string) => (byRoles.has(user) ? byRoles : likeRoles.granting).sortedAssignments(user);
	const users: [user: string, json: string][] = [];
	yield* forEachChunk(yield* sortedBy(allowed, (user) => user), (part) => {
		for (const user of part) users.push([user, JSON.stringify(assignments(user))]);
	});
	const about = JSON.stringify({ resource: `${type}:${key ?? '*'}`, tenant });
	return [`${about.slice(0, -1)},"users":`, ...(yield* objectChunks(users)), '}'];
}

/** Returns the allowed users among `candidates`. */
function* usersByEngine(
	{ engine, time }: DecisionContext,
	input: UsersInput,
	candidates: Iterable<string>,
): Steps<ReadonlySet<string>> {
	const allowed = new Set<string>();
	yield* forEachChunk([...candidates], (users) => {
		for (const user of evaluateListing(engine, 'authorized_users', { ...input, time, users }, Keys)) allowed.add(user);
	});
	return allowed;
}

/** Returns the users with granting assignments, and with `bySets` all users allowed by condition sets. */
function* usersFromFacts(
	{ facts, time }: DecisionContext,
	input: UsersInput,
	assigned: ReadonlySet<string>,
	bySets: boolean,
): Steps<ReadonlySet<string>> {
	const allowed = new Set(assigned);
	const selects = bySets ? userTest(facts, input, time) : undefined;
	const pauses = new Pauses();
	for (const user of selects === undefined ? [] : facts.users) {
		if (pauses.step()) yield;
		if (!allowed.has(user) && selects?.(user, undefined)) allowed.add(user);
	}
	return allowed;
}

/** Throws `NeedsEngine` if an assignment alone may not suffice, or if only the engine can decide a condition. */
function requireExact({ computes, isUncertain }: Granting): void {
	if (computes) throw new NeedsEngine('a computed role may grant the action');
	if (isUncertain) throw new NeedsEngine('a grant condition contains a regular expression');
}

/** Compares a sample of listed and unlisted users with the engine. */
function* agreesWithEngine(context: DecisionContext, input: UsersInput, allowed: ReadonlySet<string>): Steps<boolean> {
	const users = [...randomItems([...allowed], sampleSize / 2), ...context.facts.randomUsers(sampleSize / 2)];
	if (users.length === 0) return true;
	const byEngine = yield* usersByEngine(context, input, new Set(users));
	const isPublic = allowed.has(everyone);
	return users.every((user) => byEngine.has(user) === (isPublic || allowed.has(user)));
}

/** Users that a check may allow. */
export interface UsersWhoMay {
	/** All users if conditions may grant the action; otherwise the users with a role that grants the action. Unsorted. */
	readonly users: Iterable<string>;
	/** Returns the users with a role that grants the action. Throws `NeedsEngine` if only the engine can decide. */
	readonly byRoles: () => ReadonlySet<string>;
}

/** Returns the users a check may allow. `sent` contains the user attributes in the check. */
export function* usersWhoMay(context: DecisionContext, input: UsersInput, sent: SentAttributes): Steps<UsersWhoMay> {
	const { facts } = context;
	const granting = yield* assignmentsThatMayGrant(context, input, sent);
	const byRoles = new Set(granting.has(everyone) ? facts.users : granting.users());
	return {
		users: facts.schema.setsMayGrant(input.resource.type, input.action) ? facts.users : byRoles,
		byRoles: () => {
			requireExact(granting);
			return byRoles;
		},
	};
}

/**
 * Returns the assignments that grant the action, unless a role on the path blocks a derivation. For a computed role,
 * returns the assignments of its required roles, and of all roles from which the required roles are derived.
 */
function* assignmentsThatMayGrant(context: DecisionContext, input: UsersInput, sent?: SentAttributes): Steps<Granting> {
	const granting = new Granting();
	yield* assignedInTenant(context, input, granting);
	const { type, key } = input.resource;
	const roles = context.facts.schema.instanceRolesThatGrant(type, input.action);
	if (key !== undefined) yield* assignedOnInstances(context, { ...input, sent }, roles, granting);
	return granting;
}

/** The assignments behind rules that act like roles. */
interface GrantedLikeRoles {
	/** Users that a rule selects, with the assignments behind the roles that the rule requires. */
	readonly granting: Granting;
	/** Holders of the required roles: rules select no other users. */
	readonly candidates: ReadonlySet<string>;
}

/** Finds the users that rules select by their roles on the resource alone. */
function* grantedLikeRoles(context: DecisionContext, input: UsersInput): Steps<GrantedLikeRoles> {
	const { facts } = context;
	const granting = new Granting();
	const candidates = new Set<string>();
	const { type, key } = input.resource;
	const rules =
		key === undefined || input.context?.['pdp_type'] === 'cloud'
			? []
			: conditionSetsIn(facts.schema).rulesLikeRoles(type, input.action);
	const held = new Map<string, Granting>();
	const listed = new Set<string>();
	for (const role of new Set(rules.flatMap(({ named }) => [...named]))) {
		const holding = new Granting();
		yield* assignedOnInstances(context, input, [role], holding);
		granting.isUncertain ||= holding.isUncertain;
		held.set(role, holding);
	}
	const pauses = new Pauses();
	for (const { required, named, excludes, grants } of rules) {
		const holds = (user: string, role: string) => held.get(role)?.has(user) || held.get(role)?.has(everyone);
		const rolesOf = (user: string) => new Set([...named].filter((role) => holds(user, role)));
		const holders = new Set([...required].flatMap((role) => [...(held.get(role)?.users() ?? [])]));
		if (holders.has(everyone) && (excludes || !grants(rolesOf(everyone)))) {
			// The roles assigned to everyone satisfy the rule only for some users.
			holders.delete(everyone);
			for (const user of facts.users) holders.add(user);
		}
		for (const user of holders) {
			if (pauses.step()) yield;
			candidates.add(user);
			if ([...named].some((role) => held.get(role)?.computes)) granting.computes = true;
			else if (!grants(rolesOf(user))) continue;
			const assignments = [user, everyone].flatMap((holder) =>
				[...required].flatMap((role) => held.get(role)?.sortedAssignments(holder) ?? []),
			);
			// Several required roles may be derived from the same assignment, and several rules may require the same role.
			for (const assignment of assignments) {
				if (listed.size !== listed.add(JSON.stringify([user, assignment])).size) granting.add(assignment, user);
			}
		}
	}
	return { granting, candidates };
}

/** True if condition sets may allow users, and the context requests such users. */
function asksForSets({ schema }: FactsIndex, { action, resource, context }: UsersInput): boolean {
	return context?.['enable_abac_authorized_users'] === true && schema.setsMayGrant(resource.type, action);
}

/** Assignments, keyed by user. */
class Granting {
	readonly #byUser = new Map<string, Assignment[]>();
	/** True if a user may need several of the assignments. */
	computes = false;
	/** True if only the engine can decide for some users, because a condition contains a regular expression. */
	isUncertain = false;

	/** Adds a user for the engine to decide. */
	consider(user: string): void {
		this.isUncertain = true;
		if (!this.#byUser.has(user)) this.#byUser.set(user, []);
	}

	/** Adds an assignment, to the user by default. An assignment to everyone may grant to a single user. */
	add(assignment: Assignment, user = assignment.user): void {
		const known = this.#byUser.get(user) ?? [];
		this.#byUser.set(user, known);
		known.push(assignment);
	}

	users(): Iterable<string> {
		return this.#byUser.keys();
	}

	has(user: string): boolean {
		return this.#byUser.has(user);
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
	const pauses = new Pauses();
	for (const [user, role] of facts.tenantRoles.to(tenant, time)) {
		if (pauses.step()) yield;
		if (roles.has(role)) granting.add({ user, tenant, resource: `__tenant:${tenant}`, role });
	}
}

/** Adds the assignments of the roles on an instance, and of all roles from which the roles are derived or computed. */
function* assignedOnInstances(
	{ facts, time }: DecisionContext,
	{ resource, context, sent }: UsersInput & { readonly sent?: SentAttributes },
	roles: readonly string[],
	granting: Granting,
): Steps<void> {
	const { type, key, tenant } = resource;
	const instance = `${type}:${key}`;
	if (facts.tenantKey(instance) !== tenant) return;
	const destination = { roles, instance, time };
	const leading = yield* leadingTo(facts, destination, nowhere);
	granting.computes = leading.computes;
	const conditions = new GrantConditions(facts, { user: { key: '' }, context }, time);
	const stoppedAt = yield* instancesWithStops({ facts, time }, leading);
	const byStops = new Map<string, Leading>();
	const paths = new EffectivePaths(leading, { roles, instance });
	/**
	 * True if the user holds one of the roles because of `role` on `on`: none of the user's roles blocks the path, and the
	 * relationships on the path count.
	 */
	function* leadsFor(user: string, role: string, on: string): Steps<boolean> {
		const stops = stoppedAt.get(user) ?? nowhere;
		if (leading.conditional) {
			conditions.setUser(user, sent);
			const leads = yield* paths.lead({ role, instance: on }, { user, stops, conditions });
			if (conditions.uncertain) granting.consider(user);
			conditions.uncertain = false;
			return leads;
		}
		if (stops.size === 0) return true;
		const name = JSON.stringify([...stops]);
		const found = byStops.get(name) ?? (yield* leadingTo(facts, destination, stops));
		byStops.set(name, found);
		return found.seen.has(role, on);
	}
	const isSameForAll = leading.stops.size === 0 && !leading.conditional;
	const unstoppable = isSameForAll ? leading : yield* leadingTo(facts, destination, everywhere, () => false);
	const pauses = new Pauses();
	for (const { role, instance: on } of leading.nodes) {
		if (pauses.step()) yield;
		for (const [user, held] of facts.instanceRoles.to(on, time)) {
			if (pauses.step()) yield;
			if (held !== role) continue;
			const assignment = { user, tenant, resource: on, role: `${instanceType(on)}#${role}` };
			if (user !== everyone) {
				if (yield* leadsFor(user, role, on)) granting.add(assignment);
			} else if (!leading.computes && unstoppable.seen.has(role, on)) {
				granting.add(assignment);
			} else {
				// The role may not grant access to all users: a user's own role can block a derivation on the path, a relationship
				// can be conditional, or a computed role can exclude this role.
				for (const key of facts.users) {
					if (pauses.step()) yield;
					if (yield* leadsFor(key, role, on)) granting.add(assignment, key);
				}
			}
		}
		for (const [user, grant] of facts.conditionalRoles.to(on, time)) {
			// A condition may take a thousand times longer than the condition before it.
			yield;
			if (grant.role !== role || !(yield* leadsFor(user, role, on))) continue;
			conditions.setUser(user, sent);
			const { set, values } = grant;
			const assignment = {
				user,
				tenant,
				resource: on,
				role: `${instanceType(on)}#${role}`,
				condition: { set, values },
			};
			if (conditions.holds(grant)) granting.add(assignment);
			else if (conditions.uncertain) granting.consider(user);
			conditions.uncertain = false;
		}
	}
}

/** Finds the instances on which each user's assigned roles block derivations. */
function* instancesWithStops(
	{ facts, time }: Pick<DecisionContext, 'facts' | 'time'>,
	{ stops }: Leading,
): Steps<ReadonlyMap<string, ReadonlySet<string>>> {
	const stoppedAt = new Map<string, Set<string>>();
	const pauses = new Pauses();
	for (const stop of stops) {
		for (const [user] of facts.instanceRoles.to(stop, time)) {
			if (pauses.step()) yield;
			const known = stoppedAt.get(user) ?? new Set();
			stoppedAt.set(user, known.add(stop));
		}
		for (const [user] of facts.conditionalRoles.to(stop, time)) {
			if (pauses.step()) yield;
			stoppedAt.set(user, (stoppedAt.get(user) ?? new Set()).add(stop));
		}
	}
	return stoppedAt;
}

/** Finds how a check passes or could pass: the content of `debug.attempts`. */

import type { Json } from '../../../compiler/model.js';
import type { Steps } from '../../../compiler/steps.js';
import { grantOf, isSetRelation } from '../../../compiler/user-set.js';
import type { Attempt, AttemptFact } from '../../wire/decision/attempt.js';
import type { AuthorizationResult } from '../../wire/decision/check.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import type { EngineInput } from '../engine/engine.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { roleAttempts } from './role-attempts.js';
import { checkNames, type FactChanges, RoleFacts } from './role-facts.js';
import { maxChanges, setAttempts } from './set-attempts.js';
import { SetFacts } from './set-facts.js';
import { WorkLimit, WorkSpent } from './work-limit.js';

/** Maximum number of attempts per check. */
export const maxAttempts = 50;

/**
 * Maximum number of nodes, links and comparisons visited to find attempts by roles. Reading the condition set rules and
 * searching them have separate budgets of the same size.
 */
const stepsToFind = 50_000;

/** Maximum number of steps to verify that attempts suffice and are minimal. */
const stepsToVerify = 200_000;

/** Context for finding attempts. */
export type AttemptContext = Pick<DecisionContext, 'facts' | 'revision' | 'policyRevision' | 'time'>;

export interface Attempts {
	readonly attempts: readonly Attempt[];
	/** True if there may be more attempts. */
	readonly truncated: boolean;
	/** False if no role and no condition set rule grants the action on the resource type. */
	readonly granted: boolean;
	/**
	 * Roles that the user holds on the instance and that a user set or a computed role excludes, as `<type>:<key>#<role>`;
	 * absent if none.
	 */
	readonly blocking_roles?: readonly string[];
}

/** Result if the sufficient changes are unknown, for example because the active policy lacks a grant for the action. */
const unknown: Attempts = { attempts: [], truncated: true, granted: true };

/**
 * Like `decide` with reasons, plus attempts. Adds no attempts if the environment is deleted, the data is too old, or
 * the check cannot be evaluated, because no facts would change the decision.
 */
export function* decideWithAttempts(context: DecisionContext, input: EngineInput): Steps<AuthorizationResult> {
	const decided = decide(context, input, true);
	yield;
	const { debug } = decided;
	if (typeof debug !== 'object' || debug === null || !('request' in debug)) return decided;
	const found = yield* findAttempts(context, { input, allowed: decided.allow, reasons: debug });
	return { ...decided, debug: { ...debug, ...found } };
}

export interface DecidedCheck {
	readonly input: EngineInput;
	readonly allowed: boolean;
	/** Reasons, as returned by the policy. */
	readonly reasons: unknown;
}

/**
 * Finds the attempts for a check. If the check is allowed, returns the passing attempts, which need no changes. If the
 * check is denied, returns attempts that would pass with other facts, fewest changes first. The changes in an attempt
 * suffice, and no proper subset of these changes does. Takes a bounded number of steps.
 */
export function* findAttempts(
	{ facts, revision, policyRevision, time }: AttemptContext,
	{ input, allowed, reasons }: DecidedCheck,
): Steps<Attempts> {
	const { schema } = facts;
	const [type, action] = [input.resource.type, input.action];
	if (revision !== policyRevision || facts.pendingAt('actions', type, action) !== undefined) return unknown;
	const granted =
		schema.setsMayGrant(type, action) ||
		[schema.tenantRolesThatGrant(type, action), schema.instanceRolesThatGrant(type, action)].some(
			({ length }) => length > 0,
		);
	if (!granted) return { attempts: [], truncated: false, granted };
	const work = new WorkLimit(stepsToFind);
	const found: Attempt[] = [];
	let truncated = false;
	let blocking: Pick<Attempts, 'blocking_roles'> = {};
	let world: World | undefined;
	const conditions = new GrantConditions(facts, { user: input.user, context: input.context }, time);
	try {
		const roles = yield* RoleFacts.gather(facts, checkNames(input), time, {
			work,
			conditions,
			holdings: input.user.holdings,
		});
		const sets = yield* SetFacts.read(roles, { input, reasons }, new WorkLimit(stepsToFind));
		if (sets === 'too_large') truncated = true;
		// If the tenant does not exist, adding only the tenant could suffice, because the skipped sets might allow the check.
		if (sets === 'too_large' && !facts.tenants.has(roles.check.tenant)) return unknown;
		world = { roles, sets: sets === 'too_large' ? undefined : sets };
		const byRoles = yield* roleAttempts(roles, allowed, work);
		found.push(...byRoles.attempts);
		truncated ||= byRoles.more;
		const blocked = new Set(byRoles.blocking);
		if (world.sets !== undefined) {
			const bySets = yield* setAttempts(world.sets, allowed, new WorkLimit(stepsToFind));
			found.push(...bySets.attempts);
			truncated ||= bySets.more;
			for (const role of bySets.blocking ?? []) blocked.add(role);
		}
		const { instance } = roles.check;
		if (blocked.size > 0) blocking = { blocking_roles: [...blocked].sort().map((role) => `${instance}#${role}`) };
	} catch (error) {
		if (!(error instanceof WorkSpent)) throw error;
		truncated = true;
	}
	truncated ||= conditions.uncertain;
	const sorted = (input.user.holdings === undefined ? found : found.filter(keepsHolder)).toSorted(inOrder);
	if (!allowed && world !== undefined) {
		const { attempts, truncated: more } = yield* verified(world, sorted, truncated);
		return { attempts: attempts.map(withSetGrants), truncated: more, granted, ...blocking };
	}
	return { attempts: sorted.slice(0, maxAttempts), truncated: truncated || sorted.length > maxAttempts, granted };
}

/**
 * True if an attempt changes neither the user nor their roles and attributes. For a set of users, only other changes
 * are possible: a set holds a single role, and has no attributes.
 */
function keepsHolder({ add, remove, compare }: Attempt): boolean {
	return (
		remove.length === 0 &&
		add.every(({ fact }) => fact !== 'user' && fact !== 'role_assignment') &&
		compare.every(({ change }) => !change.startsWith('user.'))
	);
}

/** Converts an attempt's tuples of hidden relations to assignments to sets of users. */
function withSetGrants({ add, ...attempt }: Attempt): Attempt {
	return { ...attempt, add: add.map(asSetGrant) };
}

function asSetGrant(fact: AttemptFact): AttemptFact {
	if (fact.fact !== 'relationship_tuple' || !isSetRelation(fact.relation)) return fact;
	const { subject, relation, object, tenant } = fact;
	return { fact: 'role_assignment', ...grantOf(subject, relation), tenant, resource_instance: object };
}

/** Facts used to verify attempts. */
interface World {
	readonly roles: RoleFacts;
	/** `undefined` if no condition set rule can allow the check, or if there are too many rules. */
	readonly sets: SetFacts | undefined;
}

/** Returns the attempts that suffice and are minimal. */
function* verified(world: World, proposed: readonly Attempt[], more: boolean): Steps<Omit<Attempts, 'granted'>> {
	const attempts: Attempt[] = [];
	const work = new WorkLimit(stepsToVerify);
	let truncated = more;
	try {
		for (const attempt of proposed) {
			if (attempts.length === maxAttempts) return { attempts, truncated: true };
			if (attemptChanges(attempt).length > maxChanges) truncated = true;
			else if (yield* isMinimal(world, attempt, work)) attempts.push(attempt);
		}
	} catch (error) {
		if (!(error instanceof WorkSpent)) throw error;
		truncated = true;
	}
	return { attempts, truncated };
}

type Change =
	| { readonly kind: 'add' | 'remove'; readonly fact: AttemptFact }
	| { readonly kind: 'change'; readonly attribute: string; readonly value: Json };

/**
 * Returns the changes in an attempt: each fact to add or remove, and each attribute to change. A single attribute
 * change satisfies all comparisons of the attribute.
 */
function attemptChanges({ add, remove, compare }: Attempt): readonly Change[] {
	const values = new Map(compare.map(({ change, example }) => [change, example as Json]));
	return [
		...add.map((fact) => ({ kind: 'add' as const, fact })),
		...remove.map((fact) => ({ kind: 'remove' as const, fact })),
		...Array.from(values, ([attribute, value]) => ({ kind: 'change' as const, attribute, value })),
	];
}

/** True if the attempt's changes suffice and no proper subset of the changes does. */
function* isMinimal(world: World, attempt: Attempt, work: WorkLimit): Steps<boolean> {
	const changes = attemptChanges(attempt);
	if (!(yield* allows(world, changes, work))) return false;
	const all = (1 << changes.length) - 1;
	for (let part = 1; part < all; part += 1) {
		const chosen = changes.filter((_, place) => (part & (1 << place)) !== 0);
		if (yield* allows(world, chosen, work)) return false;
	}
	return true;
}

/** True if the check would be allowed after the changes. */
function* allows({ roles, sets }: World, changes: readonly Change[], work: WorkLimit): Steps<boolean> {
	const facts = (kind: Change['kind']) =>
		changes.flatMap((change) => (change.kind === kind && 'fact' in change ? [change.fact] : []));
	const factChanges: FactChanges = { add: facts('add'), remove: facts('remove') };
	if (yield* roles.allowWith(factChanges, work)) return true;
	if (sets === undefined || !(sets.nameRoles || changes.some(concernsSets))) return false;
	const values = new Map(
		changes.flatMap((change) => (change.kind === 'change' ? [[change.attribute, change.value] as const] : [])),
	);
	return yield* sets.allowWith(factChanges, values, work);
}

/** True if a change may affect condition sets, even if they name no roles on the resource. */
function concernsSets(change: Change): boolean {
	if (change.kind === 'change') return true;
	const { fact } = change;
	return fact.fact === 'tenant' || (fact.fact === 'role_assignment' && fact.resource_instance === undefined);
}

const kinds: readonly Attempt['by'][] = ['role_in_tenant', 'role_on_instance', 'set_rule'];

/** Orders by number of changes, then by kind, then by chain length. */
function inOrder(left: Attempt, right: Attempt): number {
	return (
		attemptChanges(left).length - attemptChanges(right).length ||
		kinds.indexOf(left.by) - kinds.indexOf(right.by) ||
		left.chain.length - right.chain.length
	);
}

/** Finds the grants of a filter: tenants by roles, keys by roles on instances, and residuals by condition sets. */

import { z } from 'zod';
import type { PatternMatcher } from '../../../compiler/condition/operator.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import { FilterRefusal } from '../../filter/residual.js';
import type { DecisionContext } from '../decide/decide.js';
import type { FilterInput } from '../decide/normalise.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { instanceType, parseInstanceName } from '../facts/instance-name.js';
import { rolesOnInstances, type UserRoles } from '../facts/role-walk.js';
import { evaluateListing } from '../listing/evaluate-listing.js';
import { rulesOfAction } from './rules-of-action.js';
import { type KeysByRole, SetResiduals, type TenantGroup } from './set-residuals.js';

/** An instance on which the user holds granting roles. */
export interface GrantedKey {
	/** Number of the instance in the facts index. */
	readonly instance: number;
	readonly key: string;
	readonly roles: readonly string[];
}

/** Rows that a user may act on. Tenants and instances are numbers in the facts index. */
export interface GrantedRows {
	/** Tenants in which a role grants all rows, with the granting roles. */
	readonly tenants: ReadonlyMap<number, readonly string[]>;
	/** Keys granted by roles on instances, by tenant. Tenants in `tenants` are omitted. */
	readonly keys: ReadonlyMap<number, readonly GrantedKey[]>;
	/** Rows granted by condition sets. Tenants in `tenants` are omitted. */
	readonly groups: readonly TenantGroup[];
	/** Roles that the user holds on instances, by the number of the instance. */
	readonly held: ReadonlyMap<number, readonly string[]>;
	/** Earliest expiry that may change the rows, in milliseconds since 1970; `undefined` if there is none. */
	readonly expiry: number | undefined;
	/** True if conditions read the check time. */
	readonly readTime: boolean;
}

/** A request for rows, whose resource type and action exist. */
interface RowsRequest {
	readonly input: FilterInput;
	/** Tenant of the request, as a number in the facts index. */
	readonly given: number | undefined;
	readonly matches: PatternMatcher;
}

export function* grantedRows(context: DecisionContext, { input, given, matches }: RowsRequest): Steps<GrantedRows> {
	const { facts, time } = context;
	const { action, resource } = input;
	const rules = yield* rulesOfAction(facts, input);
	const sets = new SetResiduals(rules, context, input, matches);
	const evaluatesSets = rules.rules.length > 0 && input.context?.['pdp_type'] !== 'cloud';
	const expiry = new FirstExpiry();
	const confirms = confirmingEngine(context, input);
	const granting = new Set(facts.schema.tenantRolesThatGrant(resource.type, action));
	const tenants = new Map<number, string[]>();
	const members = new Set<number>();
	const pauses = new Pauses();
	const user = facts.names.number(input.user.key) ?? -1;
	let until = Number.POSITIVE_INFINITY;
	/** Latest expiry among the granting roles, by tenant. */
	const lastExpiries = new Map<number, number>();
	const note = (expires: number) => {
		until = expires;
	};
	// Condition sets and grant conditions may compare the user's tenants and roles.
	const areCompared =
		evaluatesSets || facts.conditionalRoles.has(input.user.key) || !facts.conditionalRelations.isEmpty;
	for (const [tenant, role] of facts.tenantRoles.numbersFrom(user, time, note)) {
		if (pauses.step()) yield;
		const expires = until;
		until = Number.POSITIVE_INFINITY;
		members.add(tenant);
		if (areCompared) expiry.note(expires);
		const key = facts.names.text(role);
		if (!granting.has(key) || (given !== undefined && given !== tenant)) continue;
		if (facts.pending) yield;
		if (!confirms(facts.names.text(tenant), undefined)) continue;
		lastExpiries.set(tenant, Math.max(expires, lastExpiries.get(tenant) ?? 0));
		const roles = tenants.get(tenant);
		if (roles === undefined) tenants.set(tenant, [key]);
		else roles.push(key);
	}
	for (const expires of lastExpiries.values()) expiry.note(expires);
	const keys = new Map<number, GrantedKey[]>();
	const onInstances = new Set(facts.schema.instanceRolesThatGrant(resource.type, action));
	const conditions = new GrantConditions(facts, { user: input.user, context: input.context }, time);
	const named = evaluatesSets ? rules.rolesNamed : new Set<string>();
	const walked =
		onInstances.size === 0 && named.size === 0
			? noRoles
			: yield* rolesOnInstances(facts, input.user, time, { note: expiry.note, conditions });
	if (walked.uncertain) throw new FilterRefusal('roles', 'filter', uncertainText);
	const { held } = walked;
	for (const [instance, all] of held) {
		if (pauses.step()) yield;
		const tenant = facts.instanceTenants.at(instance);
		if (tenant === undefined || tenants.has(tenant) || (given !== undefined && given !== tenant)) continue;
		const name = facts.names.text(instance);
		if (instanceType(name) !== resource.type) continue;
		if (facts.pending) yield;
		const roles = all.filter((role) => onInstances.has(role));
		const { key } = parseInstanceName(name);
		if (roles.length === 0 || !confirms(facts.names.text(tenant), key)) continue;
		const found = keys.get(tenant);
		if (found === undefined) keys.set(tenant, [{ instance, key, roles }]);
		else found.push({ instance, key, roles });
	}
	const byRole = yield* keysByRole(context, input, walked, named);
	const groups = evaluatesSets ? yield* sets.groups({ given, members, open: tenants }, byRole) : [];
	const readTime = (evaluatesSets && sets.readTime) || conditions.readTime;
	return { tenants, keys, held, groups, expiry: expiry.first, readTime };
}

const uncertainText = 'a role of the user depends on a condition with a regular expression; use listings or checks';

const noRoles: UserRoles = { held: new Map(), reached: new Map() };

const RolesOfInstances = z.array(z.object({ roles: z.array(z.string()) }));

/**
 * Finds, for each role in `named`, the instances of the type on which the user holds the role. While a newer schema's
 * policy is pending, the engine decides which of the reached roles the user holds, because the active policy may lack
 * some derivations.
 */
function* keysByRole(
	{ engine, facts, time }: DecisionContext,
	{ user, context, resource: { type } }: FilterInput,
	{ held, reached }: UserRoles,
	named: ReadonlySet<string>,
): Steps<KeysByRole> {
	const found = new Map<number, Map<string, string[]>>();
	if (named.size === 0) return found;
	const rolesByPolicy = (key: string) => {
		const question = { user, instances: [{ type, key }], time, ...(context === undefined ? {} : { context }) };
		return evaluateListing(engine, 'instance_permissions', question, RolesOfInstances)[0]?.roles ?? [];
	};
	const pauses = new Pauses();
	for (const [instance, all] of facts.pending ? reached : held) {
		if (pauses.step()) yield;
		const name = facts.names.text(instance);
		const tenant = facts.instanceTenants.at(instance);
		if (tenant === undefined || instanceType(name) !== type || !all.some((role) => named.has(role))) continue;
		const { key } = parseInstanceName(name);
		const keys = found.get(tenant) ?? new Map<string, string[]>();
		found.set(tenant, keys);
		if (facts.pending) yield;
		for (const role of facts.pending ? rolesByPolicy(key) : all) {
			if (!named.has(role)) continue;
			const known = keys.get(role);
			if (known === undefined) keys.set(role, [key]);
			else known.push(key);
		}
	}
	return found;
}

/** First of several expiries. */
class FirstExpiry {
	#first = Number.POSITIVE_INFINITY;

	readonly note = (expires: number): void => {
		this.#first = Math.min(this.#first, expires);
	};

	/** In milliseconds since 1970; `undefined` if nothing expires. */
	get first(): number | undefined {
		return this.#first === Number.POSITIVE_INFINITY ? undefined : this.#first;
	}
}

/**
 * Returns a test that is true if the active policy grants a role's rows. While a newer schema's policy is pending for
 * the action, only the engine can decide.
 */
function confirmingEngine({ engine, facts, time }: DecisionContext, { user, action, resource, context }: FilterInput) {
	const { type } = resource;
	if (facts.pendingAt('actions', type, action) === undefined) return () => true;
	return (tenant: string, key: string | undefined) => {
		const asked = { type, tenant, ...(key === undefined ? {} : { key }) };
		const input = {
			user,
			action,
			resource: asked,
			conditions: false,
			time,
			...(context === undefined ? {} : { context }),
		};
		return engine.evaluate('regolith/check/code', input) === 'allow';
	};
}

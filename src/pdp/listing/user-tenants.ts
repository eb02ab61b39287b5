/** Lists the tenants where a user holds a role, from the facts index. The policy confirms a sample of conditions. */

import { z } from 'zod';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { DecisionContext } from '../decide/decide.js';
import type { PermissionsInput } from '../decide/normalise.js';
import { forEachChunk, forEachItem, sortedBy } from '../engine/chunks.js';
import type { Holdings } from '../engine/engine.js';
import { arrayChunks } from '../engine/json-chunks.js';
import { NeedsEngine } from '../facts/compiled-sets.js';
import type { ConditionalRole } from '../facts/conditional-facts.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { parseInstanceName } from '../facts/instance-name.js';
import { evaluateListing } from './evaluate-listing.js';
import { answerWithReferee, randomItems, sampleSize } from './referee.js';

type TenantsInput = Pick<PermissionsInput, 'user' | 'context'>;

const Tenants = z.array(z.object({ key: z.string() }));

/**
 * Returns the tenants where a user holds a role, in the tenant or assigned on an instance there, sorted by key, as
 * `UserTenants` JSON. Throws `Failure` (`unavailable`) if the policy returns no listing.
 */
export function* userTenants(context: DecisionContext, input: TenantsInput): Steps<readonly string[]> {
	const { facts } = context;
	const { holdings } = input.user;
	// Only a set of users has holdings here, because these listings accept no contextual facts.
	const tenants = holdings === undefined ? yield* tenantsWithRoles(context, input) : tenantsOfSet(facts, holdings);
	const sorted = yield* sortedBy(tenants, (key) => key);
	const texts: string[] = [];
	yield* forEachChunk(sorted, (chunk) => {
		for (const key of chunk) texts.push(JSON.stringify({ key, attributes: facts.tenants.get(key) }));
	});
	return yield* arrayChunks(texts);
}

/**
 * Returns the tenants where a user holds a role, in the tenant or assigned on an instance there. Derived roles add no
 * tenants, because instance roles are derived within one tenant. Throws like `userTenants`.
 */
export function* tenantsWithRoles(context: DecisionContext, input: TenantsInput): Steps<ReadonlySet<string>> {
	const { facts, time } = context;
	const { key } = input.user;
	const found = new Set<string>();
	if (!facts.hasUser(key)) return found;
	const pauses = new Pauses();
	for (const [tenant] of facts.tenantRoles.from(key, time)) {
		if (pauses.step()) yield;
		found.add(tenant);
	}
	for (const [instance] of facts.instanceRoles.from(key, time)) {
		if (pauses.step()) yield;
		const tenant = facts.tenantKey(instance);
		if (tenant !== undefined) found.add(tenant);
	}
	const undecided: ConditionalRole[] = [];
	for (const grant of facts.conditionalRoles.from(key, time)) {
		if (pauses.step()) yield;
		const tenant = facts.tenantKey(grant.instance);
		if (tenant !== undefined && !found.has(tenant)) undecided.push(grant);
	}
	if (undecided.length === 0) return found;
	for (const tenant of yield* tenantsByConditions(context, input, undecided)) found.add(tenant);
	return found;
}

/** Returns the tenants of the instances with a conditional assignment that counts. */
function tenantsByConditions(
	context: DecisionContext,
	input: TenantsInput,
	grants: readonly ConditionalRole[],
): Steps<ReadonlySet<string>> {
	const { engine, facts, time } = context;
	const { user, context: sent } = input;
	const instances = [...new Set(grants.map(({ instance }) => instance))];
	const conditions = new GrantConditions(facts, { user, context: sent }, time);
	/**
	 * Returns the instance's tenant if the user holds a conditional role on the instance. Policies from older versions
	 * ignore `instances` and return all the user's tenants.
	 */
	const byEngine = (instance: string) => {
		const question = { user, instances: [parseInstanceName(instance)], time, ...(sent && { context: sent }) };
		return evaluateListing(engine, 'user_tenants', question, Tenants).map(({ key }) => key);
	};
	return answerWithReferee<ReadonlySet<string>>(context, {
		*fromFacts() {
			const found = new Set<string>();
			// A condition may take a thousand times longer than the condition before it.
			yield* forEachItem(grants, (grant) => {
				const tenant = facts.tenantKey(grant.instance) ?? '';
				if (!found.has(tenant) && conditions.holds(grant)) found.add(tenant);
				if (conditions.uncertain) throw new NeedsEngine('a condition of an assignment contains a regular expression');
			});
			return found;
		},
		*isRight(found) {
			for (const sampled of randomItems(instances, sampleSize)) {
				yield;
				const isHeld = grants.some((grant) => grant.instance === sampled && conditions.holds(grant));
				const expected = isHeld ? facts.tenantKey(sampled) : undefined;
				yield;
				const [decided] = byEngine(sampled);
				if (decided !== expected || (decided !== undefined && !found.has(decided))) return false;
			}
			return true;
		},
		*byEngine() {
			const found = new Set<string>();
			yield* forEachItem(instances, (instance) => {
				if (found.has(facts.tenantKey(instance) ?? '')) return;
				for (const tenant of byEngine(instance)) found.add(tenant);
			});
			return found;
		},
	});
}

/** Returns the tenants with instances on which a set of users holds its role. */
function tenantsOfSet(facts: FactsIndex, holdings: Holdings): ReadonlySet<string> {
	const held = Object.entries(holdings).flatMap(([type, roles]) =>
		Object.entries(roles).flatMap(([role, on]) => (facts.schema.rolesOn(type).includes(role) ? Object.keys(on) : [])),
	);
	return new Set(held.flatMap((instance) => facts.tenantKey(instance) ?? []));
}

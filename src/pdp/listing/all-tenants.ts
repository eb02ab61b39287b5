/** Runs a check in many tenants. */

import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { Query } from '../../wire/decision/check.js';
import { checkInput } from '../decide/contextual-facts.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise } from '../decide/normalise.js';
import { forEachItem, sortedBy } from '../engine/chunks.js';
import { arrayChunks } from '../engine/json-chunks.js';
import { instanceName } from '../facts/instance-name.js';
import { tenantsWithRoles } from './permissions.js';

/**
 * Returns the tenants in which a check is allowed, sorted by key, as JSON for the list in `AllowedTenants`. Each check
 * is logged.
 */
export function* allowedTenants(
	context: DecisionContext,
	query: Query,
	mode: Mode,
	explain: boolean,
): Steps<readonly string[]> {
	const { facts } = context;
	const tenants = facts.hasUser(query.user.key) ? yield* tenantsOf(context, query, mode) : facts.tenants.keys();
	const allowed: string[] = [];
	yield* forEachItem(yield* sortedBy(tenants, (tenant) => tenant), (key) => {
		const asked = { ...query, resource: { ...query.resource, tenant: key } };
		const result = decide(context, checkInput(context, asked, mode), explain);
		const tenant = { key, attributes: facts.tenants.get(key) ?? {} };
		if (result.allow) allowed.push(JSON.stringify({ tenant, ...result }));
	});
	return yield* arrayChunks(allowed);
}

/**
 * Returns the tenants where a user holds a role, in the tenant or on its instances, like `/user-tenants`. Includes
 * contextual facts' tenants and, if public roles exist, the instance's tenant. The policy decides assignment
 * conditions.
 */
function* tenantsOf(context: DecisionContext, query: Query, mode: Mode): Steps<ReadonlySet<string>> {
	const { facts, time } = context;
	const { contextual_facts } = query;
	const input = normalise(query, time, mode);
	const { type, key } = input.resource;
	const user = input.user.key;
	const found = new Set<string>();
	const pauses = new Pauses();
	const visit = (tenant: string | undefined) => {
		if (tenant !== undefined) found.add(tenant);
		return pauses.step();
	};
	for (const [tenant] of facts.tenantRoles.from(user, time)) if (visit(tenant)) yield;
	for (const [instance] of facts.instanceRoles.from(user, time)) if (visit(facts.tenantKey(instance))) yield;
	if (facts.conditionalRoles.has(user)) {
		for (const tenant of tenantsWithRoles(context, input)) if (visit(tenant.key)) yield;
	}
	for (const { resource_instance } of contextual_facts?.role_assignments ?? [])
		visit(facts.tenantKey(resource_instance));
	if (key && facts.hasPublicRoles) visit(facts.tenantKey(instanceName({ type, key })));
	return found;
}

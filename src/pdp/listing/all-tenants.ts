/** Runs a check in many tenants. */

import type { Steps } from '../../../compiler/steps.js';
import type { Query } from '../../wire/decision/check.js';
import { checkInput } from '../decide/contextual-facts.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise } from '../decide/normalise.js';
import { forEachItem, sortedBy } from '../engine/chunks.js';
import { arrayChunks } from '../engine/json-chunks.js';
import { instanceName } from '../facts/instance-name.js';
import { tenantsWithRoles } from './user-tenants.js';

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
 * Returns the tenants where a user holds a role, in the tenant or on its instances, like `/user-tenants`. Also includes
 * the tenants of contextual role assignments and, if public roles exist, the tenant of the checked instance.
 */
function* tenantsOf(context: DecisionContext, query: Query, mode: Mode): Steps<ReadonlySet<string>> {
	const { facts, time } = context;
	const input = normalise(query, time, mode);
	const { type, key } = input.resource;
	const found = new Set(yield* tenantsWithRoles(context, input));
	const visit = (instance: string) => {
		const tenant = facts.tenantKey(instance);
		if (tenant !== undefined) found.add(tenant);
	};
	for (const { resource_instance } of query.contextual_facts?.role_assignments ?? []) visit(resource_instance);
	if (key && facts.hasPublicRoles) visit(instanceName({ type, key }));
	return found;
}

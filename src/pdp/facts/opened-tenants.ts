/** Finds tenants where a user's roles give access to instances. */

import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';

/**
 * Returns the tenants, as numbers, in which a user's tenant role grants an action on a resource type. Without `action`,
 * considers all actions.
 */
export type OpenedTenants = (type: string, action?: string) => ReadonlySet<number>;

/** Reads a user's tenant roles at `time`. */
export function* openedTenants(facts: FactsIndex, user: string, time: number): Steps<OpenedTenants> {
	const { names, tenantRoles, schema } = facts;
	const tenantsByRole = new Map<string, number[]>();
	const pauses = new Pauses();
	for (const [tenant, key] of tenantRoles.numbersFrom(names.number(user) ?? -1, time)) {
		if (pauses.step()) yield;
		const role = names.text(key);
		const tenants = tenantsByRole.get(role) ?? [];
		tenantsByRole.set(role, tenants);
		tenants.push(tenant);
	}
	const found = new Map<string, ReadonlySet<number>>();
	return (type, action) => {
		const question = JSON.stringify([type, action]);
		const known = found.get(question);
		if (known !== undefined) return known;
		const roles =
			action === undefined ? schema.tenantRolesThatGrantSomething(type) : schema.tenantRolesThatGrant(type, action);
		const tenants = new Set([...roles].flatMap((role) => tenantsByRole.get(role) ?? []));
		found.set(question, tenants);
		return tenants;
	};
}

/** Finds tenants where a user's roles give access to instances. */

import type { Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';

/** Number of roles visited between two pauses. */
const stride = 1_000;

/**
 * Returns the tenants in which a tenant role of the user grants an action on a resource type. Without `action`,
 * considers all actions.
 */
export type OpenedTenants = (type: string, action?: string) => ReadonlySet<string>;

/** Reads a user's tenant roles at `time`. */
export function* openedTenants({ tenantRoles, schema }: FactsIndex, user: string, time: number): Steps<OpenedTenants> {
	const tenantsByRole = new Map<string, string[]>();
	let visited = 0;
	for (const [tenant, role] of tenantRoles.from(user, time)) {
		visited += 1;
		if (visited % stride === 0) yield;
		const tenants = tenantsByRole.get(role) ?? [];
		tenantsByRole.set(role, tenants);
		tenants.push(tenant);
	}
	const found = new Map<string, ReadonlySet<string>>();
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

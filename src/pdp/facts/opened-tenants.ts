/** Where a user's roles in tenants open instances. */

import type { Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';

/** How many roles are visited between two pauses. */
const stride = 1_000;

/** The tenants in which a role of one user in the tenant grants an action on a resource type; any action without one. */
export type OpenedTenants = (type: string, action?: string) => ReadonlySet<string>;

/** Reads the roles that a user holds in tenants at `time`. */
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

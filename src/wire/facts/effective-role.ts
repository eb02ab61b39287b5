import { z } from 'zod';
import { Reference, Timestamp } from '../common.js';
import { named } from '../named.js';
import { wholeNumberUpTo } from '../query.js';

/** User roles, with their sources. */

/** Maximum number of roles in a response. */
export const maxEffectiveRoles = 1_000;
const usualEffectiveRoles = 200;

/** Filters for a user's effective roles. */
export const EffectiveRoleQuery = z.object({
	tenant: Reference.optional().describe('Only roles in this tenant and on its instances: id or key.'),
	limit: wholeNumberUpTo(maxEffectiveRoles).default(usualEffectiveRoles).describe('Maximum number of roles.'),
});

const RoleOrigin = named('RoleOrigin', 'A derivation step for an effective role.', {
	role: z.string().describe('Key of the role held on this instance.'),
	resource_instance: z.string().describe('Instance, as `<resource key>:<instance key>`.'),
	relation: z.string().describe('Key of the relation from this instance to the next.'),
});

const EffectiveRole = named('EffectiveRole', 'A role that a user holds, with its source.', {
	role: z.string().describe('Role key.'),
	tenant: z.string().describe("Key of the tenant, or of the instance's tenant."),
	resource_instance: z.string().nullable().describe('`<resource key>:<instance key>`; null for a tenant role.'),
	source: z
		.enum(['direct', 'group', 'derived', 'computed'])
		.describe(
			"`direct`: assigned to the user. `group`: derived from the user's group " +
				'membership. `derived`: derived from a different role assigned to the user. `computed`: computed from other ' +
				'roles on the same instance, which are also listed.',
		),
	through: z
		.array(RoleOrigin)
		.describe(
			'The roles from which the role is derived, starting with the assigned or computed ' +
				'role: the shortest path for its source. Empty for `direct` and `computed`.',
		),
	expires_at: Timestamp.optional().describe(
		'Role expiry through this source; absent if it does not expire, and for `computed`.',
	),
});
export type EffectiveRole = z.input<typeof EffectiveRole>;

export const EffectiveRoles = named('EffectiveRoles', 'Effective user roles, with their sources.', {
	revision: z.int().min(0).describe('Environment revision for the whole response.'),
	data: z
		.array(EffectiveRole)
		.describe(
			'One entry per role and source: assigned roles first, then derived roles by distance, then computed ' +
				'roles. A truncated list has no computed roles, because a role that they exclude may be missing from it. For the ' +
				'same reason, no list has computed roles that exclude a role everyone may hold.',
		),
	truncated: z.boolean().describe('True if a limit may have hidden more roles.'),
});
export type EffectiveRoles = z.input<typeof EffectiveRoles>;

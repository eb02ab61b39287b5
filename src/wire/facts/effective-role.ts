import { z } from 'zod';
import { Reference, Timestamp } from '../common.js';
import { wholeNumberUpTo } from '../query.js';

/** Which roles a user holds, and where each comes from. */

/** The most roles of an answer. */
export const maxEffectiveRoles = 1_000;
const usualEffectiveRoles = 200;

/** Which of a user's roles are wanted. */
export const EffectiveRoleQuery = z.object({
	tenant: Reference.optional().describe('Only roles in this tenant and on instances of it: an id or a key.'),
	limit: wholeNumberUpTo(maxEffectiveRoles).default(usualEffectiveRoles).describe('How many roles at most.'),
});
export type EffectiveRoleQuery = z.output<typeof EffectiveRoleQuery>;

/** A role on the way to the one that is held. */
const RoleOrigin = z
	.object({
		role: z.string().describe('The key of the role that is held there.'),
		resource_instance: z.string().describe('Where: `<resource key>:<instance key>`.'),
		relation: z.string().describe('The key of the relation in which this instance is to the next one.'),
	})
	.meta({ id: 'RoleOrigin', description: 'A role on the way to the one that is held.' });

/** A role that a user holds, and where it comes from. */
const EffectiveRole = z
	.object({
		role: z.string().describe('The key of the role.'),
		tenant: z.string().describe('The key of the tenant; that of the instance for a role on one.'),
		resource_instance: z
			.string()
			.nullable()
			.describe('`<resource key>:<instance key>`; null for a role in the tenant.'),
		source: z
			.enum(['direct', 'group', 'derived'])
			.describe(
				'`direct`: it was assigned to the user. `group`: it is derived from the membership of a group. `derived`: it ' +
					'is derived from another role that was assigned to the user.',
			),
		through: z
			.array(RoleOrigin)
			.describe(
				'The roles from which it is derived, from the one that was assigned on: the shortest way of its source. ' +
					'Empty for `direct`.',
			),
		expires_at: Timestamp.optional().describe('When this way to hold it ends; absent for good.'),
	})
	.meta({ id: 'EffectiveRole', description: 'A role that a user holds, and where it comes from.' });
export type EffectiveRole = z.input<typeof EffectiveRole>;

/** The roles of a user. */
export const EffectiveRoles = z
	.object({
		revision: z.int().min(0).describe('The revision of the environment that all of this is of.'),
		data: z
			.array(EffectiveRole)
			.describe('One entry for each role and source of it: those that were assigned first, then by distance.'),
		truncated: z.boolean().describe('Whether there may be more than a limit lets show.'),
	})
	.meta({ id: 'EffectiveRoles', description: 'The roles that a user holds, and where they come from.' });
export type EffectiveRoles = z.input<typeof EffectiveRoles>;

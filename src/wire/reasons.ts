/** The reasons of a decision (`debug`), and the check as the policy got it (`query`). */

import { z } from 'zod';
import { Attempt } from './decision/attempt.js';

const OpenObject = z.record(z.string(), z.unknown());

const code = z.string().meta({
	description: '`allow`, or what stands in the way: docs/denial-codes.md explains each.',
	example: 'no_permission',
});
const reason = z.string().describe('The same as a sentence about this check.');
const shared = { allow: z.boolean().describe('Whether this model allows the action.'), code, reason };

const DecidedUser = z
	.looseObject({
		key: z.string().describe('The key of the user.'),
		synced: z.boolean().describe('Whether the user is stored.'),
		attributes: OpenObject.describe(
			'What conditions saw: stored attributes, those that the check sent, and `key`, `roles` and `tenants`.',
		),
	})
	.meta({ id: 'DecidedUser', description: 'The user of a check, as conditions saw it.' });

const DecidedResource = z
	.looseObject({
		type: z.string().describe('The key of the resource.'),
		key: z.string().optional().describe('The key of the instance; absent where the check names none.'),
		tenant: z.string().optional().describe('The key of the tenant of the check.'),
		attributes: OpenObject.describe('What conditions saw: stored attributes and those that the check sent.'),
	})
	.meta({ id: 'DecidedResource', description: 'The resource of a check, as conditions saw it.' });

const RoleReasons = z
	.object({
		...shared,
		allowing_roles: z
			.array(z.string())
			.optional()
			.describe('The keys of the roles in the tenant that grant the action; there when they do.'),
	})
	.meta({ id: 'RoleReasons', description: 'What roles in the tenant say.' });

const AllowingInstanceRole = z
	.object({
		role: z.string().describe('The role, as `<type>:<key>#<role>`.'),
		resource: z.string().describe('The instance on which it is held, as `<type>:<key>`.'),
		reason: z.string().describe('The same as a sentence.'),
		sources: z
			.array(
				z.object({
					type: z
						.enum(['role_assignment', 'role_derivation'])
						.describe('Whether the role is assigned there, or derived from one on a related instance.'),
					role: z.string().describe('The role that it comes from, as `<type>:<key>#<role>`.'),
					resource: z.string().describe('The instance on which that is held, as `<type>:<key>`.'),
					relation: z.string().optional().describe('The key of the relation by which a derived role comes.'),
				}),
			)
			.describe('Where the role comes from: this one step, not the whole way.'),
	})
	.meta({ id: 'AllowingInstanceRole', description: 'A role on the instance that grants the action.' });

const InstanceRoleReasons = z
	.object({
		...shared,
		allowing_roles: z
			.array(AllowingInstanceRole)
			.optional()
			.describe('The roles on the instance that grant the action; there when they do.'),
	})
	.meta({ id: 'InstanceRoleReasons', description: 'What roles on the instance say.' });

const AllowingRule = z
	.object({
		userset: z.string().optional().describe('The key of the user set.'),
		role: z.string().optional().describe('In place of `userset`: all who hold the role in the tenant.'),
		resourceset: z.string().optional().describe('The key of the resource set.'),
		resource_type: z.string().optional().describe('In place of `resourceset`: everything of the resource.'),
	})
	.meta({ id: 'AllowingRule', description: 'A rule between a user set and a resource set that grants the action.' });

const matching = z.array(z.string()).optional();

const ConditionReasons = z
	.object({
		...shared,
		allowing_rules: z.array(AllowingRule).optional().describe('The rules that grant the action; there when they do.'),
		matching_usersets: matching.describe('The keys of the user sets that select the user, as far as that matters.'),
		matching_resourcesets: matching.describe('The keys of the resource sets that select the resource, likewise.'),
	})
	.meta({ id: 'ConditionReasons', description: 'What rules between condition sets say.' });

const PendingReasons = z.object(shared).meta({
	id: 'PendingReasons',
	description: 'What could grant the action waits for a policy that is not in force yet.',
});

/** Why a check was decided as it was. */
export const DecisionReasons = z
	.object({
		request: z
			.object({
				user: DecidedUser,
				tenant: z.string().nullable().describe('The key of the tenant; null unless it exists.'),
				action: z.string().nullable().describe('The key of the action.'),
				resource: DecidedResource,
			})
			.optional()
			.describe('What was asked, as the policy understood it.'),
		rbac: RoleReasons.optional(),
		rebac: InstanceRoleReasons.optional(),
		abac: ConditionReasons.optional(),
		pending: PendingReasons.optional(),
		code: code.optional().describe('The code, where no model was asked, as of a deleted environment.'),
		reason: reason.optional().describe('The code as a sentence, where no model was asked.'),
		attempts: z
			.array(Attempt)
			.optional()
			.describe(
				'The ways in which the check passes, or, if it does not, in which it would; each with the changes that suffice, ' +
					'the fewest first. There only when asked for.',
			),
		truncated: z.boolean().optional().describe('There with `attempts`: whether there may be more of them.'),
	})
	.meta({
		id: 'DecisionReasons',
		description:
			'Why a check was decided as it was: one member for what was asked, and one for each model that has something to ' +
			'say. Those are the models that allow, or else all that the environment uses.',
	});

/** A check as the policy got it. */
export const DecidedQuery = z
	.object({
		user: z
			.object({
				key: z.string().describe('The key of the user.'),
				attributes: OpenObject.optional().describe(
					'The attributes that the check sent, names and e-mail address among them.',
				),
			})
			.describe('The user.'),
		action: z.string().describe('The key of the action.'),
		resource: z
			.object({
				type: z.string().describe('The key of the resource.'),
				key: z.string().optional().describe('The key of the instance; absent where the check names none.'),
				tenant: z.string().describe('The key of the tenant; `default` where the check names none.'),
				attributes: OpenObject.optional().describe('The attributes that the check sent.'),
			})
			.describe('The resource or instance.'),
		context: OpenObject.optional().describe('The context that the check sent.'),
	})
	.meta({
		id: 'DecidedQuery',
		description: 'A check as the policy got it: one spelling of everything, nothing empty.',
	});

/** Reasons for a decision (`debug`), and the check in the form that the policy received (`query`). */

import { z } from 'zod';
import { everyone } from '../../compiler/everyone.js';
import { Attempt } from './decision/attempt.js';
import { named } from './named.js';
import { shownCondition } from './schema/granting.js';

const OpenObject = z.record(z.string(), z.unknown());

const code = z.string().meta({
	description: '`allow`, or the denial code: docs/develop/denial-codes.md explains each code.',
	example: 'no_permission',
});
const reason = z.string().describe('The code as a sentence about this check.');
const shared = { allow: z.boolean().describe('True if this model allows the action.'), code, reason };

const DecidedUser = z
	.looseObject({
		key: z.string().describe('User key.'),
		synced: z.boolean().describe('True if the user is stored.'),
		attributes: OpenObject.describe(
			'Attributes available to conditions: stored attributes, attributes from the check, and `key`, `roles` and `tenants`.',
		),
	})
	.meta({ id: 'DecidedUser', description: 'User in a check, as seen by conditions.' });

const DecidedResource = z
	.looseObject({
		type: z.string().describe('Resource key.'),
		key: z.string().optional().describe('Instance key; absent if the check has none.'),
		tenant: z.string().optional().describe('Tenant key in the check.'),
		attributes: OpenObject.describe(
			'Attributes available to conditions: stored attributes and attributes from the check.',
		),
	})
	.meta({ id: 'DecidedResource', description: 'Resource in a check, as seen by conditions.' });

const RoleReasons = named('RoleReasons', 'Result of tenant roles.', {
	...shared,
	allowing_roles: z
		.array(z.string())
		.optional()
		.describe('Tenant role keys that grant the action; absent if there are none.'),
});

const AllowingInstanceRole = named('AllowingInstanceRole', 'A role on the instance that grants the action.', {
	role: z.string().describe('Role, as `<type>:<key>#<role>`.'),
	resource: z.string().describe('Instance with the role, as `<type>:<key>`.'),
	reason: z.string().describe('The reason as a sentence.'),
	sources: z
		.array(
			z.object({
				type: z
					.enum(['role_assignment', 'role_derivation', 'computed_role'])
					.describe(
						'Source type: assigned on the instance, derived from a role on a related instance, or computed from other ' +
							'roles on the instance, each of which is a source.',
					),
				user: z.literal(everyone).optional().describe('Present for a role assigned to everyone.'),
				role: z.string().describe('Source role, as `<type>:<key>#<role>`.'),
				resource: z.string().describe('Instance with the source role, as `<type>:<key>`.'),
				relation: z.string().optional().describe('Relation key for a derived role.'),
				contextual: z.boolean().optional().describe('True if the source is a contextual fact of the check.'),
				...shownCondition,
			}),
		)
		.describe('Role sources: only this step, not the whole path.'),
});

const InstanceRoleReasons = named('InstanceRoleReasons', 'Result of roles on the instance.', {
	...shared,
	allowing_roles: z
		.array(AllowingInstanceRole)
		.optional()
		.describe('Roles on the instance that grant the action; absent if there are none.'),
	missing_context: z
		.array(z.string())
		.optional()
		.describe('Context attributes that conditions read, but that the check does not contain.'),
});

const AllowingRule = named('AllowingRule', 'A rule between a user set and a resource set that grants the action.', {
	userset: z.string().optional().describe('User set key.'),
	role: z.string().optional().describe('Instead of `userset`: all holders of this role in the tenant.'),
	resourceset: z.string().optional().describe('Resource set key.'),
	resource_type: z.string().optional().describe('Instead of `resourceset`: all objects of the resource.'),
});

const matching = z.array(z.string()).optional();

const ConditionReasons = named('ConditionReasons', 'Result of condition set rules.', {
	...shared,
	allowing_rules: z.array(AllowingRule).optional().describe('Rules that grant the action; absent if there are none.'),
	matching_usersets: matching.describe('Relevant user set keys that match the user.'),
	matching_resourcesets: matching.describe('Relevant resource set keys that match the resource.'),
});

const PendingReasons = named('PendingReasons', 'A possible grant depends on a policy that is not active yet.', shared);

/** Reasons for a check decision. */
export const DecisionReasons = named(
	'DecisionReasons',
	'Reasons for a check decision: one field for the request, and one for each relevant model. ' +
		'These are the models that allow the check, or else all models used by the environment.',
	{
		request: z
			.object({
				user: DecidedUser,
				tenant: z.string().nullable().describe('Tenant key; null unless the tenant exists.'),
				action: z.string().nullable().describe('Action key.'),
				resource: DecidedResource,
			})
			.optional()
			.describe('The check, as the policy understood it.'),
		rbac: RoleReasons.optional(),
		rebac: InstanceRoleReasons.optional(),
		abac: ConditionReasons.optional(),
		pending: PendingReasons.optional(),
		code: code.optional().describe('Code if no model was evaluated, for example in a deleted environment.'),
		reason: reason.optional().describe('The code as a sentence, if no model was evaluated.'),
		attempts: z
			.array(Attempt)
			.optional()
			.describe(
				'Ways for the check to pass, now or after the listed changes; each with a ' +
					'sufficient set of changes, smallest first. Present only if requested.',
			),
		truncated: z.boolean().optional().describe('Present with `attempts`: true if there may be more attempts.'),
		granted: z
			.boolean()
			.optional()
			.describe(
				'Present with `attempts`: false if no role and no condition set rule grants the action on the resource ' +
					'type, so only a schema change can allow the check.',
			),
	},
);

/** A check in the form that the policy received. */
export const DecidedQuery = named(
	'DecidedQuery',
	'A check, as the policy received it: in normalized form, without empty fields.',
	{
		user: z
			.object({
				key: z.string().describe('User key.'),
				attributes: OpenObject.optional().describe('Attributes from the check, including names and e-mail address.'),
			})
			.describe('Requesting user.'),
		action: z.string().describe('Action key.'),
		resource: z
			.object({
				type: z.string().describe('Resource key.'),
				key: z.string().optional().describe('Instance key; absent if the check has none.'),
				tenant: z.string().describe('Tenant key; `default` if the check has none.'),
				attributes: OpenObject.optional().describe('Attributes from the check.'),
			})
			.describe('The resource or instance.'),
		context: OpenObject.optional().describe('Context sent with the check.'),
		contextual_facts: OpenObject.optional().describe('Contextual facts sent with the check.'),
	},
);

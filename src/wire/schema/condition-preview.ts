import { z } from 'zod';
import { abbreviated } from '../abbreviated.js';
import { ComparedAttributes } from '../attributes.js';
import { defaulted, InstanceReference, optional, Reference, StoredObject } from '../common.js';
import { ResourceInstanceRead } from '../facts/resource-instance.js';
import { UserRead } from '../facts/user.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { ConditionSetType, Conditions } from './condition-set.js';

/** Condition set previews. A request refers to a stored set, or contains a new set in full. */

const nothing = () => ({});

function subjectSchema<K extends z.ZodType>(key: K, description: string) {
	const subject = z.object({
		key: optional(key).describe('Id or key; omit to give only attributes.'),
		attributes: defaulted(ComparedAttributes, nothing).describe('Attributes that override stored attributes.'),
	});
	const text = z.string().describe('Id or key alone.');
	return abbreviated(text, subject, (given) => ({ key: given })).meta({ description });
}

/** User in the form used by checks: a stored user with attributes from the check, or only attributes. */
export const UserSubject = subjectSchema(
	Reference,
	'A user: id or key, and attributes that override stored attributes.',
);
export type UserSubject = z.output<typeof UserSubject>;

/**
 * Resource instance in the form used by checks: a stored instance with attributes from the check, or only attributes.
 */
export const ResourceSubject = subjectSchema(
	InstanceReference,
	'A resource instance: `<resource key>:<instance key>` or an id, and attributes that override stored attributes.',
);
export type ResourceSubject = z.output<typeof ResourceSubject>;

const asked = {
	condition_set: optional(Reference).meta({
		description: 'Set id or key. `conditions` and `parent_id` in the request override the stored values.',
	}),
	type: optional(ConditionSetType).meta({ description: 'Set type if the set is not stored; defaults to `userset`.' }),
	conditions: optional(Conditions).describe(
		'Conditions for a set that is not stored, or replacements for stored conditions.',
	),
	resource_id: optional(Reference).meta({
		description: 'Required for a resource set that is not stored; optional for a user set that is not stored.',
	}),
	parent_id: optional(Reference).describe('Parent set: id or key.'),
	tenant: optional(Reference).meta({ description: 'Tenant for the check. Without it, roles in all tenants count.' }),
	context: defaulted(ComparedAttributes, nothing).describe(
		'Context for the check, for conditions that compare it; empty by default.',
	),
	user: optional(UserSubject).describe('User to evaluate, or the user that conditions of a resource set compare with.'),
	resource: optional(ResourceSubject).describe(
		'Resource instance to evaluate, or the instance that conditions of a user set compare with.',
	),
};

/** Rejects a type or a resource if the request refers to a stored set, because a stored set already has both. */
function describedOnce<S extends z.ZodType<{ readonly condition_set?: unknown; readonly type?: unknown }>>(body: S) {
	return body.superRefine((given, ctx) => {
		const { condition_set, type, resource_id } = given as Readonly<Record<string, unknown>>;
		if (condition_set === undefined) return;
		for (const [field, value] of Object.entries({ type, resource_id })) {
			if (value === undefined) continue;
			ctx.addIssue({
				code: 'custom',
				message: 'must be omitted if `condition_set` is present',
				path: [field],
				input: value,
			});
		}
	});
}

/** Fields that refer to a set or describe it. */
export type AskedSet = Pick<ConditionPreview, 'condition_set' | 'type' | 'conditions' | 'resource_id' | 'parent_id'>;

const pageMessage = 'must be a whole number from 1';
const perPageMessage = 'must be a whole number from 1 to 100';

export const ConditionPreview = describedOnce(
	z.object({
		...asked,
		page: defaulted(z.int(pageMessage).min(1, pageMessage).max(999_999_999), () => 1).describe(
			'Page number, from 1; defaults to 1.',
		),
		per_page: defaulted(z.int(perPageMessage).min(1, perPageMessage).max(100, perPageMessage), () => 30).describe(
			'Maximum number of matches per page, from 1 to 100; defaults to 30.',
		),
	}),
).meta({
	id: 'ConditionSetPreview',
	description:
		'Finds the users or resource instances that match a set; operands may refer to the given `user` or `resource`.',
});
export type ConditionPreview = z.output<typeof ConditionPreview>;

export const ConditionEvaluation = describedOnce(z.object(asked)).meta({
	id: 'ConditionSetEvaluation',
	description: 'Evaluates a set for one user or resource instance.',
});
export type ConditionEvaluation = z.output<typeof ConditionEvaluation>;

export const ConditionPreviewRead = paginated(z.union([UserRead, ResourceInstanceRead]))
	.extend({ checked: z.int().min(0).describe('Users or instances examined.') })
	.meta({
		id: 'ConditionSetPreviewRead',
		description: 'Matching users or resource instances, in pages; `checked` is the number examined.',
	});
export type ConditionPreviewRead = z.input<typeof ConditionPreviewRead>;

/** Condition result with an explanation. The explanation contains every comparison and the compared values. */
const explained = {
	matches: z.boolean().describe('True if the conditions hold.'),
	trace: StoredObject.describe('Every comparison, with the values found.'),
};

export const ConditionEvaluationRead = named(
	'ConditionSetEvaluationRead',
	'Set result: its own conditions and the conditions in all ancestor sets, nearest first.',
	{
		...explained,
		ancestors: z
			.array(z.object({ key: z.string().describe('Set key.'), ...explained }))
			.describe('Ancestor sets, nearest first; all must match.'),
	},
);
export type ConditionEvaluationRead = z.input<typeof ConditionEvaluationRead>;

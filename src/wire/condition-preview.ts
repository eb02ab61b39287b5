import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { defaulted, InstanceReference, optional, Reference, StoredObject } from './common.js';
import { ConditionSetType, Conditions } from './condition-set.js';
import { paginated } from './list.js';
import { ResourceInstanceRead } from './resource-instance.js';
import { UserRead } from './user.js';

/** Requests that ask what a set selects before it is used. A stored set is named, any other one is written out. */

const nothing = () => ({});

/** A plain text stands for the key alone. */
function subjectSchema<K extends z.ZodType>(key: K, description: string) {
	return z.preprocess(
		(given) => (typeof given === 'string' ? { key: given } : given),
		z.object({ key: optional(key), attributes: defaulted(ComparedAttributes, nothing) }).meta({ description }),
	);
}

/** A user as a check names it: a stored one, with what the check sends of it, or attributes alone. */
export const UserSubject = subjectSchema(Reference, 'A user: its id or key, and attributes that stand before its own.');
export type UserSubject = z.output<typeof UserSubject>;

/** A resource instance as a check names it: a stored one, with what the check sends of it, or attributes alone. */
export const ResourceSubject = subjectSchema(
	InstanceReference,
	'A resource instance: `<resource key>:<instance key>` or an id, and attributes that stand before its own.',
);
export type ResourceSubject = z.output<typeof ResourceSubject>;

const asked = {
	condition_set: optional(Reference).meta({
		description: 'The id or key of a set. `conditions` and `parent_id` beside it stand for its own.',
	}),
	type: optional(ConditionSetType).meta({ description: 'Of a set that is not stored; `userset` when left out.' }),
	conditions: optional(Conditions),
	resource_id: optional(Reference).meta({ description: 'Required of a resource set that is not stored.' }),
	parent_id: optional(Reference),
	tenant: optional(Reference).meta({
		description: 'The tenant of the check. Without it, roles held in any tenant count.',
	}),
	context: defaulted(ComparedAttributes, nothing),
	user: optional(UserSubject),
	resource: optional(ResourceSubject),
};

/** Refuses the type and the resource of a stored set, which has its own. */
function describedOnce<S extends z.ZodType<{ readonly condition_set?: unknown; readonly type?: unknown }>>(body: S) {
	return body.superRefine((given, ctx) => {
		const { condition_set, type, resource_id } = given as Readonly<Record<string, unknown>>;
		if (condition_set === undefined) return;
		for (const [field, value] of Object.entries({ type, resource_id })) {
			if (value === undefined) continue;
			ctx.addIssue({
				code: 'custom',
				message: 'must be left out when `condition_set` is given',
				path: [field],
				input: value,
			});
		}
	});
}

/** The members that name or describe a set. */
export type AskedSet = Pick<ConditionPreview, 'condition_set' | 'type' | 'conditions' | 'resource_id' | 'parent_id'>;

const pageMessage = 'must be a whole number from 1';
const perPageMessage = 'must be a whole number from 1 to 100';

/**
 * Which users or resource instances a set selects; `user` or `resource` is the other side, for operands that refer
 * to it.
 */
export const ConditionPreview = describedOnce(
	z.object({
		...asked,
		page: defaulted(z.int(pageMessage).min(1, pageMessage).max(999_999_999), () => 1),
		per_page: defaulted(z.int(perPageMessage).min(1, perPageMessage).max(100, perPageMessage), () => 30),
	}),
).meta({ id: 'ConditionSetPreview' });
export type ConditionPreview = z.output<typeof ConditionPreview>;

/** Whether a set selects one user or resource instance. */
export const ConditionEvaluation = describedOnce(z.object(asked)).meta({ id: 'ConditionSetEvaluation' });
export type ConditionEvaluation = z.output<typeof ConditionEvaluation>;

/** The users or resource instances that match, by pages; `checked` is how many were looked at. */
export const ConditionPreviewRead = paginated(z.union([UserRead, ResourceInstanceRead]))
	.extend({ checked: z.int().min(0) })
	.meta({ id: 'ConditionSetPreviewRead' });
export type ConditionPreviewRead = z.input<typeof ConditionPreviewRead>;

/** Whether conditions hold, and why: every comparison with what was found. */
const explained = { matches: z.boolean(), trace: StoredObject };

/** Whether a set matches: its own conditions and those of every set that it narrows, the nearest first. */
export const ConditionEvaluationRead = z
	.object({ ...explained, ancestors: z.array(z.object({ key: z.string(), ...explained })) })
	.meta({ id: 'ConditionSetEvaluationRead' });
export type ConditionEvaluationRead = z.input<typeof ConditionEvaluationRead>;

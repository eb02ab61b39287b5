import { z } from 'zod';
import { abbreviated } from '../abbreviated.js';
import { ComparedAttributes } from '../attributes.js';
import { defaulted, InstanceReference, optional, Reference, StoredObject } from '../common.js';
import { ResourceInstanceRead } from '../facts/resource-instance.js';
import { UserRead } from '../facts/user.js';
import { paginated } from '../list.js';
import { ConditionSetType, Conditions } from './condition-set.js';

/** Requests that ask what a set selects before it is used. A stored set is named, any other one is written out. */

const nothing = () => ({});

function subjectSchema<K extends z.ZodType>(key: K, description: string) {
	const subject = z.object({
		key: optional(key).describe('Its id or key; attributes alone when left out.'),
		attributes: defaulted(ComparedAttributes, nothing).describe('Attributes that stand before its own.'),
	});
	const text = z.string().describe('Its id or key alone.');
	return abbreviated(text, subject, (given) => ({ key: given })).meta({ description });
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
	conditions: optional(Conditions).describe(
		'Conditions of a set that is not stored, or in place of those of the stored one.',
	),
	resource_id: optional(Reference).meta({ description: 'Required of a resource set that is not stored.' }),
	parent_id: optional(Reference).describe('The set that this one narrows: its id or key.'),
	tenant: optional(Reference).meta({
		description: 'The tenant of the check. Without it, roles held in any tenant count.',
	}),
	context: defaulted(ComparedAttributes, nothing).describe(
		'The context of the check, for conditions that compare it; empty when left out.',
	),
	user: optional(UserSubject).describe(
		'The user of the check: one side of the question, or the other side for conditions that compare with it.',
	),
	resource: optional(ResourceSubject).describe(
		'The resource instance of the check: one side of the question, or the other side.',
	),
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
		page: defaulted(z.int(pageMessage).min(1, pageMessage).max(999_999_999), () => 1).describe(
			'Which page, from 1; 1 when left out.',
		),
		per_page: defaulted(z.int(perPageMessage).min(1, perPageMessage).max(100, perPageMessage), () => 30).describe(
			'How many matches a page has at most, from 1 to 100; 30 when left out.',
		),
	}),
).meta({
	id: 'ConditionSetPreview',
	description:
		'Which users or resource instances a set selects; `user` or `resource` is the other side, for operands that ' +
		'refer to it.',
});
export type ConditionPreview = z.output<typeof ConditionPreview>;

/** Whether a set selects one user or resource instance. */
export const ConditionEvaluation = describedOnce(z.object(asked)).meta({
	id: 'ConditionSetEvaluation',
	description: 'Whether a set selects one user or resource instance.',
});
export type ConditionEvaluation = z.output<typeof ConditionEvaluation>;

/** The users or resource instances that match, by pages; `checked` is how many were looked at. */
export const ConditionPreviewRead = paginated(z.union([UserRead, ResourceInstanceRead]))
	.extend({ checked: z.int().min(0).describe('How many users or instances were looked at.') })
	.meta({
		id: 'ConditionSetPreviewRead',
		description: 'The users or resource instances that match, by pages; `checked` is how many were looked at.',
	});
export type ConditionPreviewRead = z.input<typeof ConditionPreviewRead>;

/** Whether conditions hold, and why: every comparison with what was found. */
const explained = {
	matches: z.boolean().describe('Whether the conditions hold.'),
	trace: StoredObject.describe('Why: every comparison, with the values that were found.'),
};

/** Whether a set matches: its own conditions and those of every set that it narrows, the nearest first. */
export const ConditionEvaluationRead = z
	.object({
		...explained,
		ancestors: z
			.array(z.object({ key: z.string().describe('The key of the set.'), ...explained }))
			.describe('The sets that this one narrows, the nearest first; all of them have to match.'),
	})
	.meta({
		id: 'ConditionSetEvaluationRead',
		description: 'Whether a set matches: its own conditions and those of every set that it narrows, the nearest first.',
	});
export type ConditionEvaluationRead = z.input<typeof ConditionEvaluationRead>;

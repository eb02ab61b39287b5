import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { defaulted, optional, Reference, Text, Uuid } from './common.js';
import { EnvironmentCreate, EnvironmentRead } from './environment.js';

/** Which objects of one kind are copied, by their keys. */
export const CopyFilter = z
	.object({
		include: defaulted(boundedArray(Text), () => []).meta({ description: 'Nothing is everything; `*` is any text.' }),
		exclude: defaulted(boundedArray(Text), () => []).meta({ description: 'Wins over `include`; `*` is any text.' }),
	})
	.meta({ id: 'EnvironmentCopyScopeFilters' });
export type CopyFilter = z.output<typeof CopyFilter>;

const filter = defaulted(CopyFilter, () => ({ include: [], exclude: [] }));

/**
 * Which objects are copied. A resource is copied with everything that belongs to it, its roles included, and a resource
 * set only together with its resource. `roles` selects tenant roles. A rule is copied if both of its sets are.
 */
export const CopyScope = z
	.object({ resources: filter, roles: filter, user_sets: filter, resource_sets: filter, custom_policies: filter })
	.meta({ id: 'EnvironmentCopyScope' });
export type CopyScope = z.output<typeof CopyScope>;

const CopyTarget = z
	.object({ existing: optional(Reference), new: optional(EnvironmentCreate) })
	.refine(
		(target) => (target.existing === undefined) !== (target.new === undefined),
		'must name an `existing` environment or describe a `new` one, and not both',
	)
	.meta({ id: 'EnvironmentCopyTarget' });

/** Where the schema of an environment is copied to, and how much of it. */
export const EnvironmentCopy = z
	.object({
		target_env: CopyTarget,
		conflict_strategy: defaulted(z.enum(['fail', 'overwrite']), () => 'fail' as const),
		scope: defaulted(CopyScope, () => CopyScope.parse({})),
	})
	.meta({ id: 'EnvironmentCopy' });
export type EnvironmentCopy = z.output<typeof EnvironmentCopy>;

const maxWait = 60;
const waitMessage = `must be a number of seconds from 0 to ${maxWait}`;

/** How many seconds an answer may wait for a task to end. */
export const TaskQuery = z.object({
	wait: z
		.preprocess(
			(value) => (typeof value === 'string' && /^\d{1,3}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
			z.number(waitMessage).min(0, waitMessage).max(maxWait, waitMessage),
		)
		.default(0),
});
export type TaskQuery = z.output<typeof TaskQuery>;

/** The state of a copy: with the target if it succeeded, with the reason if it failed. */
export const TaskResult = z
	.object({
		task_id: Uuid,
		status: z.enum(['processing', 'success', 'failure', 'cancelled']),
		result: EnvironmentRead.nullable(),
		error: z.string().nullable(),
	})
	.meta({ id: 'TaskResultEnvironmentRead' });
export type TaskResult = z.input<typeof TaskResult>;

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, optional, Reference, Text, Uuid } from '../common.js';
import { EnvironmentCreate, EnvironmentRead } from './environment.js';

/** Which objects of one kind are copied, by their keys. */
export const CopyFilter = z
	.object({
		include: defaulted(boundedArray(Text), () => []).meta({ description: 'Nothing is everything; `*` is any text.' }),
		exclude: defaulted(boundedArray(Text), () => []).meta({ description: 'Wins over `include`; `*` is any text.' }),
	})
	.meta({ id: 'EnvironmentCopyScopeFilters', description: 'Which objects of one kind are copied, by their keys.' });
export type CopyFilter = z.output<typeof CopyFilter>;

const filter = defaulted(CopyFilter, () => ({ include: [], exclude: [] }));

/**
 * Which objects are copied. A resource is copied with everything that belongs to it, its roles included, and a resource
 * set only together with its resource. `roles` selects tenant roles. A rule is copied if both of its sets are.
 */
export const CopyScope = z
	.object({
		resources: filter.describe('Which resources, each with all that belongs to it; all when left out.'),
		roles: filter.describe('Which tenant roles; all when left out.'),
		user_sets: filter.describe('Which user sets; all when left out.'),
		resource_sets: filter.describe('Which resource sets, each only with its resource; all when left out.'),
		custom_policies: filter.describe('Filters nothing yet.'),
	})
	.meta({
		id: 'EnvironmentCopyScope',
		description:
			'Which objects are copied. A resource is copied with everything that belongs to it, its roles included, ' +
			'and a resource set only together with its resource. `roles` selects tenant roles. A rule is copied if ' +
			'both of its sets are.',
	});
export type CopyScope = z.output<typeof CopyScope>;

const CopyTarget = z
	.object({
		existing: optional(Reference).describe('The id or key of an environment of the same project.'),
		new: optional(EnvironmentCreate).describe('The environment to create.'),
	})
	.refine(
		(target) => (target.existing === undefined) !== (target.new === undefined),
		'must name an `existing` environment or describe a `new` one, and not both',
	)
	.meta({ id: 'EnvironmentCopyTarget', description: 'The environment to copy to: an existing one or a new one.' });

/** Where the schema of an environment is copied to, and how much of it. */
export const EnvironmentCopy = z
	.object({
		target_env: CopyTarget.describe('Where the schema is copied to.'),
		conflict_strategy: defaulted(z.enum(['fail', 'overwrite']), () => 'fail' as const).describe(
			'What happens to an object that the target has with other content: it fails the copy (`fail`, also when ' +
				'left out) or is overwritten.',
		),
		scope: defaulted(CopyScope, () => CopyScope.parse({})).describe('Which objects are copied; all when left out.'),
	})
	.meta({ id: 'EnvironmentCopy', description: 'Where the schema of an environment is copied to, and how much of it.' });
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
		.default(0)
		.describe('How many seconds the answer may wait for the task to end, from 0 to 60.'),
});
export type TaskQuery = z.output<typeof TaskQuery>;

/** The state of a copy: with the target if it succeeded, with the reason if it failed. */
export const TaskResult = z
	.object({
		task_id: Uuid.describe('The id of the task, to ask for its result.'),
		status: z.enum(['processing', 'success', 'failure', 'cancelled']).describe('The state of the task.'),
		result: EnvironmentRead.nullable().describe('The target of the copy; null until it succeeded.'),
		error: z.string().nullable().describe('Why the copy failed; null if it did not.'),
	})
	.meta({
		id: 'TaskResultEnvironmentRead',
		description: 'The state of a copy: with the target if it succeeded, with the reason if it failed.',
	});
export type TaskResult = z.input<typeof TaskResult>;

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, optional, Reference, Text, Uuid } from '../common.js';
import { named } from '../named.js';
import { EnvironmentCreate, EnvironmentRead } from './environment.js';

export const CopyFilter = named('EnvironmentCopyScopeFilters', 'Filter for objects of one kind, by key.', {
	include: defaulted(boundedArray(Text), () => []).describe(
		'Keys to include; an empty list includes everything, and `*` matches any text.',
	),
	exclude: defaulted(boundedArray(Text), () => []).describe('Keys to exclude, even if included; `*` matches any text.'),
});
export type CopyFilter = z.output<typeof CopyFilter>;

const filter = defaulted(CopyFilter, () => ({ include: [], exclude: [] }));

export const CopyScope = named(
	'EnvironmentCopyScope',
	'Filters for the copied objects. A resource is copied with everything that belongs ' +
		'to it, including roles; a resource set is copied only with its resource. ' +
		'`roles` selects tenant roles. A rule is copied if both of its sets are copied.',
	{
		resources: filter.describe('Resources, each with all objects that belong to it; all by default.'),
		roles: filter.describe('Tenant roles; all by default.'),
		user_sets: filter.describe('User sets; all by default.'),
		resource_sets: filter.describe('Resource sets, each only with its resource; all by default.'),
		custom_policies: filter.describe('Has no effect yet.'),
	},
);
export type CopyScope = z.output<typeof CopyScope>;

const CopyTarget = z
	.object({
		existing: optional(Reference).describe('Environment id or key, in the same project.'),
		new: optional(EnvironmentCreate).describe('The environment to create.'),
	})
	.refine(
		(target) => (target.existing === undefined) !== (target.new === undefined),
		'must contain either an `existing` or a `new` environment',
	)
	.meta({ id: 'EnvironmentCopyTarget', description: 'The environment to copy to: an existing or a new environment.' });

export const EnvironmentCopy = named('EnvironmentCopy', 'Schema copy target and scope.', {
	target_env: CopyTarget.describe('Target environment.'),
	conflict_strategy: defaulted(z.enum(['fail', 'overwrite']), () => 'fail' as const).describe(
		'Treatment of an object with different content in the target: fail ' +
			'the copy (`fail`, the default) or overwrite the object.',
	),
	scope: defaulted(CopyScope, () => CopyScope.parse({})).describe('Objects to copy; all by default.'),
});
export type EnvironmentCopy = z.output<typeof EnvironmentCopy>;

const maxWait = 60;
const waitMessage = `must be a number of seconds from 0 to ${maxWait}`;

/** Maximum number of seconds to wait for a task. */
export const TaskQuery = z.object({
	wait: z
		.preprocess(
			(value) => (typeof value === 'string' && /^\d{1,3}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
			z.number(waitMessage).min(0, waitMessage).max(maxWait, waitMessage),
		)
		.default(0)
		.describe('Maximum wait for the task to finish, from 0 to 60 seconds.'),
});

export const TaskResult = named(
	'TaskResultEnvironmentRead',
	'Copy state, with the target after success, or the reason after failure.',
	{
		task_id: Uuid.describe('Task id, for requesting its result.'),
		status: z.enum(['processing', 'success', 'failure', 'cancelled']).describe('Task state.'),
		result: EnvironmentRead.nullable().describe('Copy target; null until the copy succeeds.'),
		error: z.string().nullable().describe('Why the copy failed; null if it did not fail.'),
	},
);
export type TaskResult = z.input<typeof TaskResult>;

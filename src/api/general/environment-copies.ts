import { forbidden } from '../../failure.js';
import { methods, reply } from '../../http/endpoint.js';
import type { Caller } from '../../store/account/caller.js';
import type { CopyTask } from '../../store/account/copy-task.js';
import { Reference } from '../../wire/common.js';
import { EnvironmentRead } from '../../wire/general/environment.js';
import { EnvironmentCopy, TaskQuery, TaskResult } from '../../wire/general/environment-copy.js';
import { RevisionAnswer } from '../../wire/headers.js';
import { EnvironmentPath, endpoint, revisionHeader } from '../access.js';

const tag = 'Environments';
const collection = '/v2/projects/:proj_id/envs/:env_id/copy';
const example = {
	target_env: { new: { key: 'staging', name: 'Staging' } },
	scope: { roles: { exclude: ['test-*'] } },
};

/** Schema copies between environments in a project. */
export const environmentCopies = [
	endpoint({
		...methods({ tag, path: collection, params: EnvironmentPath }).post,
		name: 'copyEnvironment',
		summary: 'Copy the schema of an environment to a new or existing environment in the project',
		description:
			'Copies the whole schema or nothing; facts are not copied. If an object in the target has different content, ' +
			'`conflict_strategy` `fail` rejects the copy, and `overwrite` replaces the object. `X-Revision` is the ' +
			"target's revision.",
		access: 'environment.copy',
		body: EnvironmentCopy,
		example,
		returns: { 201: EnvironmentRead },
		answerHeaders: RevisionAnswer,
		failures: {
			400: 'A role in the target would be derived from too many roles in a cycle',
			404:
				'No such project or environment, or a copied object refers to an object that is neither copied nor in the ' +
				'target',
			409: "An object in the target has different content, or the new environment's key is taken",
		},
		handle: async ({ body }, { caller, environment, copies }) => {
			const { environment: target, revision, lineage } = await copies.copy(caller, environment, body);
			return reply(201, target, revisionHeader(revision, lineage));
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/async`, params: EnvironmentPath }).post,
		name: 'beginEnvironmentCopy',
		summary: 'Start a task that copies the schema of an environment',
		description: '`wait` is the maximum number of seconds to wait for the result.',
		access: 'environment.copy',
		query: TaskQuery,
		body: EnvironmentCopy,
		example,
		returns: { 202: TaskResult },
		failures: { 404: 'No such project or environment' },
		handle: async ({ query, body, closed }, { caller, environment, copies }) => {
			const { id } = await copies.begin(caller, environment, body);
			return reply(202, readTask(await copies.result(environment, id, query.wait, () => closed.aborted), caller));
		},
	}),
	endpoint({
		name: 'getEnvironmentCopyResult',
		summary: 'Get the state and the result of a copy',
		description: 'Results are available for seven days, from any API process.',
		tag,
		method: 'get',
		path: `${collection}/async/:task_id/result`,
		access: 'environment.read',
		params: EnvironmentPath.extend({ task_id: Reference }),
		query: TaskQuery,
		returns: { 200: TaskResult },
		failures: { 404: 'No such project, environment or task' },
		handle: async ({ params, query, closed }, { caller, environment, copies }) => {
			const task = await copies.result(environment, params.task_id, query.wait, () => closed.aborted);
			return reply(200, readTask(task, caller));
		},
	}),
];

/** Returns a task in the API's format. Throws `forbidden` if the caller's key cannot open the target environment. */
function readTask({ id, status, result, error }: CopyTask, { environment_id }: Caller): TaskResult {
	// The stored result is the target environment, in the API's format.
	const target = result === null ? null : (result as EnvironmentRead);
	if (target !== null && environment_id !== null && environment_id !== target.id) {
		throw forbidden('this API key has no access to the target environment');
	}
	return { task_id: id, status, result: target, error };
}

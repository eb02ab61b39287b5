import { z } from 'zod';
import { createEnvironment } from '../../domain/environment.js';
import { definedFields } from '../../domain/schema/defined-fields.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { environmentCounts } from '../../store/account/statistics.js';
import { EnvironmentCreate, EnvironmentRead, EnvironmentUpdate } from '../../wire/general/environment.js';
import { EnvironmentStats } from '../../wire/general/statistics.js';
import { RevisionAnswer } from '../../wire/headers.js';
import { PageQuery } from '../../wire/query.js';
import { EnvironmentPath, endpoint, ProjectPath, revisionHeader } from '../access.js';
import { readPdpConfig, visibleConfigs } from '../pdps/pdp-config.js';

const tag = 'Environments';
const collection = '/v2/projects/:proj_id/envs';
const member = `${collection}/:env_id`;
const collectionPlace = methods({ tag, path: collection, params: ProjectPath });
const memberPlace = methods({ tag, path: member, params: EnvironmentPath });

/** Environments in a project. */
export const environments = [
	endpoint({
		...collectionPlace.get,
		name: 'listEnvironments',
		summary: 'List environments of a project, in the scope of the API key',
		access: 'project.read',
		query: PageQuery,
		returns: { 200: z.array(EnvironmentRead) },
		failures: { 404: 'No such project' },
		handle: async ({ query }, { account, caller, project }) => {
			const data = await account.environments(project.id, caller).slice(query);
			return reply(200, [...data]);
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createEnvironment',
		summary: 'Create an environment with its API key',
		access: 'project.write',
		body: EnvironmentCreate,
		example: { key: 'staging', name: 'Staging' },
		returns: { 200: EnvironmentRead },
		answerHeaders: RevisionAnswer,
		failures: { 404: 'No such project', 409: 'An environment with this key exists in the project' },
		handle: async ({ body }, { account, project }) => {
			const { key, ...fields } = body;
			const named = { ...definedFields(fields), name: fields.name };
			const { environment, revision } = await createEnvironment(account, project.id, key, named);
			return reply(200, environment, revisionHeader(revision, account.lineage));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getEnvironment',
		summary: 'Get an environment',
		access: 'environment.read',
		returns: { 200: EnvironmentRead },
		failures: { 404: 'No such project or environment' },
		handle: (_, { environment }) => reply(200, environment),
	}),
	endpoint({
		...methods({ tag, path: `${member}/stats`, params: EnvironmentPath }).get,
		name: 'getEnvironmentStats',
		summary: 'Get an environment with its PDP configs and object counts',
		description: 'Lists the PDP configs that the calling key sees in `GET /v2/pdps/{proj_id}/{env_id}/configs`.',
		access: 'environment.read',
		secret: true,
		returns: { 200: EnvironmentStats },
		failures: { 404: 'No such project or environment' },
		handle: async (_, { account, caller, environment, unit }) => {
			const configs = await visibleConfigs(account, caller, environment).all();
			const nothing = { mau: 0, has_decision_logs: false, members: [] };
			return reply(200, {
				...environment,
				pdp_configs: configs.map((key) => readPdpConfig(account, environment, key)),
				stats: { ...nothing, ...(await environmentCounts(unit)) },
			});
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateEnvironment',
		summary: 'Update an environment',
		access: 'environment.manage',
		body: EnvironmentUpdate,
		example: { name: 'Staging (EU)' },
		returns: { 200: EnvironmentRead },
		answerHeaders: RevisionAnswer,
		failures: { 404: 'No such project or environment' },
		handle: async ({ body }, { account, environment }) => {
			const { row, revision } = await account.updateEnvironment(environment, definedFields(body));
			return reply(200, row, revisionHeader(revision, account.lineage));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteEnvironment',
		summary: 'Delete an environment with everything in it',
		description: 'Its decision points stop serving checks.',
		access: 'environment.manage',
		returns: { 204: null },
		failures: { 404: 'No such project or environment' },
		handle: async (_, { account, environment }) => emptied(account.removeEnvironment(environment)),
	}),
];

import { reply } from '../../http/endpoint.js';
import { ApiKeyRead, ApiKeyScopeRead } from '../../wire/api-key.js';
import { EnvironmentPath, endpoint } from '../access.js';

const tag = 'API keys';

/** What a key opens, and the key of an environment (contract: API keys). */
export const apiKeys = [
	endpoint({
		name: 'scopeOfApiKey',
		summary: 'What the calling API key opens',
		tag,
		method: 'get',
		path: '/v2/api-key/scope',
		access: 'key',
		returns: { 200: ApiKeyScopeRead },
		handle: (_, { caller }) => reply(200, caller),
	}),
	endpoint({
		name: 'apiKeyOfEnvironment',
		summary: 'The API key of an environment, with its secret',
		description: 'The key that decision points of the environment are given as `PDP_API_KEY`.',
		tag,
		method: 'get',
		path: '/v2/api-key/:proj_id/:env_id',
		access: 'environment.manage',
		params: EnvironmentPath,
		returns: { 200: ApiKeyRead },
		handle: async (_, { account, caller, environment }) => {
			const { row, secret } = await account.environmentKey(environment.id);
			const project = await account.project(caller, environment.project_id);
			return reply(200, { ...row, secret, env: environment, project });
		},
	}),
];

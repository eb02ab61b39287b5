import { z } from 'zod';
import { createKey, removeKey, rotateKey } from '../../domain/api-key.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import type { AccountUnit } from '../../store/account/account.js';
import type { OpenedPlaces } from '../../store/account/api-keys.js';
import type { ApiKey } from '../../store/table/account.js';
import { Reference } from '../../wire/common.js';
import { ApiKeyCreate, ApiKeyQuery, ApiKeyRead, ApiKeyScopeRead } from '../../wire/general/api-key.js';
import { ConsoleConfirmation } from '../../wire/general/console-session.js';
import { RevisionAnswer } from '../../wire/headers.js';
import { paginated } from '../../wire/list.js';
import { EnvironmentPath, endpoint, requireAdmin, revisionHeader } from '../access.js';

const tag = 'API keys';
const collection = '/v2/api-key';
const member = `${collection}/:api_key_id`;

const ApiKeyPath = z.object({ api_key_id: Reference });
const memberPlace = methods({ tag, path: member, params: ApiKeyPath, requestHeaders: ConsoleConfirmation });

/** API keys: the calling key's scope, and management of the keys in this scope. */
export const apiKeys = [
	endpoint({
		...methods({ tag, path: `${collection}/scope` }).get,
		name: 'scopeOfApiKey',
		summary: 'Get the scope of the calling API key',
		access: 'key',
		returns: { 200: ApiKeyScopeRead },
		failures: { 410: "The API key's environment was deleted" },
		handle: (_, { caller }) => reply(200, caller),
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:proj_id/:env_id`, params: EnvironmentPath }).get,
		name: 'apiKeyOfEnvironment',
		summary: 'Get the API key of an environment, with its secret',
		description:
			'Returns the key that decision points in the environment use as `PDP_API_KEY`. It is an `admin` key, so the ' +
			'calling key must be an `admin` key too.',
		access: 'environment.manage',
		secret: true,
		returns: { 200: ApiKeyRead },
		handle: async (_, { account, caller, environment }) => {
			requireAdmin(caller);
			const { row, secret } = await account.keys.environmentKey(environment.id);
			const project = await account.project(caller, environment.project_id);
			return reply(200, { ...row, secret, env: environment, project });
		},
	}),
	endpoint({
		...methods({ tag, path: collection }).get,
		name: 'listApiKeys',
		summary: 'List API keys, without their secrets',
		description: 'Lists keys within the scope and the access level of the calling key.',
		access: 'organization.read',
		secret: true,
		query: ApiKeyQuery,
		returns: { 200: paginated(ApiKeyRead) },
		handle: async ({ query }, { account, caller }) => {
			const page = await account.keys.openedBy(caller, query).page(query);
			const places = await account.keys.openedPlaces(page.data);
			return reply(200, { ...page, data: page.data.map((key) => readApiKey(places, key, null)) });
		},
	}),
	endpoint({
		...methods({ tag, path: collection }).post,
		name: 'createApiKey',
		summary: 'Create an API key and return its secret',
		description: '`project_id` and `environment_id` are ids or keys; an environment id needs no `project_id`.',
		access: 'keys.manage',
		secret: true,
		requestHeaders: ConsoleConfirmation,
		body: ApiKeyCreate,
		example: { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'dashboard' },
		returns: { 200: ApiKeyRead },
		answerHeaders: RevisionAnswer,
		failures: { 404: 'No such organization, project or environment' },
		handle: async ({ body }, { account, caller }) => {
			if (body.organization_id !== undefined) await account.organization(body.organization_id);
			const place = await account.keys.placeFor(caller, body.object_type, body);
			const { access_level, owner_type, name = null } = body;
			const { row, secret, revision } = await createKey(account, { ...place, access_level, owner_type, name });
			return reply(200, await readOneApiKey(account, row, secret), revisionHeader(revision, account.lineage));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getApiKey',
		summary: 'Get an API key, with its secret',
		access: 'keys.read',
		secret: true,
		returns: { 200: ApiKeyRead },
		failures: { 404: 'No such API key' },
		handle: async ({ params }, { account, caller }) => {
			const row = await account.keys.find(caller, params.api_key_id);
			await account.keys.requireInSession(caller, row);
			return reply(200, await readOneApiKey(account, row, account.keys.secret(row)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteApiKey',
		summary: 'Delete an API key, revoking it immediately',
		description: 'Decision points with this key stop serving checks.',
		access: 'keys.manage',
		returns: { 204: null },
		failures: { 400: 'The key is the last admin key of the organization', 404: 'No such API key' },
		handle: async ({ params }, { account, caller }) =>
			emptied(removeKey(account, await account.keys.find(caller, params.api_key_id))),
	}),
	endpoint({
		...methods({ tag, path: `${member}/rotate-secret`, params: ApiKeyPath }).post,
		name: 'rotateApiKey',
		summary: 'Rotate an API key, revoking its old secret immediately',
		description: 'Decision points with the old secret stop serving checks.',
		access: 'keys.manage',
		secret: true,
		requestHeaders: ConsoleConfirmation,
		returns: { 200: ApiKeyRead },
		answerHeaders: RevisionAnswer,
		failures: { 404: 'No such API key' },
		handle: async ({ params }, { account, caller }) => {
			const key = await account.keys.find(caller, params.api_key_id);
			const { row, secret, revision } = await rotateKey(account, key);
			return reply(200, await readOneApiKey(account, row, secret), revisionHeader(revision, account.lineage));
		},
	}),
];

async function readOneApiKey(account: AccountUnit, key: ApiKey, secret: string): Promise<ApiKeyRead> {
	return readApiKey(await account.keys.openedPlaces([key]), key, secret);
}

/** Adds the project and the environment to a key. */
function readApiKey({ projects, environments }: OpenedPlaces, key: ApiKey, secret: string | null): ApiKeyRead {
	const project = projects.find(({ id }) => id === key.project_id) ?? null;
	const env = environments.find(({ id }) => id === key.environment_id) ?? null;
	return { ...key, secret, project, env };
}

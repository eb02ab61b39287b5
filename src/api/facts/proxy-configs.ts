import { z } from 'zod';
import { changeProxyConfig, createProxyConfig, readProxyConfig } from '../../domain/proxy-config.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { allProxyConfigs, ProxyConfig } from '../../store/table/proxy-config.js';
import { Reference } from '../../wire/common.js';
import { ProxyConfigCreate, ProxyConfigRead, ProxyConfigUpdate } from '../../wire/decision/proxy-config.js';
import { PageQuery } from '../../wire/query.js';
import { EnvironmentPath, endpoint, isAdmin } from '../access.js';

const tag = 'Proxy configs';
const collection = '/v2/facts/:proj_id/:env_id/proxy_configs';
const member = `${collection}/:proxy_config_id`;
const ProxyConfigPath = EnvironmentPath.extend({ proxy_config_id: Reference });
const description = 'Only keys with the access level `admin` see the secret.';
const rule = {
	url: 'https://api.example.com/documents/{id}',
	http_method: 'get',
	resource: 'document',
	action: 'read',
};
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: ProxyConfigPath });

/** Proxy settings: the mapping from requests to actions, and the secret for the proxied service. */
export const proxyConfigs = [
	endpoint({
		...collectionPlace.get,
		name: 'listProxyConfigs',
		summary: 'List proxy configs',
		description,
		access: 'environment.read',
		secret: true,
		query: PageQuery,
		returns: { 200: z.array(ProxyConfigRead) },
		handle: async ({ query }, { unit, caller }) => {
			const data = await allProxyConfigs(unit).slice(query);
			const items = data.map((row) => readProxyConfig(unit, row, isAdmin(caller)));
			return reply(200, items);
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createProxyConfig',
		summary: 'Create a proxy config',
		description: `${description} It is stored encrypted. \`Bearer\` takes a string, \`Headers\` a map of strings, \`Basic\` either.`,
		access: 'environment.write',
		secret: true,
		body: ProxyConfigCreate,
		example: { key: 'documents', name: 'Documents', secret: 'a-bearer-token', mapping_rules: [rule] },
		returns: { 200: ProxyConfigRead },
		failures: { 409: 'A proxy config with this key exists' },
		handle: async ({ body }, { unit, caller }) =>
			reply(200, readProxyConfig(unit, await createProxyConfig(unit, body), isAdmin(caller))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getProxyConfig',
		summary: 'Get a proxy config',
		description,
		access: 'environment.read',
		secret: true,
		returns: { 200: ProxyConfigRead },
		failures: { 404: 'No such proxy config' },
		handle: async ({ params }, { unit, caller }) => {
			const row = await unit.find(ProxyConfig, params.proxy_config_id);
			return reply(200, readProxyConfig(unit, row, isAdmin(caller)));
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateProxyConfig',
		summary: 'Update a proxy config',
		description:
			`${description} \`mapping_rules\` replaces all rules. If any rule in it has \`should_delete\`, it contains only ` +
			'changes, and rules with other URLs and methods stay.',
		access: 'environment.write',
		secret: true,
		body: ProxyConfigUpdate,
		example: { name: 'Documents (EU)', mapping_rules: [{ ...rule, should_delete: true }] },
		returns: { 200: ProxyConfigRead },
		failures: { 404: 'No such proxy config' },
		handle: async ({ params, body }, { unit, caller }) => {
			const row = await unit.find(ProxyConfig, params.proxy_config_id);
			return reply(200, readProxyConfig(unit, await changeProxyConfig(unit, row, body), isAdmin(caller)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteProxyConfig',
		summary: 'Delete a proxy config',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such proxy config' },
		handle: async ({ params }, { unit }) => {
			const row = await unit.find(ProxyConfig, params.proxy_config_id);
			return emptied(unit.remove(ProxyConfig, row, row.key));
		},
	}),
];

import { z } from 'zod';
import { rotateKey } from '../../domain/api-key.js';
import { refreshDecisionPoints, setDebugAuditLogs, type WrittenKey } from '../../domain/pdp-config.js';
import { methods, reply } from '../../http/endpoint.js';
import { requestOrigin } from '../../http/request-origin.js';
import type { WritingAccountUnit } from '../../store/account/writing-account.js';
import type { Environment } from '../../store/table/account.js';
import { Reference } from '../../wire/common.js';
import {
	PdpConfigRead,
	PdpInstanceRead,
	PdpRefresh,
	PdpRefreshRead,
	RemoteConfig,
} from '../../wire/decision/decision-point.js';
import { RevisionAnswer } from '../../wire/headers.js';
import { PageQuery } from '../../wire/query.js';
import { EnvironmentPath, endpoint, requireAdmin, revisionHeader } from '../access.js';
import { findVisibleConfig, readPdpConfig, remoteConfig, visibleConfigs } from './pdp-config.js';

const tag = 'Decision points';
const collection = '/v2/pdps/:proj_id/:env_id/configs';
const member = `${collection}/:pdp_id`;

const ConfigPath = EnvironmentPath.extend({ pdp_id: Reference });
const RefreshPath = EnvironmentPath.extend({ pdp_id: Reference.optional() });
const failures = { 404: 'No such project, environment or PDP config' };

/** PDP configs: API keys for decision points. */
export const pdps = [
	endpoint({
		...methods({ tag, path: collection, params: EnvironmentPath }).get,
		name: 'listPdpConfigs',
		summary: 'List the PDP configs of an environment, with their API keys',
		description: 'An `admin` key sees all PDP configs. Any other key sees only its own PDP config, if it has one.',
		access: 'environment.read',
		secret: true,
		query: PageQuery,
		returns: { 200: z.array(PdpConfigRead) },
		failures: { 404: 'No such project or environment' },
		handle: async ({ query }, { account, caller, environment }) => {
			const data = await visibleConfigs(account, caller, environment).slice(query);
			const items = data.map((key) => readPdpConfig(account, environment, key));
			return reply(200, items);
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/pdps/:proj_id/:env_id/instances', params: EnvironmentPath }).get,
		name: 'listPdpInstances',
		summary: 'List reported decision point states, latest report first',
		description: 'States of the last hundred decision points per environment are kept.',
		access: 'environment.read',
		returns: { 200: z.array(PdpInstanceRead) },
		failures: { 404: 'No such project or environment' },
		handle: async (_, { instances }) => reply(200, [...(await instances.list())]),
	}),
	endpoint({
		...methods({ tag, path: `${member}/values`, params: ConfigPath }).get,
		name: 'getPdpConfigValues',
		summary: 'Get the decision point settings of a PDP config, without secrets',
		access: 'environment.read',
		returns: { 200: RemoteConfig },
		failures,
		handle: async ({ params, headers }, { account, caller, environment }) => {
			const { id, debug_audit_logs } = await findVisibleConfig(account, caller, environment, params.pdp_id);
			return reply(200, remoteConfig({ origin: requestOrigin(headers), environment, key_id: id, debug_audit_logs }));
		},
	}),
	endpoint({
		...methods({ tag, path: `${member}/rotate-api-key`, params: ConfigPath }).post,
		name: 'rotatePdpApiKey',
		summary: 'Rotate the API key of a PDP config, revoking the old key immediately',
		description: 'Decision points with the old key stop serving checks immediately. Requires an `admin` key.',
		access: 'environment.manage',
		secret: true,
		returns: { 200: PdpConfigRead },
		answerHeaders: RevisionAnswer,
		failures,
		handle: async ({ params }, { account, caller, environment }) => {
			requireAdmin(caller);
			const config = await findVisibleConfig(account, caller, environment, params.pdp_id);
			return replyWithConfig(account, environment, await rotateKey(account, config));
		},
	}),
	refreshEndpoint('refreshPdpConfigs', 'Make all decision points in the environment load a fresh snapshot', collection),
	refreshEndpoint('refreshPdpConfig', 'Make the decision points of a PDP config load a fresh snapshot', member),
	...(['enable', 'disable'] as const).map((verb) =>
		endpoint({
			...methods({ tag, path: `${member}/debug-audit-logs/${verb}`, params: ConfigPath }).put,
			name: `${verb}PdpDebugAuditLogs`,
			summary: `${verb === 'enable' ? 'Turn on' : 'Turn off'} detailed decision logs for a PDP config`,
			description: 'The setting is stored and returned, but has no effect. Requires an `admin` key.',
			access: 'environment.manage',
			secret: true,
			returns: { 200: PdpConfigRead },
			answerHeaders: RevisionAnswer,
			failures,
			handle: async ({ params }, { account, caller, environment }) => {
				requireAdmin(caller);
				const config = await findVisibleConfig(account, caller, environment, params.pdp_id);
				return replyWithConfig(account, environment, await setDebugAuditLogs(account, config, verb === 'enable'));
			},
		}),
	),
];

function refreshEndpoint(name: string, summary: string, place: string) {
	return endpoint({
		...methods({ tag, path: `${place}/refresh`, params: RefreshPath }).post,
		name,
		summary,
		description:
			'Decision points serve checks from their current data until the snapshot is loaded. Each decision point then ' +
			'logs `update_id` and reports it with its state. A disconnected decision point loads the snapshot after it ' +
			'reconnects.',
		access: 'environment.manage',
		body: PdpRefresh,
		example: { reason: 'restored a back-up' },
		returns: { 200: PdpRefreshRead },
		answerHeaders: RevisionAnswer,
		failures: { 404: 'No such project, environment or PDP config, or the environment has none' },
		handle: async ({ params, body }, { account, environment }) => {
			const asked = await refreshDecisionPoints(account, environment, body?.reason, params.pdp_id);
			return reply(200, { ...asked, pdp_ids: [...asked.pdp_ids] }, revisionHeader(asked.revision, account.lineage));
		},
	});
}

function replyWithConfig(account: WritingAccountUnit, environment: Environment, { row, revision }: WrittenKey) {
	return reply(200, readPdpConfig(account, environment, row), revisionHeader(revision, account.lineage));
}

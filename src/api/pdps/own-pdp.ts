import { emptied, methods, type Request, reply } from '../../http/endpoint.js';
import { requestOrigin } from '../../http/request-origin.js';
import { PdpConfigRequest, PdpStateUpdate, RemoteConfig } from '../../wire/decision/decision-point.js';
import { type Contexts, endpoint, mayReport } from '../access.js';
import { remoteConfig } from './pdp-config.js';

const tag = 'Decision points';
const example = {
	pdp_instance_id: 'rack-7',
	state: { api_version: 'v2', pdp: { version: '0.9.0', mode: 'edge', checks_per_second: 12.5 } },
};

/** Requests and reports by a decision point, with its own API key. */
export const ownPdp = [
	endpoint({
		...methods({ tag, path: '/v2/pdps/me/config' }).get,
		name: 'getOwnPdpConfig',
		summary: 'Get the settings of the calling decision point',
		access: 'environment.own',
		returns: { 200: RemoteConfig },
		handle: async ({ headers }, context) => reply(200, await readOwnConfig(headers, context)),
	}),
	endpoint({
		...methods({ tag, path: '/v2/pdps/me/config' }).post,
		name: 'startOwnPdp',
		summary: 'Get the settings of the calling decision point and optionally report its state',
		description:
			'Stores an optional state like `POST /v2/pdps/me/state`. The state is ignored if the key may not report.',
		access: 'environment.own',
		body: PdpConfigRequest,
		example,
		returns: { 200: RemoteConfig },
		handle: async ({ headers, body }, context) => {
			const { pdp_instance_id, state } = body;
			const reports = pdp_instance_id !== undefined && (await mayReport(context.account, context.caller));
			if (reports) await keep(context, { pdp_instance_id, state: state ?? {} });
			return reply(200, await readOwnConfig(headers, context));
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/pdps/me/state' }).post,
		name: 'reportOwnPdpState',
		summary: 'Report the state of the calling decision point',
		description:
			'Replaces the last report. The state is for operators; no decision depends on it. States of the last hundred ' +
			'decision points per environment are kept.',
		access: 'environment.report',
		body: PdpStateUpdate,
		example,
		returns: { 204: null },
		handle: async ({ body }, context) => emptied(keep(context, body)),
	}),
];

type Own = Contexts['environment.own'];

async function keep({ instances, caller, account }: Own, told: PdpStateUpdate): Promise<void> {
	const { pdp_instance_id, state } = told;
	await instances.keep({ pdp_instance_id, state, api_key_id: caller.key_id }, account.clock.now());
}

async function readOwnConfig(headers: Request<unknown, unknown, unknown>['headers'], own: Own): Promise<RemoteConfig> {
	const { account, caller, environment } = own;
	const config = await account.keys.findPdpConfig(environment.id, caller.key_id);
	const debug_audit_logs = config?.debug_audit_logs ?? true;
	return remoteConfig({ origin: requestOrigin(headers), environment, key_id: caller.key_id, debug_audit_logs });
}

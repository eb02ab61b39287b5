import { type Request, reply } from '../../http/endpoint.js';
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
		name: 'getOwnPdpConfig',
		summary: 'The settings of the calling decision point',
		tag,
		method: 'get',
		path: '/v2/pdps/me/config',
		access: 'environment.own',
		returns: { 200: RemoteConfig },
		handle: async ({ headers }, context) => reply(200, await readOwnConfig(headers, context)),
	}),
	endpoint({
		name: 'startOwnPdp',
		summary: 'The settings of the calling decision point, which may report its state',
		description:
			'The state is stored as by `POST /v2/pdps/me/state`, and may be left out. That of a key that may not report is ignored.',
		tag,
		method: 'post',
		path: '/v2/pdps/me/config',
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
		name: 'reportOwnPdpState',
		summary: 'Report the state of the calling decision point, in place of its last report',
		description:
			'Shown to operators; no decision depends on it. The last hundred decision points of an environment are kept.',
		tag,
		method: 'post',
		path: '/v2/pdps/me/state',
		access: 'environment.report',
		body: PdpStateUpdate,
		example,
		returns: { 204: null },
		handle: async ({ body }, context) => {
			await keep(context, body);
			return reply(204);
		},
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

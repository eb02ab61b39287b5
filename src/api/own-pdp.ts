import { type Request, reply } from '../http/endpoint.js';
import { PdpConfigRequest, PdpStateUpdate, RemoteConfig } from '../wire/decision-point.js';
import { type Contexts, endpoint } from './access.js';
import { remoteConfig } from './pdp-config.js';
import { requestOrigin } from './request-origin.js';

const tag = 'Decision points';
const example = { pdp_instance_id: 'rack-7', state: { api_version: 'v2', pdp: { version: '0.9.0' } } };

/** What a decision point asks and reports, with its own API key (contract: What the PDP asks from this API). */
export const ownPdp = [
	endpoint({
		name: 'getOwnPdpConfig',
		summary: 'The settings of the decision point that asks',
		tag,
		method: 'get',
		path: '/v2/pdps/me/config',
		access: 'environment.own',
		returns: { 200: RemoteConfig },
		handle: async ({ headers }, context) => reply(200, await readOwnConfig(headers, context)),
	}),
	endpoint({
		name: 'startOwnPdp',
		summary: 'The settings of the decision point that asks, which says how it is',
		description: 'What it says is kept as with `POST /v2/pdps/me/state`; it need not say anything.',
		tag,
		method: 'post',
		path: '/v2/pdps/me/config',
		access: 'environment.own',
		body: PdpConfigRequest,
		example,
		returns: { 200: RemoteConfig },
		handle: async ({ headers, body }, context) => {
			const { pdp_instance_id, state } = body;
			if (pdp_instance_id !== undefined) await keep(context, { pdp_instance_id, state: state ?? {} });
			return reply(200, await readOwnConfig(headers, context));
		},
	}),
	endpoint({
		name: 'reportOwnPdpState',
		summary: 'A decision point says how it is, in place of what it said before',
		description: 'Shown to operators; nothing is decided by it. Of an environment the last hundred are remembered.',
		tag,
		method: 'post',
		path: '/v2/pdps/me/state',
		access: 'environment.own',
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

/** Control endpoints for operators. */

import { z } from 'zod';
import { methods, reply } from '../../http/endpoint.js';
import type { Replica } from '../follow/replica.js';
import { endpoint } from './endpoint.js';

/** Decision point API version. */
const apiVersion = 4;

const Version = z
	.object({ api_version: z.int().meta({ description: 'Contract version.', example: apiVersion }) })
	.meta({ id: 'Version', description: 'Contract version.' });

const Triggered = z
	.object({ status: z.literal('ok').describe('Always `ok`.') })
	.meta({ id: 'Triggered', description: 'Confirmation of a full reload.' });

/** Paths that trigger a full fetch. The original API updates policy and data separately, but bundles contain both. */
const triggers = [
	['triggerPolicyUpdate', '/policy-updater/trigger'],
	['triggerDataUpdate', '/data-updater/trigger'],
	['updatePolicy', '/update_policy'],
	['updatePolicyData', '/update_policy_data'],
] as const;

/** Declares the endpoints for the API version and for update triggers. */
export function controlEndpoints(replica: Pick<Replica, 'refetch'>) {
	const tag = 'Control';
	return [
		endpoint({
			...methods({ tag, path: '/version' }).get,
			name: 'version',
			summary: 'Get the contract version',
			access: 'key',
			returns: { 200: Version },
			handle: () => reply(200, { api_version: apiVersion }),
		}),
		...triggers.map(([name, path]) =>
			endpoint({
				...methods({ tag, path }).post,
				name,
				summary: 'Reload policy and data',
				description:
					'Updates arrive without this call. The call returns immediately, and the loaded bundle stays in use until ' +
					'the new bundle is loaded. A full reload runs at most once in ten seconds: calls within this time share one ' +
					'reload.',
				access: 'key',
				returns: { 200: Triggered },
				handle: () => {
					replica.refetch();
					return reply(200, { status: 'ok' as const });
				},
			}),
		),
	];
}

/** The check for all tenants, and how its callers may say who they are. */

import { AllowedTenants, AllTenantsQuery } from '../../wire/decision/check.js';
import { DecidedAnswer, ReasonsRequest } from '../../wire/headers.js';
import type { Mode } from '../decide/normalise.js';
import { allowedTenants } from '../listing/all-tenants.js';
import { explains } from './decision-endpoints.js';
import { chunkedReply, endpoint, unavailableOrCostly } from './endpoint.js';

/** The largest body that is read before its sender is known, in bytes. */
export const maxNamingBody = 64 * 1024;

/**
 * What a body of the Node SDK says in place of the header `Authorization`, which its `checkAllTenants` does not send
 * (contract: SDKs, Node); `undefined` when it says nothing.
 */
export function authorizationInBody(body: unknown): string | undefined {
	const said = member(member(body, 'headers'), 'Authorization');
	return typeof said === 'string' ? said : undefined;
}

function member(value: unknown, name: string): unknown {
	const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
	return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Declares the check for all tenants of a decision point of this mode. */
export function allTenantsEndpoints(mode: Mode) {
	return [
		endpoint({
			name: 'checkAllTenants',
			summary: 'List the tenants in which a check is allowed',
			description:
				'Asks the check in every tenant where the user holds a role, in it or on an instance of it; for a user who is ' +
				'not synced, in every tenant. A tenant of the resource is ignored. The body is a check, or ' +
				'`{headers, params}` with the check in `params`, as the Node SDK sends it.',
			tag: 'Decisions',
			method: 'post',
			path: '/allowed/all-tenants',
			access: 'key_or_body',
			body: AllTenantsQuery,
			example: { user: 'ann@example.com', action: 'read', resource: { type: 'document' } },
			returns: { 200: AllowedTenants },
			answerHeaders: DecidedAnswer,
			requestHeaders: ReasonsRequest,
			failures: unavailableOrCostly,
			handle: async ({ body, headers, closed }, { read }) => {
				const explain = explains(body, headers['x-debug']);
				return chunkedReply(
					await read({
						kind: 'listing',
						closed,
						*work(context) {
							const list = yield* allowedTenants(context, body, mode, explain);
							return ['{"allowed_tenants":', ...list, ',"allowedTenants":', ...list, '}'];
						},
					}),
				);
			},
		}),
	];
}

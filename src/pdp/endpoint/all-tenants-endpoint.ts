/** Check across all tenants, and the two ways to authenticate it. */

import { methods } from '../../http/endpoint.js';
import { AllowedTenants, AllTenantsQuery } from '../../wire/decision/check.js';
import { DecidedAnswer, ReasonsRequest } from '../../wire/headers.js';
import type { Mode } from '../decide/normalise.js';
import { allowedTenants } from '../listing/all-tenants.js';
import { explains } from './decision-endpoints.js';
import { chunkedReply, endpoint, unavailableOrCostly } from './endpoint.js';

/** Maximum body size read before the caller is authenticated, in bytes. */
export const maxNamingBody = 64 * 1024;

/**
 * Returns the authorization in a Node SDK body; `undefined` if there is none. The SDK's `checkAllTenants` sends the
 * authorization in the body instead of the `Authorization` header.
 */
export function authorizationInBody(body: unknown): string | undefined {
	const said = member(member(body, 'headers'), 'Authorization');
	return typeof said === 'string' ? said : undefined;
}

function member(value: unknown, name: string): unknown {
	const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
	return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Declares the check across all tenants. */
export function allTenantsEndpoints(mode: Mode) {
	return [
		endpoint({
			...methods({ tag: 'Decisions', path: '/allowed/all-tenants' }).post,
			name: 'checkAllTenants',
			summary: 'List the tenants in which a check is allowed',
			description:
				'Evaluates the check in every tenant where the user holds a role, in the tenant or on one of its instances; ' +
				"for an unknown user, in every tenant. The resource's tenant is ignored. The body is a check, or `{headers, " +
				'params}` with the check in `params`, as sent by the Node SDK.',
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

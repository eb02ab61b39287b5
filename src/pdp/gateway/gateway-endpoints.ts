/** Checks in the formats used by nginx and Kong. For Trino see `trino-endpoints.ts`. */

import type { Steps } from '../../../compiler/steps.js';
import { Failure, unprocessable } from '../../failure.js';
import { methods, reply } from '../../http/endpoint.js';
import { AuthorizationResult } from '../../wire/decision/check.js';
import { KongAnswer, KongQuery, NginxQuery } from '../../wire/decision/gateway.js';
import { DecidedAnswer, NginxRequest } from '../../wire/headers.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise } from '../decide/normalise.js';
import { endpoint, revisionHeader, unavailable } from '../endpoint/endpoint.js';
import type { GatewaySettings, KongRoute } from './gateway-settings.js';
import { trinoEndpoints } from './trino-endpoints.js';

/** Declares the gateway check endpoints. */
export function gatewayEndpoints(mode: Mode, { kongRoutes, trino }: GatewaySettings) {
	return [nginxEndpoint(mode), kongEndpoint(mode, kongRoutes), ...trinoEndpoints(mode, trino)];
}

const tag = 'Gateways';

/** Headers sent by nginx, in the order in which missing headers are reported. */
const nginxHeaders = ['permit-user-key', 'permit-tenant-id', 'permit-action', 'permit-resource-type'] as const;

function nginxEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/nginx_allowed' }).post,
		name: 'checkForNginx',
		summary: 'Decide a check described by headers',
		description:
			'The headers `permit-user-key`, `permit-tenant-id`, `permit-action` and `permit-resource-type` describe the ' +
			'check; a body is ignored. `deny_status` sets the denial status for `auth_request` in nginx, which reads only ' +
			'the status.',
		access: 'key',
		query: NginxQuery,
		returns: { 200: AuthorizationResult, 401: AuthorizationResult, 403: AuthorizationResult },
		answerHeaders: DecidedAnswer,
		requestHeaders: NginxRequest,
		failures: unavailable,
		handle: ({ headers, query }, { now }) => {
			const [user, tenant, action, type] = nginxHeaders.map((name) => headers[name] ?? '');
			if (!user || !tenant || !action || !type) throw missingHeaders(headers);
			const context = now();
			const check = { user: { key: user }, action, resource: { type, tenant } };
			const result = decide(context, normalise(check, context.time, mode), false);
			const from = revisionHeader(context);
			if (result.allow || query.deny_status === undefined) return reply(200, result, from);
			return query.deny_status === 401 ? reply(401, result, from) : reply(403, result, from);
		},
	});
}

function missingHeaders(headers: Readonly<Record<string, string | undefined>>): Failure {
	const missing = nginxHeaders.filter((name) => !headers[name]);
	return unprocessable(missing.map((name) => ({ loc: ['header', name], msg: 'is required', type: 'missing' })));
}

function kongEndpoint(mode: Mode, routes: readonly KongRoute[] | null) {
	return endpoint({
		...methods({ tag, path: '/kong' }).post,
		name: 'checkForKong',
		summary: 'Decide a request passing through Kong',
		description:
			"Accepts requests from Kong's OPA plugin. The user is the consumer name, the action is the method in " +
			'lowercase, the tenant is `default`, and the route table maps the path to a resource. A request ' +
			'without a consumer ' +
			'or a route is denied.',
		access: 'key',
		body: KongQuery,
		example: {
			input: { request: { http: { method: 'GET', path: '/documents/7' } }, consumer: { username: 'ann@example.com' } },
		},
		returns: { 200: KongAnswer },
		answerHeaders: DecidedAnswer,
		failures: { 503: 'The Kong integration is off, or no revision is loaded yet' },
		handle: async ({ body, closed }, { read }) => {
			if (routes === null)
				throw new Failure('unavailable', 'the Kong integration is off: set PDP_KONG_INTEGRATION=true');
			const { request, consumer } = body.input;
			const key = consumer?.username;
			const work = function* (context: DecisionContext): Steps<boolean> {
				const type = yield* resourceOf(request.http.path, routes);
				if (!key || !type) return false;
				const check = { user: { key }, action: request.http.method.toLowerCase(), resource: { type } };
				return decide(context, normalise(check, context.time, mode), false).allow;
			};
			const { result, ...from } = await read({ kind: 'batch', work, closed });
			return reply(200, { result }, revisionHeader(from));
		},
	});
}

/** Returns the resource type from the first matching route; null if no route matches. */
function* resourceOf(path: string, routes: readonly KongRoute[]): Steps<string | null> {
	for (const { path: expression, resource } of routes) {
		// A single expression may use up a whole slice.
		yield;
		const matcher = expression.matcher(path);
		if (matcher.lookingAt()) return typeof resource === 'string' ? resource : matcher.group(resource);
	}
	return null;
}

/** AuthZEN discovery: metadata with the endpoint URLs. */

import { z } from 'zod';
import { Failure } from '../../failure.js';
import { reply } from '../../http/endpoint.js';
import { requestOrigin } from '../../http/request-origin.js';
import { DecisionPointMetadata } from '../../wire/decision/authzen.js';
import { endpoint } from '../endpoint/endpoint.js';

/** AuthZEN paths, relative to the decision point's URL. */
export const authzenPaths = {
	evaluation: '/access/v1/evaluation',
	evaluations: '/access/v1/evaluations',
	subject: '/access/v1/search/subject',
	resource: '/access/v1/search/resource',
	action: '/access/v1/search/action',
} as const;

const wellKnown = '/.well-known/authzen-configuration';

/** No registry defines capability names yet. Other decision points with pagination use this name. */
const capabilities = ['urn:ietf:params:authzen:capability:search-pagination'];

/** Paths whose segments need no escaping and are not dot segments. */
const plainPath = /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)*$/;

/**
 * Declares the metadata endpoints. `publicUrl` is the public URL, without a trailing slash; `null` uses the
 * request's origin.
 */
export function metadataEndpoints(publicUrl: string | null) {
	const metadata = (headers: Readonly<Record<string, string | undefined>>, suffix: string) => {
		// The response may depend on request headers, so it must not be cached.
		const answer = { 'cache-control': 'no-store' };
		return reply(200, describe(addressFor(publicUrl, headers, suffix)), answer);
	};
	const common = {
		tag: 'AuthZEN',
		method: 'get',
		access: 'authzen_open',
		returns: { 200: DecisionPointMetadata },
	} as const;
	return [
		endpoint({
			...common,
			name: 'authzenConfiguration',
			summary: 'Get the AuthZEN metadata',
			description: "URLs begin with the setting `PDP_PUBLIC_URL`, or by default with the request's own origin.",
			path: wellKnown,
			handle: ({ headers }) => metadata(headers, ''),
		}),
		endpoint({
			...common,
			name: 'authzenConfigurationBelow',
			summary: 'Get the AuthZEN metadata for a decision point URL with a path',
			description: 'AuthZEN places the path of the URL after the well-known path.',
			path: `${wellKnown}/*path`,
			params: z.object({ path: z.string().describe('Path of the decision point URL, without its leading slash.') }),
			handle: ({ headers, params }) => metadata(headers, `/${params.path}`),
		}),
	];
}

/** Returns the decision point's URL for a path suffix. Throws `Failure` (`not_found`). */
function addressFor(
	publicUrl: string | null,
	headers: Readonly<Record<string, string | undefined>>,
	suffix: string,
): string {
	const path = suffix.replace(/\/$/, '');
	const isKnown =
		publicUrl === null ? plainPath.test(path) : path === '' || publicUrl === new URL(publicUrl).origin + path;
	if (!isKnown) throw new Failure('not_found', 'no metadata at this path');
	return publicUrl ?? requestOrigin(headers) + path;
}

function describe(address: string): DecisionPointMetadata {
	return {
		policy_decision_point: address,
		access_evaluation_endpoint: address + authzenPaths.evaluation,
		access_evaluations_endpoint: address + authzenPaths.evaluations,
		search_subject_endpoint: address + authzenPaths.subject,
		search_resource_endpoint: address + authzenPaths.resource,
		search_action_endpoint: address + authzenPaths.action,
		capabilities,
	};
}

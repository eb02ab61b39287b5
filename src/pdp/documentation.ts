import { z } from 'zod';
import { documentationEndpoints } from '../http/documentation.js';
import type { Endpoint } from '../http/endpoint.js';
import type { DocumentInfo } from '../http/openapi.js';
import { ValidationProblems } from '../wire/error.js';
import { AwaitedRevision, EveryAnswer, LoadedAnswer, NamedRequest } from '../wire/headers.js';
import { authzenFailures, authzenOpenFailures } from './authzen/failures.js';
import { cerbosFailures } from './endpoint/cerbos-failures.js';

const FailureBody = z
	.object({ detail: z.string().describe('Human-readable error message.') })
	.meta({ id: 'FailureBody', description: 'Body for every failed request except a 422.' });

/** 422 response body: the first problems, each with its location. */
const ValidationFailureBody = z
	.object({ detail: ValidationProblems })
	.meta({ id: 'ValidationFailureBody', description: 'Body for a 422: the first problems, each with its location.' });

const tags = {
	Decisions: 'Checks: may this user perform this action on this resource?',
	Listings: 'Listings of permissions, tenants and authorized users, consistent with checks.',
	Filters: 'Conditions on rows, for database queries, consistent with checks.',
	AuthZEN: 'The AuthZEN Authorization API 1.0: evaluations and searches.',
	Gateways: 'Checks in the formats of nginx, Kong and Trino.',
	Approvals: 'Single-use operation approvals.',
	Health: 'Decision point health and metrics.',
	Control: 'Contract version and full reload.',
	Documentation: 'This document.',
} as const;

/** Every request with the API key may wait for a revision. */
const waiting = { requestHeaders: AwaitedRevision } as const;

/** Example values, keyed by field name, for fields without an example in the request. */
const samples = {
	allow: true,
	result: true,
	decision: true,
	online: true,
	revision: 12,
	key: 'acme',
	permissions: ['document:read'],
	roles: ['editor'],
	state: 'ready',
} as const;

/**
 * Returns endpoints for the OpenAPI document of `table` and its documentation page. The document links to the API
 * reference at `controlPlane`.
 */
export function decisionPointDocumentation(
	table: readonly Endpoint<string, never>[],
	version: string,
	controlPlane: string | null = null,
): readonly Endpoint<string, never>[] {
	const place = { documentPath: '/openapi.json', pagePath: '/docs', access: 'open' } as const;
	const info: DocumentInfo = {
		title: 'Regolith decision point',
		version,
		description:
			'Decides checks for one environment. Every response contains its revision in `X-Revision`; a request with ' +
			'`X-Min-Revision` waits for this revision.',
		tags,
		headers: { every: EveryAnswer, failures: LoadedAnswer },
		access: {
			open: { description: 'No authentication.', secured: false },
			key: { description: "Requires the decision point's API key.", secured: true, ...waiting },
			authzen_open: {
				description: 'No authentication.',
				secured: false,
				failures: authzenOpenFailures,
				requestHeaders: NamedRequest,
			},
			authzen: {
				description: "Requires the decision point's API key.",
				secured: true,
				failures: authzenFailures,
				requestHeaders: AwaitedRevision.extend(NamedRequest.shape),
			},
			cerbos: {
				description: "Requires the decision point's API key.",
				secured: true,
				failures: cerbosFailures,
				...waiting,
			},
			key_or_body: {
				description:
					"Requires the decision point's API key: in the header `Authorization`, or without this header in " +
					'`headers.Authorization` of a body up to 64 KiB.',
				secured: true,
				...waiting,
			},
			trino: {
				description: "Requires the decision point's API key, unless `PDP_ALLOW_UNAUTHENTICATED_TRINO` is set.",
				secured: true,
				...waiting,
			},
		},
		key: "API key of the decision point's environment.",
		failureBody: FailureBody,
		validationBody: ValidationFailureBody,
		samples,
		failureExample: (status, message) => ({
			detail: status === 422 ? [{ loc: ['body', 'action'], msg: 'field required', type: 'missing' }] : message,
		}),
	};
	const api = controlPlane?.replace(/\/+$/, '');
	const related = api === undefined ? null : { description: 'Management API reference', url: `${api}/docs` };
	return documentationEndpoints(table, place, info, () => related);
}

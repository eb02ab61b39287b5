import { z } from 'zod';
import { documentationEndpoints } from '../http/documentation.js';
import type { Endpoint } from '../http/endpoint.js';
import type { DocumentInfo } from '../http/openapi.js';
import { ValidationProblems } from '../wire/error.js';
import { AwaitedRevision, EveryAnswer, LoadedAnswer, NamedRequest } from '../wire/headers.js';
import { authzenFailures, authzenOpenFailures } from './authzen/failures.js';

/** Failure response body. */
const FailureBody = z
	.object({ detail: z.string().describe('Human-readable problem.') })
	.meta({ id: 'FailureBody', description: 'The body of a failure.' });

/** 422 response body: the first problems, each with its location. */
const ValidationFailureBody = z
	.object({
		detail: ValidationProblems,
	})
	.meta({ id: 'ValidationFailureBody', description: 'The body of a 422: the first problems, each with its place.' });

/** Tag descriptions. */
const tags = {
	Decisions: 'Checks: may this user do this action on this resource?',
	Listings: 'What a user may do, where, and who may do something: exactly what checks allow.',
	AuthZEN: 'The AuthZEN Authorization API 1.0: evaluations and searches.',
	Gateways: 'Checks in the words of nginx, Kong and Trino.',
	Approvals: 'Operation approvals that are good for one use.',
	Health: 'Whether the decision point runs, and whether it can answer.',
	Control: 'The version of the contract, and fetching everything anew.',
	Documentation: 'This document.',
} as const;

/** Every request with the API key may wait for a revision. */
const waiting = { requestHeaders: AwaitedRevision } as const;

/** Example values, keyed by member name, for members without an example in the request. */
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
			'Decides who may do what in one environment. Answers name the revision they come from in `X-Revision`; a ' +
			'request with `X-Min-Revision` waits for one.',
		tags,
		headers: { every: EveryAnswer, failures: LoadedAnswer },
		access: {
			open: { description: 'Anyone may call this.', secured: false },
			key: { description: 'Needs the API key that the decision point was started with.', secured: true, ...waiting },
			authzen_open: {
				description: 'Anyone may call this.',
				secured: false,
				failures: authzenOpenFailures,
				requestHeaders: NamedRequest,
			},
			authzen: {
				description: 'Needs the API key that the decision point was started with.',
				secured: true,
				failures: authzenFailures,
				requestHeaders: AwaitedRevision.extend(NamedRequest.shape),
			},
			key_or_body: {
				description:
					'Needs the API key that the decision point was started with: in the header `Authorization`, or, without ' +
					'that header, in `headers.Authorization` of a body of at most 64 KiB.',
				secured: true,
				...waiting,
			},
			trino: {
				description:
					'Needs the API key that the decision point was started with, unless `PDP_ALLOW_UNAUTHENTICATED_TRINO` ' +
					'is set.',
				secured: true,
				...waiting,
			},
		},
		key: 'The API key of the environment that the decision point serves.',
		failureBody: FailureBody,
		validationBody: ValidationFailureBody,
		samples,
		failureExample: (status, message) => ({
			detail: status === 422 ? [{ loc: ['body', 'action'], msg: 'field required', type: 'missing' }] : message,
		}),
	};
	const api = controlPlane?.replace(/\/+$/, '');
	const related = api === undefined ? null : { description: 'The reference of the API', url: `${api}/docs` };
	return documentationEndpoints(table, place, info, () => related);
}

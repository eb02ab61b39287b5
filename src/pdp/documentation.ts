import { z } from 'zod';
import { documentationEndpoints } from '../http/documentation.js';
import type { Endpoint } from '../http/endpoint.js';
import { authzenFailures, authzenOpenFailures } from './authzen-failures.js';

/** The body of a failure (contract of decision points: Errors). */
const FailureBody = z.object({ detail: z.string() }).meta({ id: 'FailureBody' });

/** The body of a 422: the first problems, each with its place. */
const ValidationFailureBody = z
	.object({
		detail: z.array(z.object({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string(), type: z.string() })),
	})
	.meta({ id: 'ValidationFailureBody' });

/** Values for examples by the name of the member, where the example of a request has none. */
const samples = {
	allow: true,
	result: true,
	online: true,
	revision: 12,
	key: 'acme',
	permissions: ['document:read'],
	roles: ['editor'],
	state: 'ready',
} as const;

/** The OpenAPI document of a decision point and the page that shows it, as endpoints of the same table. */
export function decisionPointDocumentation(
	table: readonly Endpoint<string, never>[],
	version: string,
): readonly Endpoint<string, never>[] {
	const place = { documentPath: '/openapi.json', pagePath: '/docs', access: 'open' } as const;
	return documentationEndpoints(table, place, {
		title: 'Regolith decision point',
		version,
		description:
			'Decides who may do what in one environment. Answers name the revision they come from in `X-Revision`; a ' +
			'request with `X-Min-Revision` waits for one.',
		access: {
			open: { description: 'Anyone may call this.', secured: false },
			key: { description: 'Needs the API key that the decision point was started with.', secured: true },
			authzen_open: { description: 'Anyone may call this.', secured: false, failures: authzenOpenFailures },
			authzen: {
				description: 'Needs the API key that the decision point was started with.',
				secured: true,
				failures: authzenFailures,
			},
			key_or_body: {
				description:
					'Needs the API key that the decision point was started with: in the header `Authorization`, or, without ' +
					'that header, in `headers.Authorization` of a body of at most 64 KiB.',
				secured: true,
			},
			trino: {
				description:
					'Needs the API key that the decision point was started with, unless `PDP_ALLOW_UNAUTHENTICATED_TRINO` is set.',
				secured: true,
			},
		},
		key: 'The API key of the environment that the decision point serves.',
		failureBody: FailureBody,
		validationBody: ValidationFailureBody,
		samples,
		failureExample: (status, message) => ({
			detail: status === 422 ? [{ loc: ['body', 'action'], msg: 'field required', type: 'missing' }] : message,
		}),
	});
}

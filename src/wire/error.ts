import { z } from 'zod';

/** The contract's closed list; a client that meets another value loses the kind of the error. */
const ErrorCode = z.enum([
	'INVALID_INPUT',
	'INVALID_JWKS_CONFIGURATION',
	'UNEXPECTED_ERROR',
	'NOT_FOUND',
	'DUPLICATE_ENTITY',
	'EMPTY_DECISION_LOGS',
	'MISSING_REQUEST_ATTRIBUTE',
	'FORBIDDEN_ACCESS',
	'INVALID_PERMISSION_FORMAT',
	'MISSING_PERMISSIONS',
	'UNSUPPORTED_ATTRIBUTE_TYPE',
	'MISSING_RESOURCE_ATTRIBUTE',
	'MISMATCH_ATTRIBUTES_TYPES',
	'INVALID_POLICY_REPO_STATUS',
	'INVALID_SMTP_CONFIGURATION',
	'MISMATCH_RESOURCE_INSTANCES_TENANTS',
	'PAGINATION_SIZE_OVERREACHED',
	'MISMATCH_RELATION_TYPE',
	'CONCURRENT_OPERATION_DISALLOWED',
	'UNAUTHORIZED',
]);

/** The body of every failed request but a 422. */
export const ErrorBody = z
	.object({
		/** The request's id. */
		id: z.string(),
		title: z.string(),
		error_code: ErrorCode,
		message: z.string(),
		support_link: z.url().nullable().default(null),
		additional_info: z.unknown().default(null),
	})
	.meta({ id: 'ErrorBody' });
export type ErrorBody = z.input<typeof ErrorBody>;

/** The body of a 422: the first problems, each with its place, which begins with `body`, `query` or `path`. */
export const ValidationErrorBody = z
	.object({
		detail: z.array(
			z.object({
				loc: z.array(z.union([z.string(), z.int()])),
				msg: z.string(),
				type: z.string(),
			}),
		),
	})
	.meta({ id: 'ValidationErrorBody' });
export type ValidationErrorBody = z.input<typeof ValidationErrorBody>;

import { z } from 'zod';
import { named } from './named.js';

/** Error codes: the closed list from the contract. Clients cannot classify an error with a different code. */
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

export const ErrorBody = named('ErrorBody', 'Body for every failed request except a 422.', {
	id: z.string().describe('Request id, as in the response header `X-Request-ID` and in the log.'),
	title: z.string().describe('Human-readable error kind.'),
	error_code: ErrorCode.describe("Error code for programs, from the contract's closed list."),
	message: z.string().describe('Human-readable error message.'),
	support_link: z.url().nullable().default(null).describe('Link to more information; null if there is none.'),
	additional_info: z.unknown().default(null).describe('More details, if there are any.'),
});
export type ErrorBody = z.input<typeof ErrorBody>;

/** The first problems in a request, each with its location. */
export const ValidationProblems = z
	.array(
		z.object({
			loc: z
				.array(z.union([z.string(), z.int()]))
				.describe('Location: `body`, `query`, `path` or `header`, then field names and indexes.'),
			msg: z.string().describe('Problem, including the value.'),
			type: z.string().describe('Problem kind, for programs.'),
		}),
	)
	.describe('The first problems, at most 20.');

export const ValidationErrorBody = named(
	'ValidationErrorBody',
	'Body for a 422: the first problems, each with its location, which begins with `body`, `query` or `path`.',
	{ detail: ValidationProblems },
);
export type ValidationErrorBody = z.input<typeof ValidationErrorBody>;

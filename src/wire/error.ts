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
		id: z.string().describe("The id of the request, as in the answer's header `X-Request-ID` and in the log."),
		title: z.string().describe('The kind of the error, for people.'),
		error_code: ErrorCode.describe("The kind of the error, for programs: one of the contract's closed list."),
		message: z.string().describe('What is wrong, for people.'),
		support_link: z.url().nullable().default(null).describe('Where to read more; null where there is nothing more.'),
		additional_info: z.unknown().default(null).describe('More about the error, where there is any.'),
	})
	.meta({ id: 'ErrorBody', description: 'The body of every failed request but a 422.' });
export type ErrorBody = z.input<typeof ErrorBody>;

/** The first problems of a request, each with its place. */
export const ValidationProblems = z
	.array(
		z.object({
			loc: z
				.array(z.union([z.string(), z.int()]))
				.describe('The place: `body`, `query`, `path` or `header`, then names of members and indexes.'),
			msg: z.string().describe('What is wrong, with the value.'),
			type: z.string().describe('The kind of the problem, for programs.'),
		}),
	)
	.describe('The first problems, at most 20.');

/** The body of a 422: the first problems, each with its place, which begins with `body`, `query` or `path`. */
export const ValidationErrorBody = z
	.object({
		detail: ValidationProblems,
	})
	.meta({
		id: 'ValidationErrorBody',
		description:
			'The body of a 422: the first problems, each with its place, which begins with `body`, `query` or `path`.',
	});
export type ValidationErrorBody = z.input<typeof ValidationErrorBody>;

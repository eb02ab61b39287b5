/**
 * The headers of requests and answers, for the documentation only. Handlers read and write them themselves.
 */

import { z } from 'zod';

const Revision = z.int().min(0).meta({ example: 12 });

/** The header of every answer. */
export const EveryAnswer = z.object({
	'X-Request-ID': z.string().meta({
		description: 'The id of the request, by which logs and errors name it.',
		example: '6ba0ec09-7b7e-4d0e-9c0a-2f0d2ac5f6c1',
	}),
});

const RevisionTokenText = z.string().meta({ example: 'd3b07384d113edec.12' });

/** The header of the API's answers that write to an environment or show one of its revisions. */
export const RevisionAnswer = z.object({
	'X-Revision': Revision.optional().describe(
		'The revision of the environment that the answer shows; after a write, the one that it led to. A check that sends ' +
			'it as `X-Min-Revision` knows of the write.',
	),
	'X-Revision-Token': RevisionTokenText.optional().describe(
		'After a write: its revision with the lineage of the database, `<lineage>.<revision>`. Unlike the number, it stays ' +
			'clear after a failover or a restore that lost revisions.',
	),
});

/** The headers of the API's answers to calls that are kept for older clients. */
export const DeprecatedAnswer = z.object({
	Deprecation: z.string().meta({
		description: 'Since when the call is deprecated: `@` and seconds since 1970 (RFC 9745).',
		example: '@1767225600',
	}),
	Link: z.string().meta({
		description: 'The call to use instead, with the relation `successor-version`.',
		example: '</v2/schema/default/dev/groups>; rel="successor-version"',
	}),
});

/** The revision that answers of a decision point come from. Absent until the first revision is loaded. */
export const LoadedAnswer = z.object({
	'X-Revision': Revision.optional().describe('The revision of the environment that the answer comes from.'),
	'X-Revision-Token': RevisionTokenText.optional().describe(
		'The revision with the lineage of the database that it is of: `<lineage>.<revision>`.',
	),
	'X-Policy-Revision': Revision.optional().describe(
		'The newest revision whose policy was used: less than `X-Revision` while that waits for its policy.',
	),
});

/** The headers of answers that hold decisions. */
export const DecidedAnswer = LoadedAnswer.extend({
	'X-Data-Age': z.int().min(0).optional().meta({
		description: 'How long ago it was last known that there is nothing newer, in whole seconds.',
		example: 0,
	}),
	'X-Decision-ID': z
		.string()
		.optional()
		.meta({
			description:
				'The id of the decision in the decision log; absent where none is kept. Each of many decisions has it with `/` ' +
				'and its place added.',
			example: '0f1e5a3c-94a5-4d3c-8b0e-3d6a1c9f2b71',
		}),
});

/** The revision that a request to a decision point waits for. */
export const AwaitedRevision = z.object({
	'X-Min-Revision': z
		.union([z.int().min(0), RevisionTokenText])
		.optional()
		.meta({
			description:
				'Waits until answers come from this revision or a later one, its policy included; 503 where that takes more than ' +
				'ten seconds. A number is of the present lineage. A token (`X-Revision-Token`) is of its own: 409 where that ' +
				'has ended, because the write may be lost.',
			// The reference page sends examples, and every environment has this revision.
			example: 1,
		}),
});

/** The header that asks for reasons. */
export const ReasonsRequest = z.object({
	'X-Debug': z.enum(['true', 'false']).optional().meta({ description: '`true` adds the reasons.', example: 'true' }),
});

/** The header that asks for reasons, or for reasons and attempts. */
export const AttemptsRequest = z.object({
	'X-Debug': z
		.enum(['true', 'false', 'attempts'])
		.optional()
		.meta({
			description:
				'`true` adds the reasons as `debug`, and `attempts` also the attempts as `debug.attempts`, unless ' +
				'`use_debugger` of the body says otherwise.',
			example: 'true',
		}),
});

/** The id that a client of AuthZEN gives its request. */
export const NamedRequest = z.object({
	'X-Request-ID': z.string().optional().meta({
		description: 'An id of your own for the request, which the answer repeats.',
		example: 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716',
	}),
});

/** The check of a request that nginx has received. */
export const NginxRequest = z.object({
	'permit-user-key': z.string().min(1).meta({ description: 'The key of the user.', example: 'ann@example.com' }),
	'permit-tenant-id': z.string().min(1).meta({ description: 'The key of the tenant.', example: 'acme' }),
	'permit-action': z.string().min(1).meta({ description: 'The key of the action.', example: 'read' }),
	'permit-resource-type': z.string().min(1).meta({ description: 'The key of the resource.', example: 'document' }),
});

/** What a client of the bundle protocol has, and how long it waits. */
export const BundleRequest = z.object({
	'If-None-Match': z.string().optional().meta({
		description: 'The `ETag` of the bundle that is held: the answer is 304 while there is nothing new.',
		example: '"d3b07384d113edec.r12.8843d7f92416211d-b5bb9d8014a0f9b1d61e21e796d78dcc.7c211433f02071597741e6ff"',
	}),
	Prefer: z
		.string()
		.optional()
		.meta({
			description:
				'`modes=snapshot,delta` takes deltas as well, and `wait=30` waits that many seconds for something new, at ' +
				'most 60.',
			example: 'modes=snapshot,delta;wait=30',
		}),
});

/** The name of a bundle. */
export const BundleAnswer = RevisionAnswer.extend({
	ETag: z.string().meta({
		description: 'The name of the bundle, for `If-None-Match`.',
		example: '"d3b07384d113edec.r12.8843d7f92416211d-b5bb9d8014a0f9b1d61e21e796d78dcc.7c211433f02071597741e6ff"',
	}),
});

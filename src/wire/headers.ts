/** Request and response headers, for the documentation only. Handlers read and write the headers directly. */

import { z } from 'zod';

const Revision = z.int().min(0).meta({ example: 12 });

/** Header that every response contains. */
export const EveryAnswer = z.object({
	'X-Request-ID': z
		.string()
		.meta({ description: 'Request id, as used in logs and errors.', example: '6ba0ec09-7b7e-4d0e-9c0a-2f0d2ac5f6c1' }),
});

const RevisionTokenText = z.string().meta({ example: 'd3b07384d113edec.12' });

/** Headers of API responses after a write to an environment, or with data from one of its revisions. */
export const RevisionAnswer = z.object({
	'X-Revision': Revision.optional().describe(
		'Environment revision in the response; after a write, the resulting ' +
			'revision. A check that sends it as `X-Min-Revision` includes the write.',
	),
	'X-Revision-Token': RevisionTokenText.optional().describe(
		'After a write: its revision with the database lineage, `<lineage>.<revision>`. Unlike the ' +
			'number, the token stays unambiguous after a failover or a restore that lost revisions.',
	),
});

/** Headers of API responses from endpoints that exist only for older clients. */
export const DeprecatedAnswer = z.object({
	Deprecation: z
		.string()
		.meta({ description: 'Deprecation start: `@` and seconds since 1970 (RFC 9745).', example: '@1767225600' }),
	Link: z.string().meta({
		description: 'Call to use instead, with the relation `successor-version`.',
		example: '</v2/schema/default/dev/groups>; rel="successor-version"',
	}),
});

/** Revision headers of a decision point's responses. Absent until the first revision is loaded. */
export const LoadedAnswer = z.object({
	'X-Revision': Revision.optional().describe('Environment revision for the response.'),
	'X-Revision-Token': RevisionTokenText.optional().describe(
		'The revision with its database lineage: `<lineage>.<revision>`.',
	),
	'X-Policy-Revision': Revision.optional().describe(
		'Newest revision whose policy was used: less than `X-Revision` while a newer policy is pending.',
	),
});

/** Headers of responses that contain decisions. */
export const DecidedAnswer = LoadedAnswer.extend({
	'X-Data-Age': z
		.int()
		.min(0)
		.optional()
		.meta({ description: 'Time since the data was last confirmed current, in whole seconds.', example: 0 }),
	'X-Decision-ID': z
		.string()
		.optional()
		.meta({
			description:
				'Decision id in the decision log; absent if there is no log. In a bulk ' +
				'response, each decision has this id followed by `/` and its index.',
			example: '0f1e5a3c-94a5-4d3c-8b0e-3d6a1c9f2b71',
		}),
});

/** Headers of responses that contain a filter in a format without `valid_until`. */
export const FilteredAnswer = DecidedAnswer.extend({
	'X-Valid-Until': z.iso
		.datetime()
		.optional()
		.meta({
			description:
				'Time at which an expiry may change the filter, in UTC; absent if no fact expires. Request the filter again ' +
				'at this time.',
			example: '2030-01-31T08:15:00.000Z',
		}),
});

/** Revision for which a request to a decision point waits. */
export const AwaitedRevision = z.object({
	'X-Min-Revision': z
		.union([z.int().min(0), RevisionTokenText])
		.optional()
		.meta({
			description:
				'Waits until decisions use this revision or a later revision, with its policy; returns 503 after ' +
				'ten seconds. A number belongs to the current lineage. A token (`X-Revision-Token`) belongs to ' +
				'its own lineage; if that lineage has ended, the response is 409, because the write may be lost.',
			// The reference page sends this example, and every environment has revision 1.
			example: 1,
		}),
});

export const ReasonsRequest = z.object({
	'X-Debug': z.enum(['true', 'false']).optional().meta({ description: '`true` adds the reasons.', example: 'true' }),
});

/** Header that requests the reasons, or both the reasons and the attempts. */
export const AttemptsRequest = z.object({
	'X-Debug': z
		.enum(['true', 'false', 'attempts'])
		.optional()
		.meta({
			description:
				'`true` adds the reasons as `debug`, and `attempts` also adds the attempts as ' +
				'`debug.attempts`, unless `use_debugger` in the body overrides it.',
			example: 'true',
		}),
});

/** Request id sent by an AuthZEN client. */
export const NamedRequest = z.object({
	'X-Request-ID': z.string().optional().meta({
		description: 'Custom request id, which the response repeats.',
		example: 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716',
	}),
});

/** Headers that describe a check for a request that nginx received. */
export const NginxRequest = z.object({
	'permit-user-key': z.string().min(1).meta({ description: 'User key.', example: 'ann@example.com' }),
	'permit-tenant-id': z.string().min(1).meta({ description: 'Tenant key.', example: 'acme' }),
	'permit-action': z.string().min(1).meta({ description: 'Action key.', example: 'read' }),
	'permit-resource-type': z.string().min(1).meta({ description: 'Resource key.', example: 'document' }),
});

/** A bundle client's current bundle, and its maximum wait. */
export const BundleRequest = z.object({
	'If-None-Match': z.string().optional().meta({
		description: '`ETag` for the current bundle: the response is 304 until there is a newer bundle.',
		example: '"d3b07384d113edec.r12.8843d7f92416211d-b5bb9d8014a0f9b1d61e21e796d78dcc.7c211433f02071597741e6ff"',
	}),
	Prefer: z
		.string()
		.optional()
		.meta({
			description:
				'`modes=snapshot,delta` also accepts deltas, and `wait=30` waits ' +
				'up to 30 seconds for a newer bundle; the maximum is 60.',
			example: 'modes=snapshot,delta;wait=30',
		}),
});

/** Bundle response headers. */
export const BundleAnswer = RevisionAnswer.extend({
	ETag: z.string().meta({
		description: 'Bundle name, for `If-None-Match`.',
		example: '"d3b07384d113edec.r12.8843d7f92416211d-b5bb9d8014a0f9b1d61e21e796d78dcc.7c211433f02071597741e6ff"',
	}),
});

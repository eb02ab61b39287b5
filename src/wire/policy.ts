import { z } from 'zod';
import { Timestamp } from './common.js';

/**
 * What the compiler made of an environment. `revision` is the environment's newest, `schema_revision` the newest that
 * changed its schema, `compiled_revision` the schema revision in force: null while nothing is compiled. The last two
 * differ while a compilation runs and after one failed; `degraded` says which.
 */
export const PolicyRead = z
	.object({
		revision: z.int().min(0).meta({ description: 'The newest revision of the environment.' }),
		schema_revision: z.int().min(0).meta({ description: 'The newest revision that changed the schema.' }),
		/** SHA-256 of the Rego files, hexadecimal; null while nothing is compiled. */
		hash: z.string().nullable(),
		compiled_revision: z
			.int()
			.min(0)
			.nullable()
			.meta({ description: 'The schema revision that decision points load; null while nothing is compiled.' }),
		published_at: Timestamp.nullable(),
		failure: z.object({ revision: z.int().min(0), message: z.string() }).nullable(),
		degraded: z
			.object({
				reason: z.enum(['compiling', 'failed', 'left_out']),
				since: Timestamp,
				detail: z.string(),
				policy_revision: z.int().min(0).meta({ description: 'The newest revision whose policy is in force.' }),
				revisions_behind: z.int().min(0),
				left_out: z
					.array(z.object({ object: z.string(), message: z.string() }))
					.meta({ description: 'Objects without which the schema was compiled, because they kept it from it.' }),
			})
			.nullable()
			.meta({
				description:
					'Why the policy in force is not that of the newest schema, whole; null when it is. What the schema took ' +
					'away meanwhile is suspended at decision points.',
			}),
		files: z.array(z.object({ path: z.string(), text: z.string() })),
	})
	.meta({ id: 'PolicyRead' });
export type PolicyRead = z.input<typeof PolicyRead>;

/** A policy that was published: `schema_revision` is what it was compiled from. */
export const PolicyRevisionRead = z
	.object({
		schema_revision: z.int().min(0).meta({ description: 'The revision of the schema it was compiled from.' }),
		/** SHA-256 of its Rego, hexadecimal: revisions with one hash have one Rego. */
		hash: z.string(),
		published_at: Timestamp,
	})
	.meta({ id: 'PolicyRevisionRead' });
export type PolicyRevisionRead = z.input<typeof PolicyRevisionRead>;

/** A policy with all its files, as a folder for `opa`. */
export const PolicyOfRevision = PolicyRevisionRead.extend({
	files: z.array(z.object({ path: z.string(), text: z.string() })),
}).meta({ id: 'PolicyOfRevision' });
export type PolicyOfRevision = z.input<typeof PolicyOfRevision>;

import { z } from 'zod';
import { Timestamp } from './common.js';

/**
 * What the compiler made of an environment: `revision` is the environment's newest, `compiled_revision` the newest that
 * decision points can load. They differ while a compilation runs and after one failed.
 */
export const PolicyRead = z
	.object({
		revision: z.int().min(0),
		/** SHA-256 of the Rego files, hexadecimal; null while nothing is compiled. */
		hash: z.string().nullable(),
		compiled_revision: z.int().min(0).nullable(),
		published_at: Timestamp.nullable(),
		failure: z.object({ revision: z.int().min(0), message: z.string() }).nullable(),
		files: z.array(z.object({ path: z.string(), text: z.string() })),
	})
	.meta({ id: 'PolicyRead' });
export type PolicyRead = z.input<typeof PolicyRead>;

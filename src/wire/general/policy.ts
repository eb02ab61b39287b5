import { z } from 'zod';
import { Timestamp } from '../common.js';
import { DegradedReason } from '../decision/degraded-reason.js';

/**
 * What the compiler made of an environment. `revision` is the environment's newest, `schema_revision` the newest that
 * changed its schema, `compiled_revision` the schema revision in force: null while nothing is compiled. The last two
 * differ while a compilation runs and after one failed; `degraded` says which.
 */
export const PolicyRead = z
	.object({
		revision: z.int().min(0).meta({ description: 'The newest revision of the environment.' }),
		lineage: z
			.string()
			.nullable()
			.default(null)
			.meta({ description: 'The lineage of the database that the revision is of.', example: 'd3b07384d113edec' }),
		schema_revision: z.int().min(0).meta({ description: 'The newest revision that changed the schema.' }),
		hash: z.string().nullable().describe('SHA-256 of the Rego files, hexadecimal; null while nothing is compiled.'),
		compiled_revision: z
			.int()
			.min(0)
			.nullable()
			.meta({ description: 'The schema revision that decision points load; null while nothing is compiled.' }),
		published_at: Timestamp.nullable().describe(
			'When the policy in force was published, in UTC; null while nothing is compiled.',
		),
		failure: z
			.object({
				revision: z.int().min(0).describe('The revision that could not be compiled.'),
				message: z.string().describe('What the compiler said.'),
			})
			.nullable()
			.describe('Why the newest schema could not be compiled; null if it could.'),
		degraded: z
			.object({
				reason: DegradedReason,
				since: Timestamp.describe('Since when, in UTC.'),
				detail: z.string().describe('The same in words.'),
				policy_revision: z.int().min(0).meta({ description: 'The newest revision whose policy is in force.' }),
				revisions_behind: z.int().min(0).describe('How many revisions of the environment lie between.'),
				left_out: z
					.array(
						z.object({
							object: z.string().describe('What was left out.'),
							message: z.string().describe('Why it kept the schema from being compiled.'),
						}),
					)
					.meta({ description: 'Objects without which the schema was compiled, because they kept it from it.' }),
			})
			.nullable()
			.meta({
				description:
					'Why the policy in force is not that of the newest schema, whole; null when it is. What the schema took ' +
					'away meanwhile is suspended at decision points.',
			}),
		files: z
			.array(
				z.object({
					path: z.string().describe('The path of the file, with slashes.'),
					text: z.string().describe('The Rego of the file.'),
				}),
			)
			.describe('The files of the policy.'),
	})
	.meta({
		id: 'PolicyRead',
		description:
			"What the compiler made of an environment. `revision` is the environment's newest, `schema_revision` the " +
			'newest that changed its schema, `compiled_revision` the schema revision in force: null while nothing is ' +
			'compiled. The last two differ while a compilation runs and after one failed; `degraded` says which.',
	});
export type PolicyRead = z.input<typeof PolicyRead>;

/** A policy that was published: `schema_revision` is what it was compiled from. */
export const PolicyRevisionRead = z
	.object({
		schema_revision: z.int().min(0).meta({ description: 'The revision of the schema it was compiled from.' }),
		hash: z.string().describe('SHA-256 of its Rego, hexadecimal: revisions with one hash have one Rego.'),
		published_at: Timestamp.describe('When it was published, in UTC.'),
	})
	.meta({
		id: 'PolicyRevisionRead',
		description: 'A policy that was published: `schema_revision` is what it was compiled from.',
	});
export type PolicyRevisionRead = z.input<typeof PolicyRevisionRead>;

/** A policy with all its files, as a folder for `opa`. */
export const PolicyOfRevision = PolicyRevisionRead.extend({
	files: z
		.array(
			z.object({
				path: z.string().describe('The path of the file, with slashes.'),
				text: z.string().describe('The text of the file.'),
			}),
		)
		.describe('The files of the policy.'),
}).meta({ id: 'PolicyOfRevision', description: 'A policy with all its files, as a folder for `opa`.' });
export type PolicyOfRevision = z.input<typeof PolicyOfRevision>;

/** How many tests of a policy are listed. */
export const maxListedTests = 1_000;

/** How the generated tests of a policy came out. */
export const PolicyTestResults = PolicyRevisionRead.omit({ published_at: true })
	.extend({
		passed: z.int().min(0).meta({ description: 'How many tests pass.' }),
		failed: z.int().min(0).meta({ description: 'How many tests fail, or could not be decided.' }),
		truncated: z.boolean().describe('Whether there are more tests than are listed.'),
		tests: z
			.array(
				z.object({
					name: z.string().describe('The name of the test, with its package.'),
					file: z.string().describe('The path of its file in the policy, with slashes.'),
					row: z.int().min(1).meta({ description: 'Its line there, from 1.' }),
					passed: z.boolean().describe('Whether it passes.'),
					error: z.string().nullable().describe('Why it could not be decided; null if it was.'),
				}),
			)
			.describe(`The tests, failed ones first, then by name; at most ${maxListedTests}.`),
	})
	.meta({ id: 'PolicyTestResults', description: 'How the generated tests of a policy came out.' });
export type PolicyTestResults = z.input<typeof PolicyTestResults>;

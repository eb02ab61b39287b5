import { z } from 'zod';
import { Timestamp } from '../common.js';
import { DegradedReason } from '../decision/degraded-reason.js';
import { named } from '../named.js';

export const PolicyRead = named(
	'PolicyRead',
	'Compiled policy of an environment. `revision` is the newest environment revision, `schema_revision` the newest ' +
		'revision with a schema change, and `compiled_revision` the schema revision of the active policy: null while no ' +
		'policy is compiled. `schema_revision` and `compiled_revision` differ during a compilation and after a failure; ' +
		'`degraded` has the reason.',
	{
		revision: z.int().min(0).describe('Newest environment revision.'),
		lineage: z
			.string()
			.nullable()
			.default(null)
			.meta({ description: 'Database lineage for the revision.', example: 'd3b07384d113edec' }),
		schema_revision: z.int().min(0).describe('Newest revision with a schema change.'),
		hash: z.string().nullable().describe('SHA-256 over the Rego files, hexadecimal; null while no policy is compiled.'),
		compiled_revision: z
			.int()
			.min(0)
			.nullable()
			.describe('Schema revision that decision points load; null while no policy is compiled.'),
		published_at: Timestamp.nullable().describe(
			'Publication time for the active policy, in UTC; null while no policy is compiled.',
		),
		failure: z
			.object({
				revision: z.int().min(0).describe('Revision that failed to compile.'),
				message: z.string().describe('Compiler message.'),
			})
			.nullable()
			.describe('Why the newest schema failed to compile; null if it compiled.'),
		degraded: z
			.object({
				reason: DegradedReason,
				since: Timestamp.describe('Start of this state, in UTC.'),
				detail: z.string().describe('Explanation in words.'),
				policy_revision: z.int().min(0).describe('Newest revision whose policy is active.'),
				revisions_behind: z
					.int()
					.min(0)
					.describe('Number of environment revisions between the active policy and the newest schema.'),
				left_out: z
					.array(
						z.object({
							object: z.string().describe('The excluded object.'),
							message: z.string().describe('Why the schema did not compile with it.'),
						}),
					)
					.describe('Objects excluded from the policy, because the schema does not compile with them.'),
			})
			.nullable()
			.describe(
				'Why the active policy is not the complete policy of the newest schema; null if ' +
					'it is. Decision points suspend permissions removed by newer revisions.',
			),
		files: z
			.array(
				z.object({
					path: z.string().describe('File path, with slashes.'),
					text: z.string().describe('Rego source text.'),
				}),
			)
			.describe('Policy files.'),
	},
);
export type PolicyRead = z.input<typeof PolicyRead>;

export const PolicyRevisionRead = named('PolicyRevisionRead', 'A published policy, compiled from `schema_revision`.', {
	schema_revision: z.int().min(0).describe('Schema revision that it was compiled from.'),
	hash: z.string().describe('SHA-256 over its Rego, hexadecimal: policies with equal hashes have equal Rego.'),
	published_at: Timestamp.describe('Publication time, in UTC.'),
});
export type PolicyRevisionRead = z.input<typeof PolicyRevisionRead>;

export const PolicyOfRevision = PolicyRevisionRead.extend({
	files: z
		.array(
			z.object({
				path: z.string().describe('File path, with slashes.'),
				text: z.string().describe('File contents.'),
			}),
		)
		.describe('Policy files.'),
}).meta({ id: 'PolicyOfRevision', description: 'A policy with all its files, as a folder for `opa`.' });
export type PolicyOfRevision = z.input<typeof PolicyOfRevision>;

/** Maximum number of policy tests in a list. */
export const maxListedTests = 1_000;

export const PolicyTestResults = PolicyRevisionRead.omit({ published_at: true })
	.extend({
		passed: z.int().min(0).describe('Number of passed tests.'),
		failed: z.int().min(0).describe('Number of failed or undecided tests.'),
		truncated: z.boolean().describe('True if there are more tests than listed.'),
		tests: z
			.array(
				z.object({
					name: z.string().describe('Test name, with its package.'),
					file: z.string().describe('Test file path in the policy, with slashes.'),
					row: z.int().min(1).describe('Line number in the file, from 1.'),
					passed: z.boolean().describe('True if the test passes.'),
					error: z.string().nullable().describe('Why the test could not be decided; null if it was decided.'),
				}),
			)
			.describe(`The tests, failed tests first, then by name; at most ${maxListedTests}.`),
	})
	.meta({ id: 'PolicyTestResults', description: 'Generated policy test results.' });

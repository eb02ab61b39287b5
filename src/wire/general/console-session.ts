import { z } from 'zod';
import { optional, Reference, Uuid } from '../common.js';
import { HiddenText } from '../hidden-text.js';
import { ApiKeyAccessLevel, ApiKeyObjectType } from './api-key.js';

/** How somebody signs in to the console: by one of ticket, API key, and the session of another environment. */
export const ConsoleSignIn = z
	.strictObject({
		ticket: optional(HiddenText).describe('A ticket, as `regolith start` and `regolith console` print it.'),
		api_key: optional(HiddenText).describe('The secret of an API key.'),
		project: optional(Reference).describe(
			'The project: its id or key. Without it, the one that the key opens, or the one of the oldest environment.',
		),
		environment: optional(Reference).describe(
			'The environment: its id or key. Without it, the oldest one that the key opens.',
		),
	})
	.superRefine(({ ticket, api_key, project, environment }, ctx) => {
		const refuse = (field: string, message: string) =>
			ctx.addIssue({ code: 'custom', message, path: [field], input: undefined });
		if (ticket !== undefined && api_key !== undefined) refuse('api_key', 'is not taken together with `ticket`');
		if (ticket !== undefined || api_key !== undefined) return;
		if (project === undefined) refuse('project', 'field required without `ticket` and `api_key`');
		if (environment === undefined) refuse('environment', 'field required without `ticket` and `api_key`');
	})
	.meta({
		id: 'ConsoleSignIn',
		description:
			'How somebody signs in to the console: by a ticket, by an API key, or, where only project and environment are ' +
			'there, by the session of another environment.',
	});
export type ConsoleSignIn = z.output<typeof ConsoleSignIn>;

/** Of which environment a session is asked for. */
export const ConsoleSessionQuery = z.object({
	project: Reference.optional().describe('The project: its id or key.'),
	environment: Reference.optional().describe(
		'The environment: its id or key. Without both, the session that was used last.',
	),
});
export type ConsoleSessionQuery = z.output<typeof ConsoleSessionQuery>;

/** What a request names its session by. */
export const ConsoleSessionRequest = z.object({
	'X-Console-Environment': Uuid.optional().describe(
		'The id of the environment whose session counts, of those that the cookies stand for.',
	),
});

const named = (what: string) => ({
	id: Uuid.describe(`The id of the ${what}.`),
	key: z.string().describe(`The key of the ${what}.`),
	name: z.string().describe('A name for people.'),
});

/** A session of the console. */
export const ConsoleSessionRead = z
	.object({
		organization: z.object(named('organization')).describe('The organization.'),
		project: z.object(named('project')).describe('The project.'),
		environment: z
			.object({
				...named('environment'),
				production: z
					.boolean()
					.describe('Whether it is in production, by its settings or else by its key: `production` or `prod`.'),
			})
			.describe('The environment that the session is of.'),
		key: z
			.object({
				id: Uuid.describe('The id of the API key.'),
				name: z.string().nullable().describe('The name that the API key is known by.'),
				object_type: ApiKeyObjectType.describe('What the key opens: the organization, a project or an environment.'),
				access_level: ApiKeyAccessLevel.describe('How much the key may do.'),
			})
			.describe('The API key that signed in, whose rights the session has.'),
		revision: z.int().describe('The newest revision of the environment.'),
		lineage: z.string().describe('The lineage of the database that the revision is of.'),
		decision_point: z.boolean().describe('Whether the console can ask a decision point of the environment.'),
	})
	.meta({ id: 'ConsoleSessionRead', description: 'A session of the console.' });
export type ConsoleSessionRead = z.input<typeof ConsoleSessionRead>;

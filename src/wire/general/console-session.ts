import { z } from 'zod';
import { optional, Reference, Uuid } from '../common.js';
import { HiddenText } from '../hidden-text.js';
import { named } from '../named.js';
import { ApiKeyAccessLevel, ApiKeyObjectType } from './api-key.js';

/** Sign-in to the console: by ticket, by API key, or through a session for a different environment. */
export const ConsoleSignIn = z
	.strictObject({
		ticket: optional(HiddenText).describe('Ticket, as printed by `regolith start` and `regolith console`.'),
		api_key: optional(HiddenText).describe('API key secret.'),
		project: optional(Reference).describe(
			"Project: id or key. Defaults to the key's project, or to the project with the oldest environment.",
		),
		environment: optional(Reference).describe(
			'Environment: id or key. Defaults to the oldest environment that the key can access.',
		),
	})
	.superRefine(({ ticket, api_key, project, environment }, ctx) => {
		const refuse = (field: string, message: string) =>
			ctx.addIssue({ code: 'custom', message, path: [field], input: undefined });
		if (ticket !== undefined && api_key !== undefined) refuse('api_key', 'must not be sent together with `ticket`');
		if (ticket !== undefined || api_key !== undefined) return;
		if (project === undefined) refuse('project', 'field required without `ticket` and `api_key`');
		if (environment === undefined) refuse('environment', 'field required without `ticket` and `api_key`');
	})
	.meta({
		id: 'ConsoleSignIn',
		description:
			'A console sign-in: by ticket, by API key, or, with only project and ' +
			'environment, through a session for a different environment.',
	});
export type ConsoleSignIn = z.output<typeof ConsoleSignIn>;

/** Environment whose session is requested. */
export const ConsoleSessionQuery = z.object({
	project: Reference.optional().describe('Project: id or key.'),
	environment: Reference.optional().describe(
		'Environment: id or key. Without project and environment, the last used session.',
	),
});
export type ConsoleSessionQuery = z.output<typeof ConsoleSessionQuery>;

/** Header that selects the session for a request. */
export const ConsoleSessionRequest = z.object({
	'X-Console-Environment': Uuid.optional().describe('Environment id that selects a session among the session cookies.'),
});

/** Header with which a console session confirms a change outside its environment. */
export const ConsoleConfirmation = z.object({
	'X-Console-Confirm': z
		.string()
		.optional()
		.describe(
			'For console sessions only: the key of the changed project, or of the organization, to confirm the change. ' +
				'Without it, the request is rejected with 403. A change to an API key requires confirmation if the key is valid ' +
				'for a whole project or for the organization.',
		),
});

const described = (what: string) => ({
	id: Uuid.describe(`Id of the ${what}.`),
	key: z.string().describe(`Key of the ${what}.`),
	name: z.string().describe('Display name.'),
});

export const ConsoleSessionRead = named('ConsoleSessionRead', 'A console session.', {
	organization: z.object(described('organization')).describe('The organization.'),
	project: z.object(described('project')).describe('The project.'),
	environment: z
		.object({
			...described('environment'),
			production: z
				.boolean()
				.describe('True for a production environment, by its settings or else by its key: `production` or `prod`.'),
		})
		.describe('Environment for the session.'),
	key: z
		.object({
			id: Uuid.describe('API key id.'),
			name: z.string().nullable().describe('API key name.'),
			object_type: ApiKeyObjectType.describe('Key scope: the organization, a project or an environment.'),
			access_level: ApiKeyAccessLevel.describe('Key access level.'),
		})
		.describe('API key used to sign in. The session has its rights.'),
	revision: z.int().describe('Newest environment revision.'),
	lineage: z.string().describe('Database lineage for the revision.'),
	decision_point: z.boolean().describe('True if the console can query a decision point in the environment.'),
});
export type ConsoleSessionRead = z.input<typeof ConsoleSessionRead>;

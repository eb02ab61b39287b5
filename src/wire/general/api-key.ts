import { z } from 'zod';
import { AlwaysNull, defaulted, Name, optional, Reference, Timestamp, Uuid } from '../common.js';
import { pageShape } from '../query.js';
import { EnvironmentRead } from './environment.js';
import { ProjectRead } from './project.js';

/** What a key is for: everything of an organization, of a project, or of one environment. */
export const ApiKeyObjectType = z.enum(['org', 'project', 'env']);
export type ApiKeyObjectType = z.output<typeof ApiKeyObjectType>;

/** How much a key may do. */
export const ApiKeyAccessLevel = z.enum(['admin', 'write', 'read', 'no_access']);

/** Who a key was made for. */
export const ApiKeyOwnerType = z.enum(['pdp_config', 'member', 'elements']);

/** What the calling key reaches: the ids down to its own level, null below it. */
export const ApiKeyScopeRead = z
	.object({
		organization_id: Uuid.describe('The id of the organization that the key belongs to.'),
		project_id: Uuid.nullable().describe('The project that the key opens; null for a key of the organization.'),
		environment_id: Uuid.nullable().describe(
			'The environment that the key opens; null for a key of the organization or of a project.',
		),
	})
	.meta({
		id: 'APIKeyScopeRead',
		description: 'What the calling key reaches: the ids down to its own level, null below it.',
	});
export type ApiKeyScopeRead = z.input<typeof ApiKeyScopeRead>;

/** Which API keys are listed. */
export const ApiKeyQuery = z.object({
	object_type: ApiKeyObjectType.optional().describe(
		'Only keys of this level: of the organization, of projects or of environments.',
	),
	proj_id: Reference.optional().describe('Only keys of this project and its environments: its id or key.'),
	...pageShape,
});

/** A new API key: of an environment unless `object_type` says otherwise, and of the caller's own organization. */
export const ApiKeyCreate = z
	.object({
		organization_id: optional(Uuid).describe("The caller's own organization; may be left out."),
		project_id: optional(Reference).describe(
			'The id or key of the project; required of a key of a project. A key of an environment needs it where that ' +
				'is named by its key.',
		),
		environment_id: optional(Reference).describe(
			'The id or key of the environment; required of a key of an environment.',
		),
		object_type: defaulted(ApiKeyObjectType, () => 'env' as const).describe(
			'What the key opens: the organization, one project or one environment. `env` when left out.',
		),
		access_level: defaulted(ApiKeyAccessLevel, () => 'admin' as const).describe(
			'`admin` may do everything, `write` all but see secrets and manage keys, `read` only reads, and ' +
				'`no_access` may only ask for its own scope. `admin` when left out.',
		),
		owner_type: defaulted(ApiKeyOwnerType, () => 'member' as const).describe(
			'Who the key is made for: a decision point (`pdp_config`), a person (`member`) or elements. `member` when ' +
				'left out.',
		),
		name: optional(Name).describe('A name to know the key by.'),
	})
	.superRefine((key, ctx) => {
		const refuse = (field: string, message: string) => ctx.addIssue({ code: 'custom', message, path: [field] });
		const { object_type, project_id, environment_id } = key;
		if (object_type === 'env' && environment_id === undefined) refuse('environment_id', 'field required');
		if (object_type === 'project' && project_id === undefined) refuse('project_id', 'field required');
		const misplaced = `is not for a key of the object type ${object_type}`;
		if (object_type === 'org' && project_id !== undefined) refuse('project_id', misplaced);
		if (object_type !== 'env' && environment_id !== undefined) refuse('environment_id', misplaced);
	})
	.meta({
		id: 'APIKeyCreate',
		description:
			"A new API key: of an environment unless `object_type` says otherwise, and of the caller's own organization.",
	});
export type ApiKeyCreate = z.output<typeof ApiKeyCreate>;

/** An API key. Its secret is null in lists. */
export const ApiKeyRead = z
	.object({
		id: Uuid.describe('The id of the key, which is not its secret.'),
		organization_id: Uuid.describe('The id of the organization that the key belongs to.'),
		project_id: Uuid.nullable().describe('The project that the key opens; null for a key of the organization.'),
		environment_id: Uuid.nullable().describe(
			'The environment that the key opens; null for a key of the organization or of a project.',
		),
		object_type: ApiKeyObjectType.describe('What the key opens: the organization, one project or one environment.'),
		access_level: ApiKeyAccessLevel.describe('What the key may do there.'),
		owner_type: ApiKeyOwnerType.describe(
			'Who the key was made for: a decision point (`pdp_config`), a person (`member`) or elements.',
		),
		name: z.string().nullable().describe('A name to know the key by.'),
		secret: z.string().nullable().describe('The key itself, to send as `Authorization: Bearer`. Null in lists.'),
		created_at: Timestamp.describe('When it was created, in UTC.'),
		created_by_member: AlwaysNull,
		last_used_at: Timestamp.nullable().describe('When it was last used, to the minute; null if never.'),
		env: EnvironmentRead.nullable().describe(
			'The environment that the key opens; null for a key of the organization or of a project.',
		),
		project: ProjectRead.nullable().describe(
			'The project that the key opens, or that of its environment; null for a key of the organization.',
		),
	})
	.meta({ id: 'APIKeyRead', description: 'An API key. Its secret is null in lists.' });
export type ApiKeyRead = z.input<typeof ApiKeyRead>;

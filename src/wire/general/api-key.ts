import { z } from 'zod';
import { AlwaysNull, defaulted, Name, optional, Reference, Timestamp, Uuid } from '../common.js';
import { named } from '../named.js';
import { pageShape } from '../query.js';
import { EnvironmentRead } from './environment.js';
import { ProjectRead } from './project.js';

/** Key scope: a whole organization, a project, or a single environment. */
export const ApiKeyObjectType = z.enum(['org', 'project', 'env']);

export const ApiKeyAccessLevel = z.enum(['admin', 'write', 'read', 'no_access']);

export const ApiKeyOwnerType = z.enum(['pdp_config', 'member', 'elements']);

export const ApiKeyScopeRead = named(
	'APIKeyScopeRead',
	'Scope of the calling key: ids down to the key level, null below it.',
	{
		organization_id: Uuid.describe("Id of the key's organization."),
		project_id: Uuid.nullable().describe('Project of the key; null for an organization key.'),
		environment_id: Uuid.nullable().describe('Environment of the key; null for an organization key or a project key.'),
	},
);

/** Filters for API keys. */
export const ApiKeyQuery = z.object({
	object_type: ApiKeyObjectType.optional().describe('Only keys at this level: organization, project or environment.'),
	proj_id: Reference.optional().describe('Only keys for this project and its environments: id or key.'),
	...pageShape,
});

export const ApiKeyCreate = z
	.object({
		organization_id: optional(Uuid).describe("The caller's organization; may be omitted."),
		project_id: optional(Reference).describe(
			'Project id or key; required for a project key. Also required ' +
				'for an environment key if `environment_id` is not an id.',
		),
		environment_id: optional(Reference).describe('Environment id or key; required for an environment key.'),
		object_type: defaulted(ApiKeyObjectType, () => 'env' as const).describe(
			'Key scope: the organization, one project or one environment. Defaults to `env`.',
		),
		access_level: defaulted(ApiKeyAccessLevel, () => 'admin' as const).describe(
			'`admin` allows everything, `write` allows everything except reading secrets and managing keys, ' +
				"`read` allows only reading, and `no_access` allows only reading the key's own scope. Defaults to " +
				'`admin`.',
		),
		owner_type: defaulted(ApiKeyOwnerType, () => 'member' as const).describe(
			'Intended key owner: a decision point (`pdp_config`), a ' +
				'person (`member`) or elements. Defaults to `member`.',
		),
		name: optional(Name).describe('Display name.'),
	})
	.superRefine((key, ctx) => {
		const refuse = (field: string, message: string) => ctx.addIssue({ code: 'custom', message, path: [field] });
		const { object_type, project_id, environment_id } = key;
		if (object_type === 'env' && environment_id === undefined) refuse('environment_id', 'field required');
		if (object_type === 'project' && project_id === undefined) refuse('project_id', 'field required');
		const misplaced = `is not allowed for a key with the object type ${object_type}`;
		if (object_type === 'org' && project_id !== undefined) refuse('project_id', misplaced);
		if (object_type !== 'env' && environment_id !== undefined) refuse('environment_id', misplaced);
	})
	.meta({
		id: 'APIKeyCreate',
		description: "A new API key in the caller's organization, for an environment unless `object_type` is set.",
	});

export const ApiKeyRead = named('APIKeyRead', 'An API key. Its secret is null in lists.', {
	id: Uuid.describe('Key id, distinct from its secret.'),
	organization_id: Uuid.describe("Id of the key's organization."),
	project_id: Uuid.nullable().describe('Project of the key; null for an organization key.'),
	environment_id: Uuid.nullable().describe('Environment of the key; null for an organization key or a project key.'),
	object_type: ApiKeyObjectType.describe('Key scope: the organization, one project or one environment.'),
	access_level: ApiKeyAccessLevel.describe('Key access level in its scope.'),
	owner_type: ApiKeyOwnerType.describe('Key owner: a decision point (`pdp_config`), a person (`member`) or elements.'),
	name: z.string().nullable().describe('Display name.'),
	secret: z.string().nullable().describe('The secret, to send as `Authorization: Bearer`. Null in lists.'),
	created_at: Timestamp.describe('Creation time, in UTC.'),
	created_by_member: AlwaysNull,
	last_used_at: Timestamp.nullable().describe('Last use, to the minute; null if never used.'),
	env: EnvironmentRead.nullable().describe('Environment of the key; null for an organization key or a project key.'),
	project: ProjectRead.nullable().describe('Project of the key or of its environment; null for an organization key.'),
});
export type ApiKeyRead = z.input<typeof ApiKeyRead>;

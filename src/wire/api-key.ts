import { z } from 'zod';
import { AlwaysNull, defaulted, Name, optional, Reference, Timestamp, Uuid } from './common.js';
import { EnvironmentRead } from './environment.js';
import { ProjectRead } from './project.js';
import { pageShape } from './query.js';

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
		organization_id: Uuid,
		project_id: Uuid.nullable(),
		environment_id: Uuid.nullable(),
	})
	.meta({ id: 'APIKeyScopeRead' });
export type ApiKeyScopeRead = z.input<typeof ApiKeyScopeRead>;

/** Which API keys are listed. */
export const ApiKeyQuery = z.object({
	object_type: ApiKeyObjectType.optional(),
	proj_id: Reference.optional(),
	...pageShape,
});

/** A new API key: of an environment unless `object_type` says otherwise, and of the caller's own organization. */
export const ApiKeyCreate = z
	.object({
		organization_id: optional(Uuid),
		project_id: optional(Reference),
		environment_id: optional(Reference),
		object_type: defaulted(ApiKeyObjectType, () => 'env' as const),
		access_level: defaulted(ApiKeyAccessLevel, () => 'admin' as const),
		owner_type: defaulted(ApiKeyOwnerType, () => 'member' as const),
		name: optional(Name),
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
	.meta({ id: 'APIKeyCreate' });
export type ApiKeyCreate = z.output<typeof ApiKeyCreate>;

/** An API key. Its secret is null in lists. */
export const ApiKeyRead = z
	.object({
		id: Uuid,
		organization_id: Uuid,
		project_id: Uuid.nullable(),
		environment_id: Uuid.nullable(),
		object_type: ApiKeyObjectType,
		access_level: ApiKeyAccessLevel,
		owner_type: ApiKeyOwnerType,
		name: z.string().nullable(),
		secret: z.string().nullable(),
		created_at: Timestamp,
		created_by_member: AlwaysNull,
		last_used_at: Timestamp.nullable(),
		env: EnvironmentRead.nullable(),
		project: ProjectRead.nullable(),
	})
	.meta({ id: 'APIKeyRead' });
export type ApiKeyRead = z.input<typeof ApiKeyRead>;

import { z } from 'zod';
import { AlwaysNull, Timestamp, Uuid } from './common.js';
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
		organization_id: Uuid,
		project_id: Uuid.nullable(),
		environment_id: Uuid.nullable(),
	})
	.meta({ id: 'APIKeyScopeRead' });
export type ApiKeyScopeRead = z.input<typeof ApiKeyScopeRead>;

/** An API key with its secret. */
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

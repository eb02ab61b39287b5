import { z } from 'zod';
import { boundedArray } from './bounded.js';
import {
	Attributes,
	clearable,
	defaulted,
	Key,
	Name,
	optional,
	StoredObject,
	Text,
	Timestamp,
	Uuid,
} from './common.js';
import { EnvironmentCreate } from './environment.js';

const UrnNamespace = Text.regex(/[a-z0-9-]{2,}/, 'must hold two or more of a-z, 0-9, `-`');

/** A new project. Without `initial_environments` it gets `dev` and `production`; an empty list means none. */
export const ProjectCreate = z
	.object({
		key: Key,
		name: Name,
		urn_namespace: optional(UrnNamespace),
		description: optional(Text),
		settings: optional(Attributes),
		active_policy_repo_id: optional(Uuid),
		initial_environments: defaulted(boundedArray(EnvironmentCreate), () => [
			EnvironmentCreate.parse({ key: 'dev', name: 'Development' }),
			EnvironmentCreate.parse({ key: 'production', name: 'Production' }),
		]),
	})
	.meta({ id: 'ProjectCreate' });
export type ProjectCreate = z.output<typeof ProjectCreate>;

/** The fields of a project that may change. */
export const ProjectUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		settings: clearable(Attributes),
		active_policy_repo_id: clearable(Uuid),
	})
	.meta({ id: 'ProjectUpdate' });
export type ProjectUpdate = z.output<typeof ProjectUpdate>;

/** A project. */
export const ProjectRead = z
	.object({
		id: Uuid,
		key: z.string(),
		name: z.string(),
		organization_id: Uuid,
		created_at: Timestamp,
		updated_at: Timestamp,
		urn_namespace: z.string().nullable(),
		description: z.string().nullable(),
		settings: StoredObject.nullable(),
		active_policy_repo_id: Uuid.nullable(),
	})
	.meta({ id: 'ProjectRead' });
export type ProjectRead = z.input<typeof ProjectRead>;

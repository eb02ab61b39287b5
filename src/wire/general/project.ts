import { z } from 'zod';
import { boundedArray } from '../bounded.js';
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
} from '../common.js';
import { changedFields, named } from '../named.js';
import { EnvironmentCreate } from './environment.js';

const UrnNamespace = Text.regex(/[a-z0-9-]{2,}/, 'must consist of two or more of a-z, 0-9, `-`');

export const ProjectCreate = named(
	'ProjectCreate',
	'A new project. Without `initial_environments`, it gets `dev` and `production`; an empty list creates none.',
	{
		key: Key.describe('Key, unique among the projects in the organization.'),
		name: Name.describe('Display name.'),
		urn_namespace: optional(UrnNamespace).describe('Stored and returned for clients that set it; has no effect.'),
		description: optional(Text).describe('Project description. Null counts as absent.'),
		settings: optional(Attributes).describe('Custom data.'),
		active_policy_repo_id: optional(Uuid).describe('Stored and returned for clients that set it; has no effect.'),
		initial_environments: defaulted(boundedArray(EnvironmentCreate), () => [
			EnvironmentCreate.parse({ key: 'dev', name: 'Development' }),
			EnvironmentCreate.parse({ key: 'production', name: 'Production' }),
		]).describe('Environments to create with the project; `dev` and `production` by default.'),
	},
);

export const ProjectUpdate = named('ProjectUpdate', 'Project fields to change.', {
	...changedFields('Project'),
	settings: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
	active_policy_repo_id: clearable(Uuid).describe('Stored and returned for clients that set it; has no effect.'),
});

export const ProjectRead = named('ProjectRead', 'A project.', {
	id: Uuid.describe('Project id.'),
	key: z.string().describe('Key, unique among the projects in the organization.'),
	name: z.string().describe('Display name.'),
	organization_id: Uuid.describe('Organization id.'),
	created_at: Timestamp.describe('Creation time, in UTC.'),
	updated_at: Timestamp.describe('Last change, in UTC.'),
	urn_namespace: z.string().nullable().describe('Stored and returned for clients that set it; has no effect.'),
	description: z.string().nullable().describe('Project description.'),
	settings: StoredObject.nullable().describe('Custom data.'),
	active_policy_repo_id: Uuid.nullable().describe('Stored and returned for clients that set it; has no effect.'),
});

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
import { EnvironmentCreate } from './environment.js';

const UrnNamespace = Text.regex(/[a-z0-9-]{2,}/, 'must hold two or more of a-z, 0-9, `-`');

/** A new project. Without `initial_environments` it gets `dev` and `production`; an empty list means none. */
export const ProjectCreate = z
	.object({
		key: Key.describe('The key, unique among the projects of the organization.'),
		name: Name.describe('A name for people.'),
		urn_namespace: optional(UrnNamespace).describe('Stored and shown for clients that set it; changes nothing.'),
		description: optional(Text).describe('What the project is for. Null counts as absent.'),
		settings: optional(Attributes).describe('Any data of your own.'),
		active_policy_repo_id: optional(Uuid).describe('Stored and shown for clients that set it; changes nothing.'),
		initial_environments: defaulted(boundedArray(EnvironmentCreate), () => [
			EnvironmentCreate.parse({ key: 'dev', name: 'Development' }),
			EnvironmentCreate.parse({ key: 'production', name: 'Production' }),
		]).describe('The environments to create with it; `dev` and `production` when left out.'),
	})
	.meta({
		id: 'ProjectCreate',
		description:
			'A new project. Without `initial_environments` it gets `dev` and `production`; an empty list means none.',
	});
export type ProjectCreate = z.output<typeof ProjectCreate>;

/** The fields of a project that may change. */
export const ProjectUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('What the project is for; null clears it.'),
		settings: clearable(Attributes).describe('Any data of your own, which replaces what is stored; null clears it.'),
		active_policy_repo_id: clearable(Uuid).describe('Stored and shown for clients that set it; changes nothing.'),
	})
	.meta({ id: 'ProjectUpdate', description: 'The fields of a project that may change.' });
export type ProjectUpdate = z.output<typeof ProjectUpdate>;

/** A project. */
export const ProjectRead = z
	.object({
		id: Uuid.describe('The id of the project.'),
		key: z.string().describe('The key, unique among the projects of the organization.'),
		name: z.string().describe('A name for people.'),
		organization_id: Uuid.describe('The id of the organization.'),
		created_at: Timestamp.describe('When it was created, in UTC.'),
		updated_at: Timestamp.describe('When it was last changed, in UTC.'),
		urn_namespace: z.string().nullable().describe('Stored and shown for clients that set it; changes nothing.'),
		description: z.string().nullable().describe('What the project is for.'),
		settings: StoredObject.nullable().describe('Any data of your own.'),
		active_policy_repo_id: Uuid.nullable().describe('Stored and shown for clients that set it; changes nothing.'),
	})
	.meta({ id: 'ProjectRead', description: 'A project.' });
export type ProjectRead = z.input<typeof ProjectRead>;

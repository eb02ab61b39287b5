import { z } from 'zod';
import {
	AlwaysNull,
	Attributes,
	clearable,
	environmentObject,
	Key,
	Name,
	optional,
	StoredObject,
	Text,
	Uuid,
} from '../common.js';
import { named } from '../named.js';

export const ResourceActionCreate = named('ResourceActionCreate', 'A new resource action.', {
	key: Key.describe('Key, unique among the actions in the resource.'),
	name: Name.describe('Display name.'),
	description: optional(Text).describe('Action description. Null counts as absent.'),
	attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
});

export const ResourceActionUpdate = named('ResourceActionUpdate', 'Action fields to change.', {
	name: optional(Name).describe('New name. Null counts as absent.'),
	description: clearable(Text).describe('Action description; null clears it.'),
	attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
});

export const ResourceActionRead = named(
	'ResourceActionRead',
	'A resource action; `permission_name` is `<resource key>:<action key>`.',
	{
		...environmentObject,
		key: z.string().describe('Key, unique among the actions in the resource.'),
		name: z.string().describe('Display name.'),
		permission_name: z.string().describe('Permission for the action, as used in roles: `<resource key>:<action key>`.'),
		resource_id: Uuid.describe('Resource id.'),
		description: z.string().nullable().describe('Action description.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		v1compat_path: AlwaysNull,
		v1compat_is_built_in: AlwaysNull,
		v1compat_name: AlwaysNull,
	},
);
export type ResourceActionRead = z.input<typeof ResourceActionRead>;

import { z } from 'zod';
import { AlwaysNull, Attributes, clearable, optional, StoredObject, Uuid } from '../common.js';
import { changedFields, describedFields, named, namedObject } from '../named.js';

export const ResourceActionCreate = named('ResourceActionCreate', 'A new resource action.', {
	...describedFields('Action', 'actions in the resource'),
	attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
});

export const ResourceActionUpdate = named('ResourceActionUpdate', 'Action fields to change.', {
	...changedFields('Action'),
	attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
});

export const ResourceActionRead = named(
	'ResourceActionRead',
	'A resource action; `permission_name` is `<resource key>:<action key>`.',
	{
		...namedObject('actions in the resource'),
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

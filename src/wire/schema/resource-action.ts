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

/** A new resource action. */
export const ResourceActionCreate = z
	.object({
		key: Key.describe('Key, unique among the actions in the resource.'),
		name: Name.describe('Display name.'),
		description: optional(Text).describe('Action description. Null counts as absent.'),
		attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	})
	.meta({ id: 'ResourceActionCreate', description: 'A new resource action.' });
export type ResourceActionCreate = z.output<typeof ResourceActionCreate>;

/** Action fields to change. */
export const ResourceActionUpdate = z
	.object({
		name: optional(Name).describe('New name. Null counts as absent.'),
		description: clearable(Text).describe('Action description; null clears it.'),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
	})
	.meta({ id: 'ResourceActionUpdate', description: 'Action fields to change.' });
export type ResourceActionUpdate = z.output<typeof ResourceActionUpdate>;

/** A resource action; `permission_name` is `<resource key>:<action key>`. */
export const ResourceActionRead = z
	.object({
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
	})
	.meta({
		id: 'ResourceActionRead',
		description: 'A resource action; `permission_name` is `<resource key>:<action key>`.',
	});
export type ResourceActionRead = z.input<typeof ResourceActionRead>;

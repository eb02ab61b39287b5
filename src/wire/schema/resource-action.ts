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

/** A new action of a resource. */
export const ResourceActionCreate = z
	.object({
		key: Key.describe('Key, unique among the actions of the resource.'),
		name: Name.describe('Display name.'),
		description: optional(Text).describe('Purpose of the action. Null counts as absent.'),
		attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	})
	.meta({ id: 'ResourceActionCreate', description: 'A new action of a resource.' });
export type ResourceActionCreate = z.output<typeof ResourceActionCreate>;

/** Fields of an action to change. */
export const ResourceActionUpdate = z
	.object({
		name: optional(Name).describe('New name. Null counts as absent.'),
		description: clearable(Text).describe('Purpose of the action; null clears it.'),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
	})
	.meta({ id: 'ResourceActionUpdate', description: 'Fields of an action to change.' });
export type ResourceActionUpdate = z.output<typeof ResourceActionUpdate>;

/** An action of a resource; `permission_name` is `<resource key>:<action key>`. */
export const ResourceActionRead = z
	.object({
		...environmentObject,
		key: z.string().describe('Key, unique among the actions of the resource.'),
		name: z.string().describe('Display name.'),
		permission_name: z.string().describe('Permission for the action, as used in roles: `<resource key>:<action key>`.'),
		resource_id: Uuid.describe('Resource id.'),
		description: z.string().nullable().describe('Purpose of the action.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		v1compat_path: AlwaysNull,
		v1compat_is_built_in: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({
		id: 'ResourceActionRead',
		description: 'An action of a resource; `permission_name` is `<resource key>:<action key>`.',
	});
export type ResourceActionRead = z.input<typeof ResourceActionRead>;

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
		key: Key.describe('The key, unique among the actions of the resource.'),
		name: Name.describe('A name for people.'),
		description: optional(Text).describe('What the action does. Null counts as absent.'),
		attributes: optional(Attributes).describe('Any data of your own. Null counts as absent.'),
	})
	.meta({ id: 'ResourceActionCreate', description: 'A new action of a resource.' });
export type ResourceActionCreate = z.output<typeof ResourceActionCreate>;

/** The fields of an action that may change. */
export const ResourceActionUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('What the action does; null clears it.'),
		attributes: clearable(Attributes).describe('Any data of your own, which replaces what is stored; null clears it.'),
	})
	.meta({ id: 'ResourceActionUpdate', description: 'The fields of an action that may change.' });
export type ResourceActionUpdate = z.output<typeof ResourceActionUpdate>;

/** An action of a resource; `permission_name` is `<resource key>:<action key>`. */
export const ResourceActionRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the actions of the resource.'),
		name: z.string().describe('A name for people.'),
		permission_name: z.string().describe('The permission to do it, as roles name it: `<resource key>:<action key>`.'),
		resource_id: Uuid.describe('The id of the resource.'),
		description: z.string().nullable().describe('What the action does.'),
		attributes: StoredObject.nullable().describe('Any data of your own.'),
		v1compat_path: AlwaysNull,
		v1compat_is_built_in: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({
		id: 'ResourceActionRead',
		description: 'An action of a resource; `permission_name` is `<resource key>:<action key>`.',
	});
export type ResourceActionRead = z.input<typeof ResourceActionRead>;

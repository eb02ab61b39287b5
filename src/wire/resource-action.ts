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
} from './common.js';

/** A new action of a resource. */
export const ResourceActionCreate = z
	.object({
		key: Key,
		name: Name,
		description: optional(Text),
		attributes: optional(Attributes),
	})
	.meta({ id: 'ResourceActionCreate' });
export type ResourceActionCreate = z.output<typeof ResourceActionCreate>;

/** The fields of an action that may change. */
export const ResourceActionUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		attributes: clearable(Attributes),
	})
	.meta({ id: 'ResourceActionUpdate' });
export type ResourceActionUpdate = z.output<typeof ResourceActionUpdate>;

/** An action of a resource; `permission_name` is `<resource key>:<action key>`. */
export const ResourceActionRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		permission_name: z.string(),
		resource_id: Uuid,
		description: z.string().nullable(),
		attributes: StoredObject.nullable(),
		v1compat_path: AlwaysNull,
		v1compat_is_built_in: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({ id: 'ResourceActionRead' });
export type ResourceActionRead = z.input<typeof ResourceActionRead>;

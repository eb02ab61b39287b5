import { z } from 'zod';
import { boundedArray } from './bounded.js';
import {
	Attributes,
	clearable,
	defaulted,
	environmentObject,
	Key,
	Name,
	optional,
	Reference,
	StoredObject,
	Text,
	Uuid,
} from './common.js';

/** An action of the group's resource, which the handler looks up. */
const GroupedAction = Reference.meta({ description: 'The key or id of an action of the resource.', example: 'read' });

/** A new group of actions of one resource. */
export const ActionGroupCreate = z
	.object({
		key: Key,
		name: Name,
		description: optional(Text),
		attributes: optional(Attributes),
		actions: defaulted(boundedArray(GroupedAction), () => []),
	})
	.meta({ id: 'ResourceActionGroupCreate' });
export type ActionGroupCreate = z.output<typeof ActionGroupCreate>;

/** The fields of a group of actions that may change; `actions` and `attributes` are replaced as a whole. */
export const ActionGroupUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		attributes: clearable(Attributes),
		actions: optional(boundedArray(GroupedAction)),
	})
	.meta({ id: 'ResourceActionGroupUpdate' });
export type ActionGroupUpdate = z.output<typeof ActionGroupUpdate>;

/** A group of actions; `actions` are their keys, in the order they were given. */
export const ActionGroupRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		resource_id: Uuid,
		description: z.string().nullable(),
		attributes: StoredObject.nullable(),
		actions: z.array(z.string()),
	})
	.meta({ id: 'ResourceActionGroupRead' });
export type ActionGroupRead = z.input<typeof ActionGroupRead>;

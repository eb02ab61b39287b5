import { z } from 'zod';
import { boundedArray } from '../bounded.js';
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
} from '../common.js';

/** An action in the group's resource. The handler looks it up. */
const GroupedAction = Reference.meta({ description: 'Key or id of an action in the resource.', example: 'read' });

/** A new action group of a resource. */
export const ActionGroupCreate = z
	.object({
		key: Key.describe('Key, unique among the action groups in the resource.'),
		name: Name.describe('Display name.'),
		description: optional(Text).describe('Group description. Null counts as absent.'),
		attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
		actions: defaulted(boundedArray(GroupedAction), () => []).describe(
			'Actions in the group, in this order; none by default.',
		),
	})
	.meta({ id: 'ResourceActionGroupCreate', description: 'A new action group of a resource.' });
export type ActionGroupCreate = z.output<typeof ActionGroupCreate>;

/** Action group fields to change; `actions` and `attributes` are replaced as a whole. */
export const ActionGroupUpdate = z
	.object({
		name: optional(Name).describe('New name. Null counts as absent.'),
		description: clearable(Text).describe('Group description; null clears it.'),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
		actions: optional(boundedArray(GroupedAction)).describe('Complete new action list. Null counts as absent.'),
	})
	.meta({
		id: 'ResourceActionGroupUpdate',
		description: 'Action group fields to change; `actions` and `attributes` are replaced as a whole.',
	});
export type ActionGroupUpdate = z.output<typeof ActionGroupUpdate>;

/** An action group; `actions` holds action keys, in their original order. */
export const ActionGroupRead = z
	.object({
		...environmentObject,
		key: z.string().describe('Key, unique among the action groups in the resource.'),
		name: z.string().describe('Display name.'),
		resource_id: Uuid.describe('Resource id for the grouped actions.'),
		description: z.string().nullable().describe('Group description.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		actions: z.array(z.string()).describe('Action keys, in their original order.'),
	})
	.meta({
		id: 'ResourceActionGroupRead',
		description: 'An action group; `actions` holds action keys, in their original order.',
	});
export type ActionGroupRead = z.input<typeof ActionGroupRead>;

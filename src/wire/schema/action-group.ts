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
import { named } from '../named.js';

/** An action in the group's resource. The handler looks it up. */
const GroupedAction = Reference.meta({ description: 'Key or id of an action in the resource.', example: 'read' });

export const ActionGroupCreate = named('ResourceActionGroupCreate', 'A new action group of a resource.', {
	key: Key.describe('Key, unique among the action groups in the resource.'),
	name: Name.describe('Display name.'),
	description: optional(Text).describe('Group description. Null counts as absent.'),
	attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	actions: defaulted(boundedArray(GroupedAction), () => []).describe(
		'Actions in the group, in this order; none by default.',
	),
});
export type ActionGroupCreate = z.output<typeof ActionGroupCreate>;

export const ActionGroupUpdate = named(
	'ResourceActionGroupUpdate',
	'Action group fields to change; `actions` and `attributes` are replaced as a whole.',
	{
		name: optional(Name).describe('New name. Null counts as absent.'),
		description: clearable(Text).describe('Group description; null clears it.'),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
		actions: optional(boundedArray(GroupedAction)).describe('Complete new action list. Null counts as absent.'),
	},
);
export type ActionGroupUpdate = z.output<typeof ActionGroupUpdate>;

export const ActionGroupRead = named(
	'ResourceActionGroupRead',
	'An action group; `actions` holds action keys, in their original order.',
	{
		...environmentObject,
		key: z.string().describe('Key, unique among the action groups in the resource.'),
		name: z.string().describe('Display name.'),
		resource_id: Uuid.describe('Resource id for the grouped actions.'),
		description: z.string().nullable().describe('Group description.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		actions: z.array(z.string()).describe('Action keys, in their original order.'),
	},
);
export type ActionGroupRead = z.input<typeof ActionGroupRead>;

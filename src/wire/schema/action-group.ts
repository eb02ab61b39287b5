import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Attributes, clearable, defaulted, optional, Reference, StoredObject, Uuid } from '../common.js';
import { changedFields, describedFields, named, namedObject } from '../named.js';

/** Action in the group's resource. The handler looks it up. */
const GroupedAction = Reference.meta({ description: 'Key or id of an action in the resource.', example: 'read' });

export const ActionGroupCreate = named('ResourceActionGroupCreate', 'A new action group of a resource.', {
	...describedFields('Group', 'action groups in the resource'),
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
		...changedFields('Group'),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
		actions: optional(boundedArray(GroupedAction)).describe('Complete new action list. Null counts as absent.'),
	},
);
export type ActionGroupUpdate = z.output<typeof ActionGroupUpdate>;

export const ActionGroupRead = named(
	'ResourceActionGroupRead',
	'An action group; `actions` contains action keys, in their original order.',
	{
		...namedObject('action groups in the resource'),
		resource_id: Uuid.describe('Id of the resource.'),
		description: z.string().nullable().describe('Group description.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		actions: z.array(z.string()).describe('Action keys, in their original order.'),
	},
);
export type ActionGroupRead = z.input<typeof ActionGroupRead>;

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

/** An action of the group's resource, which the handler looks up. */
const GroupedAction = Reference.meta({ description: 'The key or id of an action of the resource.', example: 'read' });

/** A new group of actions of one resource. */
export const ActionGroupCreate = z
	.object({
		key: Key.describe('The key, unique among the groups of the resource.'),
		name: Name.describe('A name for people.'),
		description: optional(Text).describe('What the group is for. Null counts as absent.'),
		attributes: optional(Attributes).describe('Any data of your own. Null counts as absent.'),
		actions: defaulted(boundedArray(GroupedAction), () => []).describe(
			'The actions of the group, in this order; none when left out.',
		),
	})
	.meta({ id: 'ResourceActionGroupCreate', description: 'A new group of actions of one resource.' });
export type ActionGroupCreate = z.output<typeof ActionGroupCreate>;

/** The fields of a group of actions that may change; `actions` and `attributes` are replaced as a whole. */
export const ActionGroupUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('What the group is for; null clears it.'),
		attributes: clearable(Attributes).describe('Any data of your own, which replaces what is stored; null clears it.'),
		actions: optional(boundedArray(GroupedAction)).describe(
			'All actions of the group from now on. Null counts as absent.',
		),
	})
	.meta({
		id: 'ResourceActionGroupUpdate',
		description:
			'The fields of a group of actions that may change; `actions` and `attributes` are replaced as a whole.',
	});
export type ActionGroupUpdate = z.output<typeof ActionGroupUpdate>;

/** A group of actions; `actions` are their keys, in the order they were given. */
export const ActionGroupRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the groups of the resource.'),
		name: z.string().describe('A name for people.'),
		resource_id: Uuid.describe('The id of the resource whose actions it groups.'),
		description: z.string().nullable().describe('What the group is for.'),
		attributes: StoredObject.nullable().describe('Any data of your own.'),
		actions: z.array(z.string()).describe('The keys of its actions, in the order they were given.'),
	})
	.meta({
		id: 'ResourceActionGroupRead',
		description: 'A group of actions; `actions` are their keys, in the order they were given.',
	});
export type ActionGroupRead = z.input<typeof ActionGroupRead>;

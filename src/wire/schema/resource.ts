import { z } from 'zod';
import {
	AlwaysNull,
	Attributes,
	clearable,
	environmentObject,
	Key,
	keyed,
	Name,
	optional,
	Reference,
	StoredObject,
	Text,
	Uuid,
} from '../common.js';
import { Flag, pageShape, Search, withAttributeFilters } from '../query.js';
import { RelationBlockRead } from './relation.js';
import { AttributeType } from './resource-attribute.js';
import { ResourceRoleRead, RoleBlockEdit } from './resource-role.js';

/** An action in the body of a resource, which has its key as the name of a member of `actions`. */
export const ActionBlockEdit = z
	.object({
		name: optional(Name).describe('A name for people; the key when left out.'),
		description: optional(Text).describe('What the action does. Null counts as absent.'),
		attributes: optional(Attributes).describe('Any data of your own. Null counts as absent.'),
	})
	.meta({
		id: 'ActionBlockEditable',
		description: 'An action in the body of a resource, which has its key as the name of a member of `actions`.',
	});
export type ActionBlockEdit = z.output<typeof ActionBlockEdit>;

/** An attribute in the body of a resource, which has its key as the name of a member of `attributes`. */
export const AttributeBlockEdit = z
	.object({
		type: AttributeType.describe('What values the attribute takes.'),
		description: optional(Text).describe('What the attribute says. Null counts as absent.'),
	})
	.meta({
		id: 'AttributeBlockEditable',
		description: 'An attribute in the body of a resource, which has its key as the name of a member of `attributes`.',
	});
export type AttributeBlockEdit = z.output<typeof AttributeBlockEdit>;

/** The roles that are held on instances of the resource, by key. */
const roles = optional(keyed(RoleBlockEdit)).describe('The roles that are held on instances of the resource, by key.');

/** The relations whose objects are of the resource: by their key, the resource of the subjects. */
const relations = optional(keyed(Reference)).meta({
	description: 'By the key of the relation, the resource of its subjects (an id or a key).',
	example: { parent: 'folder' },
});

const described = {
	name: Name.describe('A name for people.'),
	actions: keyed(ActionBlockEdit).describe('What can be done with its instances, by key.'),
	attributes: optional(keyed(AttributeBlockEdit)).describe(
		'The attributes of its instances, by key. Null counts as absent.',
	),
	urn: optional(Text).describe('A name of your own for the resource. Null counts as absent.'),
	description: optional(Text).describe('What the resource is. Null counts as absent.'),
	type_attributes: optional(Attributes).describe('Any data of your own. Null counts as absent.'),
	roles,
	relations,
};

/** The contract's name for tenants as a resource type. Its counterpart `__user` is a resource of every environment. */
const reservedKey = '__tenant';
/** The key of a resource. */
export const ResourceKey = Key.refine((key) => key !== reservedKey, 'is a reserved name');

/** A new resource with its actions, attributes, relations and roles. */
export const ResourceCreate = z
	.object({ key: ResourceKey.describe('The key, unique among the resources of the environment.'), ...described })
	.meta({ id: 'ResourceCreate', description: 'A new resource with its actions, attributes, relations and roles.' });
export type ResourceCreate = z.output<typeof ResourceCreate>;

/**
 * A complete resource. Missing fields are reset; actions, attributes, relations and roles that are not named are
 * deleted.
 */
export const ResourceReplace = z.object(described).meta({
	id: 'ResourceReplace',
	description:
		'A complete resource. Missing fields are reset; actions, attributes, relations and roles that are not ' +
		'named are deleted.',
});
export type ResourceReplace = z.output<typeof ResourceReplace>;

/** The fields of a resource that may change; its parts (`actions`, `roles` and so on) are replaced as a whole. */
export const ResourceUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		actions: optional(keyed(ActionBlockEdit)).describe('All actions from now on, by key. Null counts as absent.'),
		attributes: clearable(keyed(AttributeBlockEdit)).describe('All attributes from now on, by key; null for none.'),
		urn: clearable(Text).describe('A name of your own for the resource; null clears it.'),
		description: clearable(Text).describe('What the resource is; null clears it.'),
		type_attributes: clearable(Attributes).describe(
			'Any data of your own, which replaces what is stored; null clears it.',
		),
		roles,
		relations,
	})
	.meta({
		id: 'ResourceUpdate',
		description:
			'The fields of a resource that may change; its parts (`actions`, `roles` and so on) are replaced as a whole.',
	});
export type ResourceUpdate = z.output<typeof ResourceUpdate>;

/** Which resources a list asks for. */
export const ResourceQuery = withAttributeFilters({
	include_built_in: Flag.describe('Also resources that come with every environment, such as `__user`.'),
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
	search: Search,
	...pageShape,
});
export type ResourceQuery = z.output<typeof ResourceQuery>;

/** An action as a resource shows it. */
export const ActionBlockRead = z
	.object({
		id: Uuid.describe('The id of the action.'),
		key: z.string().describe('The key of the action.'),
		name: z.string().nullable().describe('A name for people.'),
		description: z.string().nullable().describe('What the action does.'),
		attributes: StoredObject.nullable().describe('Any data of your own.'),
		v1compat_path: AlwaysNull,
		v1compat_is_built_in: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({ id: 'ActionBlockRead', description: 'An action as a resource shows it.' });
export type ActionBlockRead = z.input<typeof ActionBlockRead>;

/** An attribute as a resource shows it. */
export const AttributeBlockRead = z
	.object({
		id: Uuid.describe('The id of the attribute.'),
		key: z.string().describe('The key of the attribute.'),
		type: AttributeType.describe('What values the attribute takes.'),
		description: z.string().nullable().describe('What the attribute says.'),
	})
	.meta({ id: 'AttributeBlockRead', description: 'An attribute as a resource shows it.' });
export type AttributeBlockRead = z.input<typeof AttributeBlockRead>;

/** A resource with its actions, attributes, relations, roles and groups of actions (by key, the keys of their actions). */
export const ResourceRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the resources of the environment.'),
		name: z.string().describe('A name for people.'),
		urn: z.string().nullable().describe('A name of your own for the resource.'),
		description: z.string().nullable().describe('What the resource is.'),
		actions: z.record(z.string(), ActionBlockRead).describe('What can be done with its instances, by key.'),
		attributes: z
			.record(z.string(), AttributeBlockRead)
			.nullable()
			.describe('The attributes of its instances, by key.'),
		roles: z.record(z.string(), ResourceRoleRead).describe('The roles that are held on its instances, by key.'),
		relations: z
			.record(z.string(), RelationBlockRead)
			.describe('The relations whose objects are its instances, by key.'),
		action_groups: z
			.record(z.string(), z.array(z.string()))
			.describe('By the key of the group, the keys of its actions.'),
		type_attributes: StoredObject.nullable().describe('Any data of your own.'),
		v1compat_path: AlwaysNull,
		v1compat_type: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({
		id: 'ResourceRead',
		description:
			'A resource with its actions, attributes, relations, roles and groups of actions (by key, the keys of ' +
			'their actions).',
	});
export type ResourceRead = z.input<typeof ResourceRead>;

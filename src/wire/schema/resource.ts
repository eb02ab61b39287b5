import { z } from 'zod';
import {
	AlwaysNull,
	Attributes,
	clearable,
	Key,
	keyed,
	Name,
	optional,
	Reference,
	StoredObject,
	Text,
	Uuid,
} from '../common.js';
import { named, namedObject } from '../named.js';
import { Flag, pageShape, Search, TotalCountFlag, withAttributeFilters } from '../query.js';
import { RelationBlockRead } from './relation.js';
import { AttributeType } from './resource-attribute.js';
import { ResourceRoleRead, RoleBlockEdit } from './resource-role.js';

export const ActionBlockEdit = named(
	'ActionBlockEditable',
	'An action in a resource body; its key is the field name in `actions`.',
	{
		name: optional(Name).describe('Display name; defaults to the key.'),
		description: optional(Text).describe('Action description. Null counts as absent.'),
		attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	},
);
export type ActionBlockEdit = z.output<typeof ActionBlockEdit>;

export const AttributeBlockEdit = named(
	'AttributeBlockEditable',
	'An attribute in a resource body; its key is the field name in `attributes`.',
	{
		type: AttributeType.describe('Attribute value type.'),
		description: optional(Text).describe('Attribute description. Null counts as absent.'),
	},
);
export type AttributeBlockEdit = z.output<typeof AttributeBlockEdit>;

/** Resource roles, keyed by role key. */
const roles = optional(keyed(RoleBlockEdit)).describe('Resource roles, by key.');

/** Relations in which the resource is the object. Subject resources are keyed by relation key. */
const relations = optional(keyed(Reference)).meta({
	description: 'Subject resource (id or key) by relation key.',
	example: { parent: 'folder' },
});

const described = {
	name: Name.describe('Display name.'),
	actions: keyed(ActionBlockEdit).describe('Actions on its instances, by key.'),
	attributes: optional(keyed(AttributeBlockEdit)).describe('Instance attributes, by key. Null counts as absent.'),
	urn: optional(Text).describe('Custom name for the resource. Null counts as absent.'),
	description: optional(Text).describe('Resource description. Null counts as absent.'),
	type_attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	roles,
	relations,
};

/**
 * Key that the contract uses for tenants as a resource type. Its counterpart `__user` is a resource in every
 * environment.
 */
const reservedKey = '__tenant';
export const ResourceKey = Key.refine((key) => key !== reservedKey, 'is a reserved name');

export const ResourceCreate = named(
	'ResourceCreate',
	'A new resource with its actions, attributes, relations and roles.',
	{ key: ResourceKey.describe('Key, unique among the resources in the environment.'), ...described },
);
export type ResourceCreate = z.output<typeof ResourceCreate>;

export const ResourceReplace = named(
	'ResourceReplace',
	'A complete resource. Missing fields are reset; omitted actions, attributes, relations and roles are deleted.',
	described,
);

export const ResourceUpdate = named(
	'ResourceUpdate',
	'Resource fields to change; `actions`, `roles` and other nested maps are replaced as a whole.',
	{
		name: optional(Name).describe('New name. Null counts as absent.'),
		actions: optional(keyed(ActionBlockEdit)).describe('Complete new actions, by key. Null counts as absent.'),
		attributes: clearable(keyed(AttributeBlockEdit)).describe('Complete new attributes, by key; null for none.'),
		urn: clearable(Text).describe('Custom name for the resource; null clears it.'),
		description: clearable(Text).describe('Resource description; null clears it.'),
		type_attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
		roles,
		relations,
	},
);
export type ResourceUpdate = z.output<typeof ResourceUpdate>;

export const ResourceQuery = withAttributeFilters({
	include_built_in: Flag.describe('Include built-in resources, such as `__user`.'),
	include_total_count: TotalCountFlag,
	search: Search,
	...pageShape,
});

export const ActionBlockRead = named('ActionBlockRead', 'An action, nested in its resource.', {
	id: Uuid.describe('Action id.'),
	key: z.string().describe('Action key.'),
	name: z.string().nullable().describe('Display name.'),
	description: z.string().nullable().describe('Action description.'),
	attributes: StoredObject.nullable().describe('Custom data.'),
	v1compat_path: AlwaysNull,
	v1compat_is_built_in: AlwaysNull,
	v1compat_name: AlwaysNull,
});

export const AttributeBlockRead = named('AttributeBlockRead', 'An attribute, nested in its resource.', {
	id: Uuid.describe('Attribute id.'),
	key: z.string().describe('Attribute key.'),
	type: AttributeType.describe('Attribute value type.'),
	description: z.string().nullable().describe('Attribute description.'),
});

export const ResourceRead = named(
	'ResourceRead',
	'A resource with its actions, attributes, relations, roles and action groups (action keys by group key).',
	{
		...namedObject('resources in the environment'),
		urn: z.string().nullable().describe('Custom name for the resource.'),
		description: z.string().nullable().describe('Resource description.'),
		actions: z.record(z.string(), ActionBlockRead).describe('Actions on its instances, by key.'),
		attributes: z.record(z.string(), AttributeBlockRead).nullable().describe('Instance attributes, by key.'),
		roles: z.record(z.string(), ResourceRoleRead).describe('Resource roles, by key.'),
		relations: z.record(z.string(), RelationBlockRead).describe('Relations whose objects are its instances, by key.'),
		action_groups: z.record(z.string(), z.array(z.string())).describe('Action keys by action group key.'),
		type_attributes: StoredObject.nullable().describe('Custom data.'),
		v1compat_path: AlwaysNull,
		v1compat_type: AlwaysNull,
		v1compat_name: AlwaysNull,
	},
);
export type ResourceRead = z.input<typeof ResourceRead>;

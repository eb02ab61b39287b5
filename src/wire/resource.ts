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
} from './common.js';
import { Flag, pageShape, Search, withAttributeFilters } from './query.js';
import { RelationBlockRead } from './relation.js';
import { AttributeType } from './resource-attribute.js';
import { ResourceRoleRead, RoleBlockEdit } from './resource-role.js';

/** An action in the body of a resource, which has its key as the name of a member of `actions`. */
export const ActionBlockEdit = z
	.object({
		name: optional(Name),
		description: optional(Text),
		attributes: optional(Attributes),
	})
	.meta({ id: 'ActionBlockEditable' });
export type ActionBlockEdit = z.output<typeof ActionBlockEdit>;

/** An attribute in the body of a resource, which has its key as the name of a member of `attributes`. */
export const AttributeBlockEdit = z
	.object({
		type: AttributeType,
		description: optional(Text),
	})
	.meta({ id: 'AttributeBlockEditable' });
export type AttributeBlockEdit = z.output<typeof AttributeBlockEdit>;

/** The roles that are held on instances of the resource, by key. */
const roles = optional(keyed(RoleBlockEdit));

/** The relations whose objects are of the resource: by their key, the resource of the subjects. */
const relations = optional(keyed(Reference)).meta({
	description: 'By the key of the relation, the resource of its subjects (an id or a key).',
	example: { parent: 'folder' },
});

const described = {
	name: Name,
	actions: keyed(ActionBlockEdit),
	attributes: optional(keyed(AttributeBlockEdit)),
	urn: optional(Text),
	description: optional(Text),
	type_attributes: optional(Attributes),
	roles,
	relations,
};

/** The contract's name for tenants as a resource type. Its counterpart `__user` is a resource of every environment. */
const reservedKey = '__tenant';
/** The key of a resource. */
export const ResourceKey = Key.refine((key) => key !== reservedKey, 'is a reserved name');

/** A new resource with its actions, attributes, relations and roles. */
export const ResourceCreate = z.object({ key: ResourceKey, ...described }).meta({ id: 'ResourceCreate' });
export type ResourceCreate = z.output<typeof ResourceCreate>;

/**
 * A complete resource. Missing fields are reset; actions, attributes, relations and roles that are not named are
 * deleted.
 */
export const ResourceReplace = z.object(described).meta({ id: 'ResourceReplace' });
export type ResourceReplace = z.output<typeof ResourceReplace>;

/** The fields of a resource that may change; its parts (`actions`, `roles` and so on) are replaced as a whole. */
export const ResourceUpdate = z
	.object({
		name: optional(Name),
		actions: optional(keyed(ActionBlockEdit)),
		attributes: clearable(keyed(AttributeBlockEdit)),
		urn: clearable(Text),
		description: clearable(Text),
		type_attributes: clearable(Attributes),
		roles,
		relations,
	})
	.meta({ id: 'ResourceUpdate' });
export type ResourceUpdate = z.output<typeof ResourceUpdate>;

/** Which resources a list asks for. */
export const ResourceQuery = withAttributeFilters({
	include_built_in: Flag,
	include_total_count: Flag,
	search: Search,
	...pageShape,
});
export type ResourceQuery = z.output<typeof ResourceQuery>;

/** An action as a resource shows it. */
export const ActionBlockRead = z
	.object({
		id: Uuid,
		key: z.string(),
		name: z.string().nullable(),
		description: z.string().nullable(),
		attributes: StoredObject.nullable(),
		v1compat_path: AlwaysNull,
		v1compat_is_built_in: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({ id: 'ActionBlockRead' });
export type ActionBlockRead = z.input<typeof ActionBlockRead>;

/** An attribute as a resource shows it. */
export const AttributeBlockRead = z
	.object({
		id: Uuid,
		key: z.string(),
		type: AttributeType,
		description: z.string().nullable(),
	})
	.meta({ id: 'AttributeBlockRead' });
export type AttributeBlockRead = z.input<typeof AttributeBlockRead>;

/** A resource with its actions, attributes, relations, roles and groups of actions (by key, the keys of their actions). */
export const ResourceRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		urn: z.string().nullable(),
		description: z.string().nullable(),
		actions: z.record(z.string(), ActionBlockRead),
		attributes: z.record(z.string(), AttributeBlockRead).nullable(),
		roles: z.record(z.string(), ResourceRoleRead),
		relations: z.record(z.string(), RelationBlockRead),
		action_groups: z.record(z.string(), z.array(z.string())),
		type_attributes: StoredObject.nullable(),
		v1compat_path: AlwaysNull,
		v1compat_type: AlwaysNull,
		v1compat_name: AlwaysNull,
	})
	.meta({ id: 'ResourceRead' });
export type ResourceRead = z.input<typeof ResourceRead>;

import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { unboundedArray } from './bounded.js';
import {
	Attributes,
	defaulted,
	instanceParts,
	Key,
	keyed,
	maxKeyLength,
	Name,
	optional,
	StoredObject,
	Text,
	Timestamp,
	UserKey,
} from './common.js';
import { ConditionSetKey, ConditionSetType, Conditions, OwnConditionSetKey } from './condition-set.js';
import { derivationSettings } from './derivation.js';
import { configuredLevels, ElementsSettings, ElementsType } from './elements-config.js';
import { Email } from './email.js';
import { ResourceKey } from './resource.js';
import { AttributeType } from './resource-attribute.js';
import { UserInviteStatus } from './user-invite.js';

/**
 * A whole environment as one JSON document. It has keys and never ids, so that it means the same in every environment.
 * Unknown members are refused, because their content would be lost. A new kind of object is a new member; `version`
 * grows when the meaning of a member changes.
 */

/** The `format` of every document. */
export const documentFormat = 'regolith-environment';

/** The version of documents that is written, and the only one that is read. */
export const documentVersion = 1;

function orNull<S extends z.ZodType>(schema: S) {
	return defaulted(schema.nullable(), () => null);
}

function entryList<S extends z.ZodType>(item: S) {
	return defaulted(unboundedArray(item), () => []);
}

function entryMap<S extends z.ZodType>(value: S, key: z.ZodString = Key) {
	return defaulted(keyed(value, key), () => ({}));
}

/** Two keys with a colon between them. */
function keyPair(what: string) {
	return z
		.string()
		.max(2 * maxKeyLength + 1)
		.refine(isPair, `must be \`${what}\``);
}

function isPair(text: string): boolean {
	const parts = instanceParts(text);
	return parts !== null && Key.safeParse(parts.resource).success && Key.safeParse(parts.key).success;
}

const InstanceName = keyPair('<resource key>:<instance key>');
const PermissionName = keyPair('<resource key>:<action key>');

/** An action of a resource; its name defaults to its key. */
const ActionEntry = z.strictObject({
	name: optional(Name),
	description: orNull(Text),
	attributes: orNull(Attributes),
});

/** An attribute of a resource, or of users. */
export const AttributeEntry = z
	.strictObject({ type: AttributeType, description: orNull(Text) })
	.meta({ id: 'AttributeEntry' });
export type AttributeEntry = z.output<typeof AttributeEntry>;

/** A relation of the instances of a resource, the objects; `subject_resource` is the key of the subjects' resource. */
export const RelationEntry = z
	.strictObject({ name: Name, description: orNull(Text), subject_resource: Key })
	.meta({ id: 'RelationEntry' });
export type RelationEntry = z.output<typeof RelationEntry>;

/** A group of actions of a resource, by their keys. */
export const ActionGroupEntry = z
	.strictObject({ name: Name, description: orNull(Text), attributes: orNull(Attributes), actions: entryList(Key) })
	.meta({ id: 'ActionGroupEntry' });
export type ActionGroupEntry = z.output<typeof ActionGroupEntry>;

const when = defaulted(z.strictObject(derivationSettings), () => ({ no_direct_roles_on_object: false }));

/** What a role of a resource is derived from: roles of the subjects of a relation, all by keys. */
export const DerivationEntry = z
	.strictObject({
		users_with_role: entryList(z.strictObject({ role: Key, on_resource: Key, linked_by_relation: Key, when })),
		when,
	})
	.meta({ id: 'DerivationEntry' });
export type DerivationEntry = z.output<typeof DerivationEntry>;

const describedRole = { name: Name, description: orNull(Text), attributes: orNull(Attributes) };

/** A role of a resource; its permissions are keys of actions, what it extends are keys of roles, of that resource. */
export const ResourceRoleEntry = z
	.strictObject({
		...describedRole,
		permissions: entryList(Key),
		extends: entryList(Key),
		granted_to: orNull(DerivationEntry),
	})
	.meta({ id: 'ResourceRoleEntry' });
export type ResourceRoleEntry = z.output<typeof ResourceRoleEntry>;

/** The objects nested in a resource. An import keeps those that it does not name. */
const nested = {
	relations: entryMap(RelationEntry),
	action_groups: entryMap(ActionGroupEntry),
	roles: entryMap(ResourceRoleEntry),
};

/**
 * A resource. The built-in `__user` is only there if its owner has changed it; its attributes are in `user_attributes`.
 */
export const ResourceEntry = z
	.strictObject({
		name: Name,
		urn: orNull(Text),
		description: orNull(Text),
		type_attributes: orNull(Attributes),
		actions: entryMap(ActionEntry),
		attributes: entryMap(AttributeEntry),
		...nested,
	})
	.meta({ id: 'ResourceEntry' });
export type ResourceEntry = z.output<typeof ResourceEntry>;

/** A tenant role; its permissions are `<resource key>:<action key>`, what it extends are keys. */
export const RoleEntry = z
	.strictObject({ ...describedRole, permissions: entryList(PermissionName), extends: entryList(Key) })
	.meta({ id: 'RoleEntry' });
export type RoleEntry = z.output<typeof RoleEntry>;

/** A condition set that is not automatic. `resource` is the resource that a resource set narrows, `parent` the set. */
export const ConditionSetEntry = z
	.strictObject({
		name: Name,
		description: orNull(Text),
		type: ConditionSetType,
		conditions: defaulted(Conditions, () => ({})),
		resource: orNull(Key),
		parent: orNull(OwnConditionSetKey),
	})
	.refine(({ type, resource }) => (type === 'resourceset') === (resource !== null), {
		message: 'must be given for a resource set, and not for a user set',
		path: ['resource'],
	})
	.meta({ id: 'ConditionSetEntry' });
export type ConditionSetEntry = z.output<typeof ConditionSetEntry>;

/** A rule between two sets, by keys; an automatic set has a key of its own. */
export const SetRuleEntry = z
	.strictObject({ user_set: ConditionSetKey, permission: PermissionName, resource_set: ConditionSetKey })
	.meta({ id: 'ConditionSetRuleEntry' });
export type SetRuleEntry = z.output<typeof SetRuleEntry>;

/** The key of a tenant role, or `<resource key>:<role key>`. */
const RoleName = z
	.string()
	.max(2 * maxKeyLength + 1)
	.refine((text) => Key.safeParse(text).success || isPair(text), 'must be `<role key>` or `<resource key>:<role key>`');

/**
 * An element, without its webhook. `role_levels` has the level of each role that has one. Settings name resources, roles
 * and elements by keys.
 */
export const ElementsConfigEntry = z
	.strictObject({
		name: Name,
		elements_type: ElementsType,
		settings: defaulted(ElementsSettings, () => ({})),
		email_notifications: defaulted(z.boolean(), () => false),
		role_levels: entryMap(z.enum(configuredLevels), RoleName),
	})
	.meta({ id: 'ElementsConfigEntry' });
export type ElementsConfigEntry = z.output<typeof ElementsConfigEntry>;

/** A tenant. */
export const TenantEntry = z
	.strictObject({ name: Name, description: orNull(Text), attributes: orNull(ComparedAttributes) })
	.meta({ id: 'TenantEntry' });
export type TenantEntry = z.output<typeof TenantEntry>;

/** A user. */
export const UserEntry = z
	.strictObject({
		email: orNull(Email),
		first_name: orNull(Name),
		last_name: orNull(Name),
		attributes: defaulted(ComparedAttributes, () => ({})),
	})
	.meta({ id: 'UserEntry' });
export type UserEntry = z.output<typeof UserEntry>;

/** A user who was added to a tenant. */
export const TenantUserEntry = z.strictObject({ user: UserKey, tenant: Key }).meta({ id: 'TenantUserEntry' });
export type TenantUserEntry = z.output<typeof TenantUserEntry>;

/** A resource instance, in one tenant. */
export const InstanceEntry = z
	.strictObject({ tenant: Key, attributes: defaulted(ComparedAttributes, () => ({})) })
	.meta({ id: 'InstanceEntry' });
export type InstanceEntry = z.output<typeof InstanceEntry>;

/** An instance that is a group. `made_instance`: it was created for the group, and is deleted with it. */
export const GroupEntry = z
	.strictObject({ made_instance: defaulted(z.boolean(), () => false) })
	.meta({ id: 'GroupEntry' });
export type GroupEntry = z.output<typeof GroupEntry>;

/** A resource, or a role or a relation of one, that the groups API created and deletes when no group needs it. */
export const MadeForGroupsEntry = z
	.strictObject({ resource: Key, role: orNull(Key), relation: orNull(Key) })
	.refine(({ role, relation }) => role === null || relation === null, {
		message: 'must not be given together with `role`',
		path: ['relation'],
	})
	.meta({ id: 'MadeForGroupsEntry' });
export type MadeForGroupsEntry = z.output<typeof MadeForGroupsEntry>;

/** When a grant ends. One that has ended already is left out of an import. */
const ends = orNull(Timestamp).meta({ description: 'When it ends; absent for good.' });

/** A relationship: its subject and its object are `<resource key>:<instance key>`. */
export const TupleEntry = z
	.strictObject({ subject: InstanceName, relation: Key, object: InstanceName, expires_at: ends })
	.meta({ id: 'TupleEntry' });
export type TupleEntry = z.output<typeof TupleEntry>;

/** Where a role is held: in a tenant or on an instance, which knows its tenant. */
const place = { tenant: orNull(Key), resource_instance: orNull(InstanceName) };

function inOnePlace({ tenant, resource_instance }: { readonly tenant: unknown; readonly resource_instance: unknown }) {
	return (tenant === null) !== (resource_instance === null);
}

const inOnePlaceOnly = {
	message: 'must give either `tenant` or `resource_instance`, which is in a tenant already',
	path: ['tenant'],
};

/** A role that a user holds: a tenant role in a tenant, or a role of a resource on one of its instances. */
export const RoleAssignmentEntry = z
	.strictObject({ user: UserKey, role: Key, ...place, expires_at: ends })
	.refine(inOnePlace, inOnePlaceOnly)
	.meta({ id: 'RoleAssignmentEntry' });
export type RoleAssignmentEntry = z.output<typeof RoleAssignmentEntry>;

/** A future user; the role is the key of a tenant role, or `<resource key>:<role key>`. */
export const UserInviteEntry = z
	.strictObject({
		email: Email,
		first_name: orNull(Name),
		last_name: orNull(Name),
		status: defaulted(UserInviteStatus, () => 'pending' as const),
		role: z.union([Key, keyPair('<resource key>:<role key>')], 'must be `<role key>` or `<resource key>:<role key>`'),
		...place,
		element: orNull(Key).meta({ description: 'The element in which it was made.' }),
		user_key: orNull(UserKey).meta({ description: 'The key of the user, where the invite was made in an element.' }),
		attributes: orNull(ComparedAttributes),
		invite_expires_at: orNull(Timestamp).meta({ description: 'Until when it can be approved; absent for good.' }),
	})
	.refine(inOnePlace, inOnePlaceOnly)
	.refine(isOfInstance, { message: 'must be a role of the resource of `resource_instance`', path: ['role'] })
	.meta({ id: 'UserInviteEntry' });
export type UserInviteEntry = z.output<typeof UserInviteEntry>;

function isOfInstance({ role, resource_instance }: { role: string; resource_instance: string | null }): boolean {
	const resource = instanceParts(role)?.resource;
	return resource === undefined || resource === instanceParts(resource_instance ?? '')?.resource;
}

/** What can exist, what is allowed, and the elements that roles have levels in. */
const SchemaHalf = z.strictObject({
	resources: entryMap(ResourceEntry, ResourceKey).refine(
		(resources) => Object.keys(resources['__user']?.attributes ?? {}).length === 0,
		{ message: 'must be in `user_attributes`', path: ['__user', 'attributes'] },
	),
	user_attributes: entryMap(AttributeEntry),
	roles: entryMap(RoleEntry),
	condition_sets: entryMap(ConditionSetEntry, OwnConditionSetKey),
	set_rules: entryList(SetRuleEntry),
	elements_configs: entryMap(ElementsConfigEntry),
});

/** What exists. */
const FactsHalf = z.strictObject({
	tenants: entryMap(TenantEntry),
	users: entryMap(UserEntry, UserKey),
	tenant_users: entryList(TenantUserEntry),
	resource_instances: entryMap(InstanceEntry, InstanceName),
	groups: entryMap(GroupEntry, InstanceName),
	made_for_groups: entryList(MadeForGroupsEntry),
	relationship_tuples: entryList(TupleEntry),
	role_assignments: entryList(RoleAssignmentEntry),
	user_invites: entryMap(UserInviteEntry, UserKey),
});

/** A document to import. If a half is missing, that half of the environment stays as it is. */
export const EnvironmentDocument = z
	.strictObject({
		format: z.literal(documentFormat),
		version: z.literal(documentVersion, `must be ${documentVersion}, the only version that is known here`),
		environment: optional(z.strictObject({ key: Key, name: Name })).meta({
			description: 'Where the document comes from; not read.',
		}),
		schema: optional(SchemaHalf),
		facts: optional(FactsHalf),
	})
	.meta({ id: 'EnvironmentDocument' });
export type EnvironmentDocument = z.output<typeof EnvironmentDocument>;

const entries = z.record(z.string(), StoredObject);

/** An exported document: complete, in the order of its keys, without members that equal their default. */
export const EnvironmentExport = z
	.object({
		format: z.literal(documentFormat),
		version: z.literal(documentVersion),
		environment: z.object({ key: z.string(), name: z.string() }),
		schema: z.object({
			resources: entries,
			user_attributes: entries,
			roles: entries,
			condition_sets: entries,
			set_rules: z.array(StoredObject),
			elements_configs: entries,
		}),
		facts: z.object({
			tenants: entries,
			users: entries,
			tenant_users: z.array(StoredObject),
			resource_instances: entries,
			groups: entries,
			made_for_groups: z.array(StoredObject),
			relationship_tuples: z.array(StoredObject),
			role_assignments: z.array(StoredObject),
			user_invites: entries,
		}),
	})
	.meta({ id: 'EnvironmentExport' });

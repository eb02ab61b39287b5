import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { unboundedArray } from '../bounded.js';
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
} from '../common.js';
import { configuredLevels, ElementsSettings, ElementsType } from '../element/elements-config.js';
import { UserInviteStatus } from '../element/user-invite.js';
import { Email } from '../email.js';
import { ConditionSetKey, ConditionSetType, Conditions, OwnConditionSetKey } from '../schema/condition-set.js';
import { derivationSettings } from '../schema/derivation.js';
import { ResourceKey } from '../schema/resource.js';
import { AttributeType } from '../schema/resource-attribute.js';

/**
 * A whole environment as one JSON document. It has keys and never ids, so that it means the same in every environment.
 * Unknown members are refused, because their content would be lost. A new kind of object is a new member; `version`
 * grows when the meaning of a member changes.
 */

/** The `format` of every document. */
export const documentFormat = 'regolith-environment';

/** The version of documents that is written, and the only one that is read. */
export const documentVersion = 1;

/** The halves of a document: what can exist and what is allowed, and what exists. */
export const documentHalves = ['schema', 'facts'] as const;
export type DocumentHalf = (typeof documentHalves)[number];

/** Which halves of a document are asked for. */
export const ExportQuery = z.object({
	half: z.enum(documentHalves).optional().describe('Only this half of the document; both when left out.'),
});

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
export function keyPair(what: string) {
	return z
		.string()
		.max(2 * maxKeyLength + 1)
		.refine(isPair, `must be \`${what}\``);
}

function isPair(text: string): boolean {
	const parts = instanceParts(text);
	return parts !== null && Key.safeParse(parts.resource).success && Key.safeParse(parts.key).success;
}

/** The name of a resource instance. */
export const InstanceName = keyPair('<resource key>:<instance key>');
const PermissionName = keyPair('<resource key>:<action key>');

/** An action of a resource; its name defaults to its key. */
const ActionEntry = z
	.strictObject({
		name: optional(Name).describe('A name for people; the key when left out.'),
		description: orNull(Text).describe('What the action does.'),
		attributes: orNull(Attributes).describe('Any data of your own.'),
	})
	.describe('An action of a resource; its name defaults to its key.');

/** An attribute of a resource, or of users. */
export const AttributeEntry = z
	.strictObject({
		type: AttributeType.describe('What values the attribute takes.'),
		description: orNull(Text).describe('What the attribute says.'),
	})
	.meta({ id: 'AttributeEntry', description: 'An attribute of a resource, or of users.' });
export type AttributeEntry = z.output<typeof AttributeEntry>;

/** A relation of the instances of a resource, the objects; `subject_resource` is the key of the subjects' resource. */
export const RelationEntry = z
	.strictObject({
		name: Name.describe('A name for people.'),
		description: orNull(Text).describe('What the relation means.'),
		subject_resource: Key.describe('The key of the resource of the subjects.'),
	})
	.meta({
		id: 'RelationEntry',
		description:
			"A relation of the instances of a resource, the objects; `subject_resource` is the key of the subjects' " +
			'resource.',
	});
export type RelationEntry = z.output<typeof RelationEntry>;

/** A group of actions of a resource, by their keys. */
export const ActionGroupEntry = z
	.strictObject({
		name: Name.describe('A name for people.'),
		description: orNull(Text).describe('What the group is for.'),
		attributes: orNull(Attributes).describe('Any data of your own.'),
		actions: entryList(Key).describe('The keys of its actions, in their order.'),
	})
	.meta({ id: 'ActionGroupEntry', description: 'A group of actions of a resource, by their keys.' });
export type ActionGroupEntry = z.output<typeof ActionGroupEntry>;

const when = defaulted(z.strictObject(derivationSettings), () => ({ no_direct_roles_on_object: false })).describe(
	'When derivations count; always when left out.',
);

/** What a role of a resource is derived from: roles of the subjects of a relation, all by keys. */
export const DerivationEntry = z
	.strictObject({
		users_with_role: entryList(
			z.strictObject({
				role: Key.describe('The key of the role that is held on the related instance.'),
				on_resource: Key.describe('The key of the resource of the related instance.'),
				linked_by_relation: Key.describe('The key of the relation from the related instance.'),
				when,
			}),
		).describe('Who holds the role: holders of these roles on related instances.'),
		when,
	})
	.meta({
		id: 'DerivationEntry',
		description: 'What a role of a resource is derived from: roles of the subjects of a relation, all by keys.',
	});
export type DerivationEntry = z.output<typeof DerivationEntry>;

const describedRole = {
	name: Name.describe('A name for people.'),
	description: orNull(Text).describe('What the role is for.'),
	attributes: orNull(Attributes).describe('Any data of your own.'),
};

/** A role of a resource; its permissions are keys of actions, what it extends are keys of roles, of that resource. */
export const ResourceRoleEntry = z
	.strictObject({
		...describedRole,
		permissions: entryList(Key).describe('The keys of the actions that it grants.'),
		extends: entryList(Key).describe('The keys of the roles of the resource whose permissions it has as well.'),
		granted_to: orNull(DerivationEntry).describe('What it is derived from; null if it is not.'),
	})
	.meta({
		id: 'ResourceRoleEntry',
		description:
			'A role of a resource; its permissions are keys of actions, what it extends are keys of roles, of that resource.',
	});
export type ResourceRoleEntry = z.output<typeof ResourceRoleEntry>;

/** The objects nested in a resource. An import keeps those that it does not name. */
const nested = {
	relations: entryMap(RelationEntry).describe('The relations whose objects are of the resource, by key.'),
	action_groups: entryMap(ActionGroupEntry).describe('Groups of its actions, by key.'),
	roles: entryMap(ResourceRoleEntry).describe('The roles that are held on its instances, by key.'),
};

/** What a resource is by itself. */
const ownResource = {
	name: Name.describe('A name for people.'),
	urn: orNull(Text).describe('A name of your own for the resource.'),
	description: orNull(Text).describe('What the resource is.'),
	type_attributes: orNull(Attributes).describe('Any data of your own.'),
	actions: entryMap(ActionEntry).describe('Its actions, by key.'),
	attributes: entryMap(AttributeEntry).describe('The attributes of its instances, by key.'),
};

/** A resource by itself, without its relations, action groups and roles. */
export const OwnResourceEntry = z.strictObject(ownResource).meta({
	id: 'OwnResourceEntry',
	description: 'A resource by itself, without its relations, action groups and roles.',
});
export type OwnResourceEntry = z.output<typeof OwnResourceEntry>;

/**
 * A resource. The built-in `__user` is only there if its owner has changed it; its attributes are in `user_attributes`.
 */
export const ResourceEntry = z.strictObject({ ...ownResource, ...nested }).meta({
	id: 'ResourceEntry',
	description:
		'A resource. The built-in `__user` is only there if its owner has changed it; its attributes are in ' +
		'`user_attributes`.',
});
export type ResourceEntry = z.output<typeof ResourceEntry>;

/** A tenant role; its permissions are `<resource key>:<action key>`, what it extends are keys. */
export const RoleEntry = z
	.strictObject({
		...describedRole,
		permissions: entryList(PermissionName).describe('What it grants, as `<resource key>:<action key>`.'),
		extends: entryList(Key).describe('The keys of the tenant roles whose permissions it has as well.'),
	})
	.meta({
		id: 'RoleEntry',
		description: 'A tenant role; its permissions are `<resource key>:<action key>`, what it extends are keys.',
	});
export type RoleEntry = z.output<typeof RoleEntry>;

/** A condition set that is not automatic. `resource` is the resource that a resource set narrows, `parent` the set. */
export const ConditionSetEntry = z
	.strictObject({
		name: Name.describe('A name for people.'),
		description: orNull(Text).describe('What the set is for.'),
		type: ConditionSetType.describe('Whether the set selects users (`userset`) or resources (`resourceset`).'),
		conditions: defaulted(Conditions, () => ({})).describe('What the set selects; everything when left out.'),
		resource: orNull(Key).describe('The key of the resource that a resource set narrows; null for a user set.'),
		parent: orNull(OwnConditionSetKey).describe('The key of the set that this one narrows; null for none.'),
	})
	.refine(({ type, resource }) => (type === 'resourceset') === (resource !== null), {
		message: 'must be given for a resource set, and not for a user set',
		path: ['resource'],
	})
	.meta({
		id: 'ConditionSetEntry',
		description:
			'A condition set that is not automatic. `resource` is the resource that a resource set narrows, `parent` ' +
			'the set.',
	});
export type ConditionSetEntry = z.output<typeof ConditionSetEntry>;

/** A rule between two sets, by keys; an automatic set has a key of its own. */
export const SetRuleEntry = z
	.strictObject({
		user_set: ConditionSetKey.describe('The key of the user set; `__autogen_<role key>` stands for a role.'),
		permission: PermissionName.describe('What it may do, as `<resource key>:<action key>`.'),
		resource_set: ConditionSetKey.describe(
			'The key of the resource set; `__autogen_<resource key>` stands for a resource.',
		),
	})
	.meta({
		id: 'ConditionSetRuleEntry',
		description: 'A rule between two sets, by keys; an automatic set has a key of its own.',
	});
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
		name: Name.describe('A name for people.'),
		elements_type: ElementsType.describe('What the element is for.'),
		settings: defaulted(ElementsSettings, () => ({})).describe(
			'Settings by name; they name resources, roles and elements by keys.',
		),
		email_notifications: defaulted(z.boolean(), () => false).describe('Whether users who are added are invited.'),
		role_levels: entryMap(z.enum(configuredLevels), RoleName).describe(
			'The level of each role that has one, by `<role key>` or `<resource key>:<role key>`.',
		),
	})
	.meta({
		id: 'ElementsConfigEntry',
		description:
			'An element, without its webhook. `role_levels` has the level of each role that has one. Settings name ' +
			'resources, roles and elements by keys.',
	});
export type ElementsConfigEntry = z.output<typeof ElementsConfigEntry>;

/** A tenant. */
export const TenantEntry = z
	.strictObject({
		name: Name.describe('A name for people.'),
		description: orNull(Text).describe('Who the tenant is.'),
		attributes: orNull(ComparedAttributes).describe('Attributes for conditions to compare.'),
	})
	.meta({ id: 'TenantEntry', description: 'A tenant.' });
export type TenantEntry = z.output<typeof TenantEntry>;

/** A user. */
export const UserEntry = z
	.strictObject({
		email: orNull(Email).describe('The e-mail address.'),
		first_name: orNull(Name).describe('The first name.'),
		last_name: orNull(Name).describe('The last name.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe('Attributes for conditions to compare.'),
	})
	.meta({ id: 'UserEntry', description: 'A user.' });
export type UserEntry = z.output<typeof UserEntry>;

/** A user who was added to a tenant. */
export const TenantUserEntry = z
	.strictObject({ user: UserKey.describe('The key of the user.'), tenant: Key.describe('The key of the tenant.') })
	.meta({ id: 'TenantUserEntry', description: 'A user who was added to a tenant.' });
export type TenantUserEntry = z.output<typeof TenantUserEntry>;

/** A resource instance, in one tenant. */
export const InstanceEntry = z
	.strictObject({
		tenant: Key.describe('The key of the tenant that it is in.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe('Attributes for conditions to compare.'),
	})
	.meta({ id: 'InstanceEntry', description: 'A resource instance, in one tenant.' });
export type InstanceEntry = z.output<typeof InstanceEntry>;

/** An instance that is a group. `made_instance`: it was created for the group, and is deleted with it. */
export const GroupEntry = z
	.strictObject({
		made_instance: defaulted(z.boolean(), () => false).describe(
			'Whether the instance was created for the group, and is deleted with it.',
		),
	})
	.meta({
		id: 'GroupEntry',
		description: 'An instance that is a group. `made_instance`: it was created for the group, and is deleted with it.',
	});
export type GroupEntry = z.output<typeof GroupEntry>;

/** A resource, or a role or a relation of one, that the groups API created and deletes when no group needs it. */
export const MadeForGroupsEntry = z
	.strictObject({
		resource: Key.describe('The key of the resource.'),
		role: orNull(Key).describe('The key of the role of the resource that was created; null where it was not a role.'),
		relation: orNull(Key).describe(
			'The key of the relation of the resource that was created; null where it was not a relation.',
		),
	})
	.refine(({ role, relation }) => role === null || relation === null, {
		message: 'must not be given together with `role`',
		path: ['relation'],
	})
	.meta({
		id: 'MadeForGroupsEntry',
		description:
			'A resource, or a role or a relation of one, that the groups API created and deletes when no group needs it.',
	});
export type MadeForGroupsEntry = z.output<typeof MadeForGroupsEntry>;

/** When a grant ends. One that has ended already is left out of an import. */
const ends = orNull(Timestamp).meta({ description: 'When it ends; absent for good.' });

/** A relationship: its subject and its object are `<resource key>:<instance key>`. */
export const TupleEntry = z
	.strictObject({
		subject: InstanceName.describe('The subject, as `<resource key>:<instance key>`.'),
		relation: Key.describe('The key of the relation.'),
		object: InstanceName.describe('The object, as `<resource key>:<instance key>`.'),
		expires_at: ends,
	})
	.meta({
		id: 'TupleEntry',
		description: 'A relationship: its subject and its object are `<resource key>:<instance key>`.',
	});
export type TupleEntry = z.output<typeof TupleEntry>;

/** Where a role is held: in a tenant or on an instance, which knows its tenant. */
const place = {
	tenant: orNull(Key).describe('The key of the tenant; null where there is an instance.'),
	resource_instance: orNull(InstanceName).describe(
		'The instance, as `<resource key>:<instance key>`; null for the tenant as a whole.',
	),
};

function inOnePlace({ tenant, resource_instance }: { readonly tenant: unknown; readonly resource_instance: unknown }) {
	return (tenant === null) !== (resource_instance === null);
}

const inOnePlaceOnly = {
	message: 'must give either `tenant` or `resource_instance`, which is in a tenant already',
	path: ['tenant'],
};

/** A role that a user holds: a tenant role in a tenant, or a role of a resource on one of its instances. */
export const RoleAssignmentEntry = z
	.strictObject({
		user: UserKey.describe('The key of the user.'),
		role: Key.describe('The key of the role.'),
		...place,
		expires_at: ends,
	})
	.refine(inOnePlace, inOnePlaceOnly)
	.meta({
		id: 'RoleAssignmentEntry',
		description:
			'A role that a user holds: a tenant role in a tenant, or a role of a resource on one of its instances.',
	});
export type RoleAssignmentEntry = z.output<typeof RoleAssignmentEntry>;

/** A future user; the role is the key of a tenant role, or `<resource key>:<role key>`. */
export const UserInviteEntry = z
	.strictObject({
		email: Email.describe('The e-mail address of who is invited.'),
		first_name: orNull(Name).describe('The first name.'),
		last_name: orNull(Name).describe('The last name.'),
		status: defaulted(UserInviteStatus, () => 'pending' as const).describe(
			'Whether the invite has become a user; `pending` when left out.',
		),
		role: z
			.union([Key, keyPair('<resource key>:<role key>')], 'must be `<role key>` or `<resource key>:<role key>`')
			.describe('The role that comes with it, as `<role key>` or `<resource key>:<role key>`.'),
		...place,
		element: orNull(Key).meta({ description: 'The element in which it was made.' }),
		user_key: orNull(UserKey).meta({ description: 'The key of the user, where the invite was made in an element.' }),
		attributes: orNull(ComparedAttributes).describe('Attributes that the user will have.'),
		invite_expires_at: orNull(Timestamp).meta({ description: 'Until when it can be approved; absent for good.' }),
	})
	.refine(inOnePlace, inOnePlaceOnly)
	.refine(isOfInstance, { message: 'must be a role of the resource of `resource_instance`', path: ['role'] })
	.meta({
		id: 'UserInviteEntry',
		description: 'A future user; the role is the key of a tenant role, or `<resource key>:<role key>`.',
	});
export type UserInviteEntry = z.output<typeof UserInviteEntry>;

function isOfInstance({ role, resource_instance }: { role: string; resource_instance: string | null }): boolean {
	const resource = instanceParts(role)?.resource;
	return resource === undefined || resource === instanceParts(resource_instance ?? '')?.resource;
}

/** What can exist, what is allowed, and the elements that roles have levels in. */
const SchemaHalf = z
	.strictObject({
		resources: entryMap(ResourceEntry, ResourceKey)
			.refine((resources) => Object.keys(resources['__user']?.attributes ?? {}).length === 0, {
				message: 'must be in `user_attributes`',
				path: ['__user', 'attributes'],
			})
			.describe('Resources by key, each with what is defined for it.'),
		user_attributes: entryMap(AttributeEntry).describe('The attributes of users, by key.'),
		roles: entryMap(RoleEntry).describe('Tenant roles by key.'),
		condition_sets: entryMap(ConditionSetEntry, OwnConditionSetKey).describe(
			'Condition sets by key, without automatic ones.',
		),
		set_rules: entryList(SetRuleEntry).describe('Rules between condition sets.'),
		elements_configs: entryMap(ElementsConfigEntry).describe('Elements by key, without their webhooks.'),
	})
	.describe('What can exist, what is allowed, and the elements that roles have levels in.');

/** What exists. */
const FactsHalf = z
	.strictObject({
		tenants: entryMap(TenantEntry).describe('Tenants by key.'),
		users: entryMap(UserEntry, UserKey).describe('Users by key.'),
		tenant_users: entryList(TenantUserEntry).describe('Who was added to which tenant.'),
		resource_instances: entryMap(InstanceEntry, InstanceName).describe(
			'Instances, by `<resource key>:<instance key>`.',
		),
		groups: entryMap(GroupEntry, InstanceName).describe(
			'Instances that are groups, by `<resource key>:<instance key>`.',
		),
		made_for_groups: entryList(MadeForGroupsEntry).describe(
			'Resources, roles and relations that the groups API created.',
		),
		relationship_tuples: entryList(TupleEntry).describe('Relationships between instances.'),
		role_assignments: entryList(RoleAssignmentEntry).describe('Who holds which role where.'),
		user_invites: entryMap(UserInviteEntry, UserKey).describe('Invites by key.'),
	})
	.describe('What exists.');

/** A document to import. If a half is missing, that half of the environment stays as it is. */
export const EnvironmentDocument = z
	.strictObject({
		format: z.literal(documentFormat).describe('Always `regolith-environment`.'),
		version: z
			.literal(documentVersion, `must be ${documentVersion}, the only version that is known here`)
			.describe('The version of the format: 1.'),
		environment: optional(
			z.strictObject({
				key: Key.describe('The key of the environment.'),
				name: Name.describe('The name of the environment.'),
			}),
		).meta({
			description: 'Where the document comes from; not read.',
		}),
		schema: optional(SchemaHalf).describe('What can exist and what is allowed; stays as it is when left out.'),
		facts: optional(FactsHalf).describe('What exists; stays as it is when left out.'),
	})
	.meta({
		id: 'EnvironmentDocument',
		description: 'A document to import. If a half is missing, that half of the environment stays as it is.',
	});
export type EnvironmentDocument = z.output<typeof EnvironmentDocument>;

const entries = z.record(z.string(), StoredObject);

/** An exported document: complete, in the order of its keys, without members that equal their default. */
export const EnvironmentExport = z
	.object({
		format: z.literal(documentFormat).describe('Always `regolith-environment`.'),
		version: z.literal(documentVersion).describe('The version of the format: 1.'),
		environment: z
			.object({
				key: z.string().describe('The key of the environment.'),
				name: z.string().describe('The name of the environment.'),
			})
			.describe('Where the document comes from.'),
		schema: z
			.object({
				resources: entries.describe('Resources by key, each with what is defined for it.'),
				user_attributes: entries.describe('The attributes of users, by key.'),
				roles: entries.describe('Tenant roles by key.'),
				condition_sets: entries.describe('Condition sets by key, without automatic ones.'),
				set_rules: z.array(StoredObject).describe('Rules between condition sets.'),
				elements_configs: entries.describe('Elements by key, without their webhooks.'),
			})
			.optional()
			.describe('What can exist and what is allowed; absent where only the facts were asked for.'),
		facts: z
			.object({
				tenants: entries.describe('Tenants by key.'),
				users: entries.describe('Users by key.'),
				tenant_users: z.array(StoredObject).describe('Who was added to which tenant.'),
				resource_instances: entries.describe('Instances, by `<resource key>:<instance key>`.'),
				groups: entries.describe('Instances that are groups, by `<resource key>:<instance key>`.'),
				made_for_groups: z.array(StoredObject).describe('Resources, roles and relations that the groups API created.'),
				relationship_tuples: z.array(StoredObject).describe('Relationships between instances.'),
				role_assignments: z.array(StoredObject).describe('Who holds which role where.'),
				user_invites: entries.describe('Invites by key.'),
			})
			.optional()
			.describe('What exists; absent where only the schema was asked for.'),
	})
	.meta({
		id: 'EnvironmentExport',
		description: 'An exported document: complete, in the order of its keys, without members that equal their default.',
	});

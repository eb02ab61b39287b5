import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { unboundedArray } from '../bounded.js';
import {
	Attributes,
	defaulted,
	HolderKey,
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
import { named, namedStrict } from '../named.js';
import { checkTestFields } from '../schema/check-test.js';
import {
	ConditionSetKey,
	ConditionSetType,
	Conditions,
	OwnConditionSetKey,
	Parameters,
} from '../schema/condition-set.js';
import { derivationSettings } from '../schema/derivation.js';
import { ResourceKey } from '../schema/resource.js';
import { AttributeType } from '../schema/resource-attribute.js';
import { ComputedRole } from '../schema/role-expression.js';

/**
 * A whole environment as one JSON document. It contains keys but no ids, so it has the same meaning in every
 * environment. Unknown fields are rejected, because their content would be lost. A new object kind adds a new field. If
 * a field changes its meaning, `version` increases.
 */

/** Value of `format` in every document. */
export const documentFormat = 'regolith-environment';

/** Document version. Only this version is written and read. */
export const documentVersion = 1;

/** The halves of a document: the schema (types and permissions), and the facts (stored objects). */
export const documentHalves = ['schema', 'facts'] as const;
export type DocumentHalf = (typeof documentHalves)[number];

/** Document halves to export. */
export const ExportQuery = z.object({
	half: z.enum(documentHalves).optional().describe('Export only this document half; both by default.'),
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

/** Schema for two keys separated by a colon. */
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

/** Resource instance name. */
export const InstanceName = keyPair('<resource key>:<instance key>');
const PermissionName = keyPair('<resource key>:<action key>');

/** Resource action. If it has no name, its key is used. */
const ActionEntry = z
	.strictObject({
		name: optional(Name).describe('Display name; defaults to the key.'),
		description: orNull(Text).describe('Action description.'),
		attributes: orNull(Attributes).describe('Custom data.'),
	})
	.describe('A resource action; its name defaults to its key.');

export const AttributeEntry = namedStrict('AttributeEntry', 'A resource attribute or user attribute.', {
	type: AttributeType.describe('Attribute value type.'),
	description: orNull(Text).describe('Attribute description.'),
});
export type AttributeEntry = z.output<typeof AttributeEntry>;

export const RelationEntry = namedStrict(
	'RelationEntry',
	'A relation of a resource, whose instances are the objects; `subject_resource` is the subject resource key.',
	{
		name: Name.describe('Display name.'),
		description: orNull(Text).describe('Relation description.'),
		subject_resource: Key.describe('Subject resource key.'),
		grant_conditions: entryList(Key).describe('Keys of the condition sets under which relationships may be created.'),
	},
);
export type RelationEntry = z.output<typeof RelationEntry>;

export const ActionGroupEntry = namedStrict('ActionGroupEntry', 'An action group of a resource, with action keys.', {
	name: Name.describe('Display name.'),
	description: orNull(Text).describe('Group description.'),
	attributes: orNull(Attributes).describe('Custom data.'),
	actions: entryList(Key).describe('Action keys, in order.'),
});
export type ActionGroupEntry = z.output<typeof ActionGroupEntry>;

const when = defaulted(z.strictObject(derivationSettings), () => ({ no_direct_roles_on_object: false })).describe(
	'When derivations apply; always by default.',
);

export const DerivationEntry = namedStrict(
	'DerivationEntry',
	'Derivation of a resource role from roles on the subjects in a relation, all by keys.',
	{
		users_with_role: entryList(
			z.strictObject({
				role: Key.describe('Key of the role held on the related instance.'),
				on_resource: Key.describe('Resource key for the related instance.'),
				linked_by_relation: Key.describe('Key of the relation from the related instance.'),
				when,
			}),
		).describe('Source roles: users who hold one on a related instance also hold this role.'),
		when,
	},
);
export type DerivationEntry = z.output<typeof DerivationEntry>;

const describedRole = {
	name: Name.describe('Display name.'),
	description: orNull(Text).describe('Role description.'),
	attributes: orNull(Attributes).describe('Custom data.'),
};

export const ResourceRoleEntry = namedStrict(
	'ResourceRoleEntry',
	'A resource role. Permissions are action keys, and `extends` contains role keys, all in the same resource.',
	{
		...describedRole,
		permissions: entryList(Key).describe('Granted action keys.'),
		extends: entryList(Key).describe('Role keys in the resource whose permissions the role inherits.'),
		granted_to: orNull(DerivationEntry).describe('Role derivation; null if it is not derived.'),
		public: defaulted(z.boolean(), () => false).describe('True if the role can be assigned to everyone.'),
		grantable_to: entryList(
			z.strictObject({
				role: Key.describe('Key of the role held by the users in a set.'),
				on_resource: Key.describe("Key of the role's resource."),
			}),
		).describe('Sets of users to which the role can be assigned.'),
		computed: orNull(ComputedRole).describe('Expression of a computed role, with role keys in the same resource.'),
		grant_conditions: entryList(Key).describe('Keys of the condition sets under which the role may be assigned.'),
	},
);
export type ResourceRoleEntry = z.output<typeof ResourceRoleEntry>;

/** Objects nested in a resource. An import keeps nested objects that are missing from the document. */
const nested = {
	relations: entryMap(RelationEntry).describe('Relations whose objects belong to the resource, by key.'),
	action_groups: entryMap(ActionGroupEntry).describe('Action groups, by key.'),
	roles: entryMap(ResourceRoleEntry).describe('Resource roles, by key.'),
};

/** A resource without nested objects. */
const ownResource = {
	name: Name.describe('Display name.'),
	urn: orNull(Text).describe('Custom name for the resource.'),
	description: orNull(Text).describe('Resource description.'),
	type_attributes: orNull(Attributes).describe('Custom data.'),
	actions: entryMap(ActionEntry).describe('Actions, by key.'),
	attributes: entryMap(AttributeEntry).describe('Instance attributes, by key.'),
};

export const OwnResourceEntry = namedStrict(
	'OwnResourceEntry',
	'A resource alone, without its relations, action groups and roles.',
	ownResource,
);
export type OwnResourceEntry = z.output<typeof OwnResourceEntry>;

export const ResourceEntry = namedStrict(
	'ResourceEntry',
	'A resource. The built-in `__user` is present only if its owner ' +
		'has changed it; its attributes are in `user_attributes`.',
	{ ...ownResource, ...nested },
);
export type ResourceEntry = z.output<typeof ResourceEntry>;

export const RoleEntry = namedStrict(
	'RoleEntry',
	'A tenant role. Permissions are `<resource key>:<action key>`; `extends` contains role keys.',
	{
		...describedRole,
		permissions: entryList(PermissionName).describe('Granted permissions, as `<resource key>:<action key>`.'),
		extends: entryList(Key).describe('Keys of tenant roles whose permissions the role inherits.'),
	},
);
export type RoleEntry = z.output<typeof RoleEntry>;

export const ConditionSetEntry = z
	.strictObject({
		name: Name.describe('Display name.'),
		description: orNull(Text).describe('Set description.'),
		type: ConditionSetType.describe(
			'Set type: users (`userset`), resources (`resourceset`), or grant conditions (`grant`).',
		),
		conditions: defaulted(Conditions, () => ({})).describe('Set conditions; everything matches by default.'),
		resource: orNull(Key).describe(
			'Key of the resource that a resource set narrows, or whose roles a user set names; null for other user sets.',
		),
		parent: orNull(OwnConditionSetKey).describe('Parent set key; null if there is none.'),
		parameters: orNull(Parameters).describe('Parameters of a set of type `grant`; null for the other types.'),
	})
	.refine(({ type, resource }) => type !== 'resourceset' || resource !== null, {
		message: 'is required for a resource set',
		path: ['resource'],
	})
	.meta({
		id: 'ConditionSetEntry',
		description:
			'A condition set that is not automatic. `resource` is the resource ' +
			'that a resource set narrows, or whose roles a user set names; `parent` is the parent set.',
	});
export type ConditionSetEntry = z.output<typeof ConditionSetEntry>;

export const SetRuleEntry = namedStrict(
	'ConditionSetRuleEntry',
	'A rule between two sets, by keys. Automatic sets have their own key format.',
	{
		user_set: ConditionSetKey.describe('User set key; `__autogen_<role key>` for a role.'),
		permission: PermissionName.describe('Granted permission, as `<resource key>:<action key>`.'),
		resource_set: ConditionSetKey.describe('Resource set key; `__autogen_<resource key>` for a resource.'),
	},
);
export type SetRuleEntry = z.output<typeof SetRuleEntry>;

/** A tenant role key, or `<resource key>:<role key>`. */
const RoleName = z
	.string()
	.max(2 * maxKeyLength + 1)
	.refine((text) => Key.safeParse(text).success || isPair(text), 'must be `<role key>` or `<resource key>:<role key>`');

export const ElementsConfigEntry = namedStrict(
	'ElementsConfigEntry',
	'An element, without its webhook. `role_levels` maps roles to their ' +
		'levels. Settings refer to resources, roles and elements by key.',
	{
		name: Name.describe('Display name.'),
		elements_type: ElementsType.describe('Element type.'),
		settings: defaulted(ElementsSettings, () => ({})).describe(
			'Settings by name; they refer to resources, roles and elements by key.',
		),
		email_notifications: defaulted(z.boolean(), () => false).describe('True if added users are invited.'),
		role_levels: entryMap(z.enum(configuredLevels), RoleName).describe(
			'Levels by role: `<role key>` or `<resource key>:<role key>`.',
		),
	},
);
export type ElementsConfigEntry = z.output<typeof ElementsConfigEntry>;

export const CheckTestEntry = namedStrict('CheckTestEntry', 'A check test.', {
	description: orNull(Text).describe('Test description.'),
	...checkTestFields,
});
export type CheckTestEntry = z.output<typeof CheckTestEntry>;

export const TenantEntry = namedStrict('TenantEntry', 'A tenant.', {
	name: Name.describe('Display name.'),
	description: orNull(Text).describe('Tenant description.'),
	attributes: orNull(ComparedAttributes).describe('Attributes for conditions to compare.'),
});
export type TenantEntry = z.output<typeof TenantEntry>;

export const UserEntry = namedStrict('UserEntry', 'A user.', {
	email: orNull(Email).describe('E-mail address.'),
	first_name: orNull(Name).describe('First name.'),
	last_name: orNull(Name).describe('Last name.'),
	attributes: defaulted(ComparedAttributes, () => ({})).describe('Attributes for conditions to compare.'),
});
export type UserEntry = z.output<typeof UserEntry>;

export const TenantUserEntry = namedStrict('TenantUserEntry', 'A user added to a tenant.', {
	user: UserKey.describe('User key.'),
	tenant: Key.describe('Tenant key.'),
});
export type TenantUserEntry = z.output<typeof TenantUserEntry>;

export const InstanceEntry = namedStrict('InstanceEntry', 'A resource instance, in one tenant.', {
	tenant: Key.describe('Tenant key for the instance.'),
	attributes: defaulted(ComparedAttributes, () => ({})).describe('Attributes for conditions to compare.'),
});
export type InstanceEntry = z.output<typeof InstanceEntry>;

export const GroupEntry = namedStrict(
	'GroupEntry',
	'An instance that is a group. `made_instance`: the instance was created for the group, and is deleted with it.',
	{
		made_instance: defaulted(z.boolean(), () => false).describe(
			'True if the instance was created for the group, and is deleted with it.',
		),
	},
);
export type GroupEntry = z.output<typeof GroupEntry>;

export const MadeForGroupsEntry = z
	.strictObject({
		resource: Key.describe('Resource key.'),
		role: orNull(Key).describe('Created resource role key; null if the object is not a role.'),
		relation: orNull(Key).describe('Created relation key; null if the object is not a relation.'),
	})
	.refine(({ role, relation }) => role === null || relation === null, {
		message: 'must not be sent together with `role`',
		path: ['relation'],
	})
	.meta({
		id: 'MadeForGroupsEntry',
		description:
			'A resource, resource role or relation that the groups API created, and deletes when no group needs it.',
	});
export type MadeForGroupsEntry = z.output<typeof MadeForGroupsEntry>;

/** Grant expiry. An import skips grants that have expired. */
const ends = orNull(Timestamp).describe('Expiry; absent if there is none.');

/** Condition of a grant. */
const AssignedConditionEntry = z
	.strictObject({
		set: OwnConditionSetKey.describe('Key of a condition set of type `grant`.'),
		values: defaulted(ComparedAttributes, () => ({})).describe('A value for each parameter of the set.'),
	})
	.describe('A condition: the grant applies only in checks in which the condition holds.');

export const TupleEntry = namedStrict(
	'TupleEntry',
	'A relationship; its subject and object are `<resource key>:<instance key>`.',
	{
		subject: InstanceName.describe('Subject, as `<resource key>:<instance key>`.'),
		relation: Key.describe('Relation key.'),
		object: InstanceName.describe('Object, as `<resource key>:<instance key>`.'),
		expires_at: ends,
		condition: orNull(AssignedConditionEntry).describe('Condition of the relationship; absent if there is none.'),
	},
);
export type TupleEntry = z.output<typeof TupleEntry>;

/** Role scope: a tenant, or an instance. The instance determines the tenant. */
const place = {
	tenant: orNull(Key).describe('Tenant key; null if there is an instance.'),
	resource_instance: orNull(InstanceName).describe(
		'Instance, as `<resource key>:<instance key>`; null for the whole tenant.',
	),
};

function inOnePlace({ tenant, resource_instance }: { readonly tenant: unknown; readonly resource_instance: unknown }) {
	return (tenant === null) !== (resource_instance === null);
}

const inOnePlaceOnly = {
	message: 'must contain either `tenant` or `resource_instance`, which already belongs to a tenant',
	path: ['tenant'],
};

export const RoleAssignmentEntry = z
	.strictObject({
		user: HolderKey.describe(
			'User key, `*` for everyone, or `<resource key>:<instance key>#<role key>` for a set of users.',
		),
		role: Key.describe('Role key.'),
		...place,
		expires_at: ends,
		condition: orNull(AssignedConditionEntry).describe('Condition of the assignment; absent if there is none.'),
	})
	.refine(inOnePlace, inOnePlaceOnly)
	.meta({
		id: 'RoleAssignmentEntry',
		description: 'A role held by a user: a tenant role in a tenant, or a resource role on an instance.',
	});
export type RoleAssignmentEntry = z.output<typeof RoleAssignmentEntry>;

export const UserInviteEntry = z
	.strictObject({
		email: Email.describe('E-mail address of the invited user.'),
		first_name: orNull(Name).describe('First name.'),
		last_name: orNull(Name).describe('Last name.'),
		status: defaulted(UserInviteStatus, () => 'pending' as const).describe('Invite state; defaults to `pending`.'),
		role: z
			.union([Key, keyPair('<resource key>:<role key>')], 'must be `<role key>` or `<resource key>:<role key>`')
			.describe('Role to assign, as `<role key>` or `<resource key>:<role key>`.'),
		...place,
		element: orNull(Key).describe('Element that created the invite.'),
		user_key: orNull(UserKey).describe('User key, if the invite was created in an element.'),
		attributes: orNull(ComparedAttributes).describe('Attributes for the future user.'),
		invite_expires_at: orNull(Timestamp).describe('Time until which it can be approved; absent for no limit.'),
	})
	.refine(inOnePlace, inOnePlaceOnly)
	.refine(isOfInstance, { message: 'must be a resource role on the resource of `resource_instance`', path: ['role'] })
	.meta({
		id: 'UserInviteEntry',
		description: 'A future user. The role is a tenant role key, or `<resource key>:<role key>`.',
	});
export type UserInviteEntry = z.output<typeof UserInviteEntry>;

function isOfInstance({ role, resource_instance }: { role: string; resource_instance: string | null }): boolean {
	const resource = instanceParts(role)?.resource;
	return resource === undefined || resource === instanceParts(resource_instance ?? '')?.resource;
}

/** Resource types, permissions, and elements with their role levels. */
const SchemaHalf = z
	.strictObject({
		resources: entryMap(ResourceEntry, ResourceKey)
			.refine((resources) => Object.keys(resources['__user']?.attributes ?? {}).length === 0, {
				message: 'must be in `user_attributes`',
				path: ['__user', 'attributes'],
			})
			.describe('Resources by key, each with its nested objects.'),
		user_attributes: entryMap(AttributeEntry).describe('User attributes, by key.'),
		roles: entryMap(RoleEntry).describe('Tenant roles by key.'),
		condition_sets: entryMap(ConditionSetEntry, OwnConditionSetKey).describe(
			'Condition sets by key, without automatic sets.',
		),
		set_rules: entryList(SetRuleEntry).describe('Condition set rules.'),
		elements_configs: entryMap(ElementsConfigEntry).describe('Elements by key, without their webhooks.'),
		check_tests: entryMap(CheckTestEntry).describe('Check tests by key.'),
	})
	.describe('Resource types, permissions, and the elements with role levels.');

/** Stored objects: tenants, users, instances and grants. */
const FactsHalf = z
	.strictObject({
		tenants: entryMap(TenantEntry).describe('Tenants by key.'),
		users: entryMap(UserEntry, UserKey).describe('Users by key.'),
		tenant_users: entryList(TenantUserEntry).describe('Users added to tenants.'),
		resource_instances: entryMap(InstanceEntry, InstanceName).describe(
			'Instances, by `<resource key>:<instance key>`.',
		),
		groups: entryMap(GroupEntry, InstanceName).describe('Group instances, by `<resource key>:<instance key>`.'),
		made_for_groups: entryList(MadeForGroupsEntry).describe(
			'Resources, roles and relations that the groups API created.',
		),
		relationship_tuples: entryList(TupleEntry).describe('Relationships between instances.'),
		role_assignments: entryList(RoleAssignmentEntry).describe('Role assignments.'),
		user_invites: entryMap(UserInviteEntry, UserKey).describe('Invites by key.'),
	})
	.describe('Stored objects: tenants, users, instances and grants.');

export const EnvironmentDocument = namedStrict(
	'EnvironmentDocument',
	'A document to import. If a half is missing, this half of the environment stays unchanged.',
	{
		format: z.literal(documentFormat).describe('Always `regolith-environment`.'),
		version: z
			.literal(documentVersion, `must be ${documentVersion}, the only supported version`)
			.describe('Format version: 1.'),
		environment: optional(
			z.strictObject({ key: Key.describe('Environment key.'), name: Name.describe('Environment name.') }),
		).describe('Document source; ignored on import.'),
		schema: optional(SchemaHalf).describe('Resource types and permissions; unchanged if omitted.'),
		facts: optional(FactsHalf).describe('Stored objects; unchanged if omitted.'),
	},
);
export type EnvironmentDocument = z.output<typeof EnvironmentDocument>;

const entries = z.record(z.string(), StoredObject);

export const EnvironmentExport = named(
	'EnvironmentExport',
	'An exported document: complete, sorted by key, without fields that equal their default.',
	{
		format: z.literal(documentFormat).describe('Always `regolith-environment`.'),
		version: z.literal(documentVersion).describe('Format version: 1.'),
		environment: z
			.object({
				key: z.string().describe('Environment key.'),
				name: z.string().describe('Environment name.'),
			})
			.describe('Document source.'),
		schema: z
			.object({
				resources: entries.describe('Resources by key, each with its nested objects.'),
				user_attributes: entries.describe('User attributes, by key.'),
				roles: entries.describe('Tenant roles by key.'),
				condition_sets: entries.describe('Condition sets by key, without automatic sets.'),
				set_rules: z.array(StoredObject).describe('Condition set rules.'),
				elements_configs: entries.describe('Elements by key, without their webhooks.'),
				check_tests: entries.describe('Check tests by key.'),
			})
			.optional()
			.describe('Resource types and permissions; absent if only the facts were requested.'),
		facts: z
			.object({
				tenants: entries.describe('Tenants by key.'),
				users: entries.describe('Users by key.'),
				tenant_users: z.array(StoredObject).describe('Users added to tenants.'),
				resource_instances: entries.describe('Instances, by `<resource key>:<instance key>`.'),
				groups: entries.describe('Group instances, by `<resource key>:<instance key>`.'),
				made_for_groups: z.array(StoredObject).describe('Resources, roles and relations that the groups API created.'),
				relationship_tuples: z.array(StoredObject).describe('Relationships between instances.'),
				role_assignments: z.array(StoredObject).describe('Role assignments.'),
				user_invites: entries.describe('Invites by key.'),
			})
			.optional()
			.describe('Stored objects; absent if only the schema was requested.'),
	},
);

import { z } from 'zod';
import { Attributes, defaulted, Key, keyed, Name, optional, StoredObject, Text, UserKey } from './common.js';
import { Email } from './email.js';
import { ResourceKey } from './resource.js';
import { AttributeType } from './resource-attribute.js';

/**
 * A whole environment as one JSON document: by keys and never by ids, so that it means the same in every environment.
 * Members that are not known are refused, because what they say would be lost. A new kind of object is a new member;
 * `version` grows when a member comes to mean something else.
 */

/** What every document says it is. */
export const documentFormat = 'regolith-environment';

/** The version of documents that is written, and the only one that is read. */
export const documentVersion = 1;

function orNull<S extends z.ZodType>(schema: S) {
	return defaulted(schema.nullable(), () => null);
}

function listOf<S extends z.ZodType>(item: S) {
	return defaulted(z.array(item), () => []);
}

function mapOf<S extends z.ZodType>(value: S, key: typeof Key = Key) {
	return defaulted(keyed(value, key), () => ({}));
}

/** An action of a resource; without a name it is called by its key. */
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

/** A resource. The built-in `__user` is one where its owner has changed it; its attributes are `user_attributes`. */
export const ResourceEntry = z
	.strictObject({
		name: Name,
		urn: orNull(Text),
		description: orNull(Text),
		type_attributes: orNull(Attributes),
		actions: mapOf(ActionEntry),
		attributes: mapOf(AttributeEntry),
	})
	.meta({ id: 'ResourceEntry' });
export type ResourceEntry = z.output<typeof ResourceEntry>;

/** A tenant role; its permissions are `<resource key>:<action key>`, what it extends are keys. */
export const RoleEntry = z
	.strictObject({
		name: Name,
		description: orNull(Text),
		attributes: orNull(Attributes),
		permissions: listOf(Text),
		extends: listOf(Key),
	})
	.meta({ id: 'RoleEntry' });
export type RoleEntry = z.output<typeof RoleEntry>;

/** A tenant. */
export const TenantEntry = z
	.strictObject({ name: Name, description: orNull(Text), attributes: orNull(Attributes) })
	.meta({ id: 'TenantEntry' });
export type TenantEntry = z.output<typeof TenantEntry>;

/** A user. */
export const UserEntry = z
	.strictObject({
		email: orNull(Email),
		first_name: orNull(Name),
		last_name: orNull(Name),
		attributes: defaulted(Attributes, () => ({})),
	})
	.meta({ id: 'UserEntry' });
export type UserEntry = z.output<typeof UserEntry>;

/** A user who was added to a tenant. */
export const TenantUserEntry = z.strictObject({ user: UserKey, tenant: Key }).meta({ id: 'TenantUserEntry' });
export type TenantUserEntry = z.output<typeof TenantUserEntry>;

/** A role that a user holds in a tenant. */
export const RoleAssignmentEntry = z
	.strictObject({ user: UserKey, role: Key, tenant: Key })
	.meta({ id: 'RoleAssignmentEntry' });
export type RoleAssignmentEntry = z.output<typeof RoleAssignmentEntry>;

/** What can exist, and what is allowed. */
const SchemaHalf = z.strictObject({
	resources: mapOf(ResourceEntry, ResourceKey).refine(
		(resources) => Object.keys(resources['__user']?.attributes ?? {}).length === 0,
		{ message: 'must be in `user_attributes`', path: ['__user', 'attributes'] },
	),
	user_attributes: mapOf(AttributeEntry),
	roles: mapOf(RoleEntry),
});

/** What exists. */
const FactsHalf = z.strictObject({
	tenants: mapOf(TenantEntry),
	users: mapOf(UserEntry, UserKey),
	tenant_users: listOf(TenantUserEntry),
	role_assignments: listOf(RoleAssignmentEntry),
});

/** A document to import. A half that is missing says nothing of what is there. */
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

/** A document as it is exported: whole, in the order of its keys, without members that say what their absence says. */
export const EnvironmentExport = z
	.object({
		format: z.literal(documentFormat),
		version: z.literal(documentVersion),
		environment: z.object({ key: z.string(), name: z.string() }),
		schema: z.object({ resources: entries, user_attributes: entries, roles: entries }),
		facts: z.object({
			tenants: entries,
			users: entries,
			tenant_users: z.array(StoredObject),
			role_assignments: z.array(StoredObject),
		}),
	})
	.meta({ id: 'EnvironmentExport' });

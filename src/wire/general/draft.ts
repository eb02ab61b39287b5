import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Key, optional, StoredObject, UserKey } from '../common.js';
import { OwnConditionSetKey } from '../schema/condition-set.js';
import { ResourceKey } from '../schema/resource.js';
import { ChangeKind, ChangeOperation, ChangeRead } from './change.js';
import {
	ActionGroupEntry,
	AttributeEntry,
	ConditionSetEntry,
	ElementsConfigEntry,
	GroupEntry,
	InstanceEntry,
	InstanceName,
	keyPair,
	MadeForGroupsEntry,
	OwnResourceEntry,
	RelationEntry,
	ResourceRoleEntry,
	RoleAssignmentEntry,
	RoleEntry,
	SetRuleEntry,
	TenantEntry,
	TenantUserEntry,
	TupleEntry,
	UserEntry,
	UserInviteEntry,
} from './environment-document.js';
import { ChangeReport } from './environment-import.js';

/**
 * A draft: changes of an environment that are looked at before they are made, and are made all together or not at all.
 * Objects are named and written as in documents.
 */

/** The most changes of one draft. */
export const maxDraftChanges = 1000;

/** The built-in resource, whose attributes are objects of their own in documents and drafts. */
const userResourceKey = '__user';

const kindNote = 'What kind of object is changed.';
const operationNote = 'What happens to the object.';

/** A change of an object that has a key. */
function keyedChange<Kind extends string, Value extends z.ZodType>(kind: Kind, key: z.ZodString, value: Value) {
	return z
		.strictObject({
			kind: z.literal(kind).describe(kindNote),
			operation: ChangeOperation.describe(operationNote),
			key: key.describe('The key of the object; `<resource key>:<key>` for what belongs to a resource.'),
			value: optional(value).describe('The whole object as it is to be; left out when it is deleted.'),
		})
		.superRefine(({ operation, value: given }, ctx) => {
			if (operation === 'delete' && given !== undefined) {
				ctx.addIssue({ code: 'custom', path: ['value'], message: 'must be left out when the object is deleted' });
			}
			if (operation !== 'delete' && given === undefined) {
				ctx.addIssue({ code: 'invalid_type', expected: 'object', path: ['value'], input: undefined });
			}
		});
}

/** A change of an object that only its content identifies. */
function listedChange<
	Kind extends string,
	const Operations extends readonly ChangeOperation[],
	Value extends z.ZodType,
>(kind: Kind, operations: Operations, value: Value) {
	return z.strictObject({
		kind: z.literal(kind).describe(kindNote),
		operation: z.enum(operations).describe(operationNote),
		key: optional(z.null()).describe('Left out or null: the value names the object.'),
		value: value.describe('The object; of one that is deleted, what names it.'),
	});
}

const all = ['create', 'update', 'delete'] as const;
const comesOrGoes = ['create', 'delete'] as const;
const described = (id: string, description: string) => ({ id, description });

const changes = [
	keyedChange('resource', ResourceKey, OwnResourceEntry)
		.refine(({ key, value }) => key !== userResourceKey || Object.keys(value?.attributes ?? {}).length === 0, {
			message: 'must be changes of the kind `user_attribute`',
			path: ['value', 'attributes'],
		})
		.meta(described('DraftResourceChange', 'A change of a resource with its actions and attributes.')),
	keyedChange('relation', keyPair('<resource key>:<relation key>'), RelationEntry).meta(
		described('DraftRelationChange', 'A change of a relation of a resource.'),
	),
	keyedChange('action_group', keyPair('<resource key>:<action group key>'), ActionGroupEntry).meta(
		described('DraftActionGroupChange', 'A change of a group of actions of a resource.'),
	),
	keyedChange('resource_role', keyPair('<resource key>:<role key>'), ResourceRoleEntry).meta(
		described('DraftResourceRoleChange', 'A change of a role of a resource.'),
	),
	keyedChange('user_attribute', Key, AttributeEntry).meta(
		described('DraftUserAttributeChange', 'A change of an attribute of users.'),
	),
	keyedChange('role', Key, RoleEntry).meta(described('DraftRoleChange', 'A change of a tenant role.')),
	keyedChange('condition_set', OwnConditionSetKey, ConditionSetEntry).meta(
		described('DraftConditionSetChange', 'A change of a condition set that is not automatic.'),
	),
	listedChange('condition_set_rule', comesOrGoes, SetRuleEntry).meta(
		described('DraftConditionSetRuleChange', 'A rule between condition sets that comes or goes.'),
	),
	keyedChange('elements_config', Key, ElementsConfigEntry).meta(
		described('DraftElementsConfigChange', 'A change of an element, without its webhook.'),
	),
	keyedChange('tenant', Key, TenantEntry).meta(described('DraftTenantChange', 'A change of a tenant.')),
	keyedChange('user', UserKey, UserEntry).meta(described('DraftUserChange', 'A change of a user.')),
	listedChange('tenant_user', comesOrGoes, TenantUserEntry).meta(
		described('DraftTenantUserChange', 'A user who is added to a tenant, or removed from it.'),
	),
	keyedChange('resource_instance', InstanceName, InstanceEntry).meta(
		described('DraftResourceInstanceChange', 'A change of a resource instance.'),
	),
	keyedChange('group', InstanceName, GroupEntry).meta(
		described('DraftGroupChange', 'An instance that becomes a group, or ceases to be one.'),
	),
	listedChange('made_for_groups', comesOrGoes, MadeForGroupsEntry).meta(
		described('DraftMadeForGroupsChange', 'A mark that something was made for groups, which comes or goes.'),
	),
	listedChange('relationship_tuple', all, TupleEntry).meta(
		described('DraftRelationshipTupleChange', 'A change of a relationship. An update is of when it ends.'),
	),
	listedChange('role_assignment', all, RoleAssignmentEntry).meta(
		described('DraftRoleAssignmentChange', 'A change of a role that a user holds. An update is of when it ends.'),
	),
	keyedChange('user_invite', UserKey, UserInviteEntry).meta(
		described('DraftUserInviteChange', 'A change of an invite.'),
	),
] as const;

const kinds = changes.map(({ shape }) => shape.kind.value);

/** One object that a draft creates, changes or deletes. */
export const DraftChange = z.discriminatedUnion('kind', changes, {
	error: ({ code }) => (code === 'invalid_union' ? `must be one of ${kinds.join(', ')}` : undefined),
});
export type DraftChange = z.output<typeof DraftChange>;

/** The kinds of objects that drafts change. */
export type DraftKind = DraftChange['kind'];

/** Changes of an environment as it was at a revision. */
export const Draft = z
	.strictObject({
		base_revision: z
			.int()
			.min(0)
			.describe('The revision of the environment that the draft was made from. What has changed since is in the way.'),
		changes: boundedArray(DraftChange, maxDraftChanges).describe('What changes, each object once, in any order.'),
	})
	.meta({ id: 'Draft', description: 'Changes of an environment as it was at a revision.' });
export type Draft = z.output<typeof Draft>;

/** A draft that was applied. */
export const AppliedDraft = z
	.object({
		revision: z.int().min(0).describe('The revision of the environment with the draft in it.'),
		changes: ChangeReport.describe('What the draft changed, and what changed with it.'),
	})
	.meta({ id: 'AppliedDraft', description: 'A draft that was applied.' });

/** The most files of which a preview shows how they differ. */
export const maxPreviewFiles = 500;
/** How much of changes, and of files, a preview shows, in characters of JSON each. */
export const maxPreviewLength = 2 * 1024 * 1024;

/** What a draft would change. */
export const DraftPreview = z
	.object({
		base_revision: z.int().min(0).describe('The revision that the draft was made from.'),
		revision: z.int().min(0).describe('The revision of the environment that it was tried out on.'),
		total: z.int().min(0).describe('How many objects would come, change and go in all.'),
		changes: z
			.array(
				z.object({
					kind: ChangeKind.describe('What kind of object it is, as in the change log.'),
					operation: ChangeOperation.describe('What would happen to the object.'),
					key: ChangeRead.shape.key,
					before: StoredObject.nullable().describe('The object as it is; null if it would be created.'),
					after: StoredObject.nullable().describe(
						'The object as it would be; null if it would be deleted. Ids of what would be created, and times, will be others.',
					),
				}),
			)
			.describe('The first of them, with what goes by cascade, in the order in which they are made.'),
		truncated: z.boolean().describe('Whether there are more changes than are listed.'),
		policy: z
			.object({
				files: z
					.array(
						z.object({
							path: z.string().describe('The path of the file, with slashes.'),
							before: z.string().nullable().describe('Its Rego now; null if there is no such file.'),
							after: z.string().nullable().describe('Its Rego with the draft; null if there would be no such file.'),
						}),
					)
					.describe('The generated files that differ, by path.'),
				truncated: z.boolean().describe('Whether more files differ than are listed.'),
				diagnostics: z
					.array(
						z.object({
							code: z.string().describe('The kind of the finding, for programs.'),
							message: z.string().describe('What was found, for people.'),
							at: z.array(z.string()).describe('The keys that lead to the place, from the root of the schema.'),
							severity: z.enum(['error', 'warning']).describe('Whether the schema cannot be compiled with it.'),
						}),
					)
					.describe('What the compiler finds in the drafted schema, at most 20.'),
				failure: z
					.string()
					.nullable()
					.describe(
						'Why no file is listed: the schema, with or without the draft, cannot be compiled. Null if it can.',
					),
			})
			.describe('What would become of the Rego that is generated from the schema. Permissions of roles are not Rego.'),
	})
	.meta({ id: 'DraftPreview', description: 'What a draft would change.' });
export type DraftPreview = z.input<typeof DraftPreview>;

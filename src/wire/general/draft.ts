import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Key, optional, StoredObject, UserKey } from '../common.js';
import { named, namedStrict } from '../named.js';
import { OwnConditionSetKey } from '../schema/condition-set.js';
import { ResourceKey } from '../schema/resource.js';
import { ChangeKind, ChangeOperation, ChangeRead } from './change.js';
import {
	ActionGroupEntry,
	AttributeEntry,
	CheckTestEntry,
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
 * A draft: changes to an environment that are first previewed and then applied together or not at all. Objects have the
 * same names and format as in environment documents.
 */

/** Maximum number of changes per draft. */
export const maxDraftChanges = 1000;

/** Built-in resource whose attributes are separate objects in documents and drafts. */
const userResourceKey = '__user';

const kindNote = 'Kind of the changed object.';
const operationNote = 'Operation on the object.';

/** Schema for a change to an object that has a key. */
function keyedChange<Kind extends string, Value extends z.ZodType>(kind: Kind, key: z.ZodString, value: Value) {
	return z
		.strictObject({
			kind: z.literal(kind).describe(kindNote),
			operation: ChangeOperation.describe(operationNote),
			key: key.describe('Object key; `<resource key>:<key>` for objects that belong to a resource.'),
			value: optional(value).describe('Complete new object; omit for a deletion.'),
		})
		.superRefine(({ operation, value: given }, ctx) => {
			if (operation === 'delete' && given !== undefined) {
				ctx.addIssue({ code: 'custom', path: ['value'], message: 'must be omitted when the object is deleted' });
			}
			if (operation !== 'delete' && given === undefined) {
				ctx.addIssue({ code: 'invalid_type', expected: 'object', path: ['value'], input: undefined });
			}
		});
}

/** Schema for a change to an object without a key, which is identified by its content. */
function listedChange<
	Kind extends string,
	const Operations extends readonly ChangeOperation[],
	Value extends z.ZodType,
>(kind: Kind, operations: Operations, value: Value) {
	return z.strictObject({
		kind: z.literal(kind).describe(kindNote),
		operation: z.enum(operations).describe(operationNote),
		key: optional(z.null()).describe('Absent or null: the value identifies the object.'),
		value: value.describe('The object; for a deletion, its identifying fields.'),
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
		.meta(described('DraftResourceChange', 'A change to a resource with its actions and attributes.')),
	keyedChange('relation', keyPair('<resource key>:<relation key>'), RelationEntry).meta(
		described('DraftRelationChange', 'A change to a resource relation.'),
	),
	keyedChange('action_group', keyPair('<resource key>:<action group key>'), ActionGroupEntry).meta(
		described('DraftActionGroupChange', 'A change to an action group.'),
	),
	keyedChange('resource_role', keyPair('<resource key>:<role key>'), ResourceRoleEntry).meta(
		described('DraftResourceRoleChange', 'A change to a resource role.'),
	),
	keyedChange('user_attribute', Key, AttributeEntry).meta(
		described('DraftUserAttributeChange', 'A change to a user attribute.'),
	),
	keyedChange('role', Key, RoleEntry).meta(described('DraftRoleChange', 'A change to a tenant role.')),
	keyedChange('condition_set', OwnConditionSetKey, ConditionSetEntry).meta(
		described('DraftConditionSetChange', 'A change to a condition set that is not automatic.'),
	),
	listedChange('condition_set_rule', comesOrGoes, SetRuleEntry).meta(
		described('DraftConditionSetRuleChange', 'A condition set rule, created or deleted.'),
	),
	keyedChange('elements_config', Key, ElementsConfigEntry).meta(
		described('DraftElementsConfigChange', 'A change to an element, without its webhook.'),
	),
	keyedChange('check_test', Key, CheckTestEntry).meta(described('DraftCheckTestChange', 'A change to a check test.')),
	keyedChange('tenant', Key, TenantEntry).meta(described('DraftTenantChange', 'A change to a tenant.')),
	keyedChange('user', UserKey, UserEntry).meta(described('DraftUserChange', 'A change to a user.')),
	listedChange('tenant_user', comesOrGoes, TenantUserEntry).meta(
		described('DraftTenantUserChange', 'A user, added to a tenant or removed from it.'),
	),
	keyedChange('resource_instance', InstanceName, InstanceEntry).meta(
		described('DraftResourceInstanceChange', 'A change to a resource instance.'),
	),
	keyedChange('group', InstanceName, GroupEntry).meta(
		described('DraftGroupChange', 'An instance that becomes a group, or stops being a group.'),
	),
	listedChange('made_for_groups', comesOrGoes, MadeForGroupsEntry).meta(
		described('DraftMadeForGroupsChange', 'A marker for an object created for groups; created or deleted.'),
	),
	listedChange('relationship_tuple', all, TupleEntry).meta(
		described(
			'DraftRelationshipTupleChange',
			'A change to a relationship. An update changes its expiry or condition values.',
		),
	),
	listedChange('role_assignment', all, RoleAssignmentEntry).meta(
		described(
			'DraftRoleAssignmentChange',
			'A change to a role assignment. An update changes its expiry or condition values.',
		),
	),
	keyedChange('user_invite', UserKey, UserInviteEntry).meta(
		described('DraftUserInviteChange', 'A change to an invite.'),
	),
] as const;

const kinds = changes.map(({ shape }) => shape.kind.value);

/** Change in a draft: it creates, updates or deletes a single object. */
export const DraftChange = z.discriminatedUnion('kind', changes, {
	error: ({ code }) => (code === 'invalid_union' ? `must be one of ${kinds.join(', ')}` : undefined),
});
export type DraftChange = z.output<typeof DraftChange>;

/** Object kinds in drafts. */
export type DraftKind = DraftChange['kind'];

export const Draft = namedStrict('Draft', 'Changes to an environment, based on a revision.', {
	base_revision: z
		.int()
		.min(0)
		.describe('Environment revision that the draft is based on. Later changes to the same objects conflict.'),
	changes: boundedArray(DraftChange, maxDraftChanges).describe('Changes, one per object, in any order.'),
});
export type Draft = z.output<typeof Draft>;

export const UndoRequest = namedStrict('UndoRequest', 'The changes of a revision to undo.', {
	position: optional(z.int32().min(0)).describe(
		'Only the change at this position in the revision. Defaults to all changes.',
	),
	changes: optional(boundedArray(DraftChange, maxDraftChanges)).describe(
		'Changes that are already in the draft. The undo of a resource keeps them.',
	),
});

const ReverseChange = named('ReverseChange', 'A draft change that reverses logged changes.', {
	kind: z.string().describe('Kind of the changed object, as in drafts.'),
	operation: ChangeOperation.describe(operationNote),
	key: z.string().optional().describe('Object key; absent if the value identifies the object.'),
	value: z.unknown().optional().describe('The object, as in documents.'),
});
export type ReverseChange = z.input<typeof ReverseChange>;

export const Undo = named('Undo', 'A draft that undoes logged changes.', {
	base_revision: z.int().min(0).describe('The undone revision. Later changes to the same objects conflict.'),
	changes: z.array(ReverseChange).describe('Changes, one per object. A `Draft` accepts them.'),
	left: z
		.array(ChangeRead.pick({ position: true, kind: true, operation: true, key: true }))
		.describe('Logged changes that a draft cannot undo, newest first.'),
});

export const AppliedDraft = named('AppliedDraft', 'An applied draft.', {
	revision: z.int().min(0).describe('Environment revision with the draft.'),
	changes: ChangeReport.describe('Changes by the draft, including cascading changes.'),
});

/** Maximum number of files in a preview. */
export const maxPreviewFiles = 500;
/** Maximum sizes for the listed changes and for the listed files in a preview, in characters as JSON. */
export const maxPreviewLength = 2 * 1024 * 1024;

export const DraftPreview = named('DraftPreview', 'Draft effects.', {
	base_revision: z.int().min(0).describe('Base revision of the draft.'),
	revision: z.int().min(0).describe('Environment revision used for the preview.'),
	total: z.int().min(0).describe('Total number of objects to be created, changed or deleted.'),
	changes: z
		.array(
			z.object({
				kind: ChangeKind.describe('Object kind, as in the change log.'),
				operation: ChangeOperation.describe('Operation on the object.'),
				key: ChangeRead.shape.key,
				before: StoredObject.nullable().describe('Current object; null if it would be created.'),
				after: StoredObject.nullable().describe(
					'Resulting object; null if it would be deleted. Ids for created objects, and times, will differ.',
				),
			}),
		)
		.describe('The first changes, including cascaded deletions, in execution order.'),
	truncated: z.boolean().describe('True if there are more changes than listed.'),
	policy: z
		.object({
			files: z
				.array(
					z.object({
						path: z.string().describe('File path, with slashes.'),
						before: z.string().nullable().describe('Current Rego; null if the file does not exist.'),
						after: z.string().nullable().describe('Rego with the draft; null if the file would not exist.'),
					}),
				)
				.describe('Generated files that differ, by path.'),
			truncated: z.boolean().describe('True if more files differ than listed.'),
			diagnostics: z
				.array(
					z.object({
						code: z.string().describe('Finding kind, for programs.'),
						message: z.string().describe('Human-readable finding.'),
						at: z.array(z.string()).describe('Keys that lead to the location, from the schema root.'),
						severity: z.enum(['error', 'warning']).describe('An `error` prevents compilation; a `warning` does not.'),
					}),
				)
				.describe('Compiler findings in the drafted schema, at most 20.'),
			failure: z
				.string()
				.nullable()
				.describe(
					'Why no file is listed: the schema, with or without the draft, does not compile. Null if it compiles.',
				),
		})
		.describe('Changes to the Rego generated from the schema. Role permissions are not in the Rego.'),
});
export type DraftPreview = z.input<typeof DraftPreview>;

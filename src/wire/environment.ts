import { z } from 'zod';
import { boundedArray } from './bounded.js';
import {
	AlwaysNull,
	Attributes,
	clearable,
	defaulted,
	Key,
	Name,
	optional,
	StoredObject,
	Text,
	Timestamp,
	Uuid,
} from './common.js';

const jwksUrl = /^https:\/\/[a-zA-Z0-9\-.]+\.[a-zA-Z]{2,3}(\/\S*)?$/;

/** Where the keys that sign the tokens of an environment's users are: at `url`, or given here. `ttl` is in seconds. */
export const Jwks = z
	.object({
		ttl: defaulted(z.int().min(0), () => 600),
		url: defaulted(Text.regex(jwksUrl, 'must be an https URL').nullable(), () => null),
		jwks: defaulted(z.object({ keys: boundedArray(Attributes) }).nullable(), () => null),
	})
	.meta({ id: 'JwksConfig' });
export type Jwks = z.output<typeof Jwks>;

/** Whose members join the other group when a group is assigned to a group (docs/groups.md). */
export const GroupNestingSetting = z.enum(['child_joins_parent', 'parent_joins_child']);
export type GroupNestingSetting = z.output<typeof GroupNestingSetting>;

/** The settings that an owner gives an environment. Unknown members are kept for the owner. */
export const EnvironmentSettings = Attributes.superRefine(({ group_nesting }, ctx) => {
	if (group_nesting === undefined || group_nesting === null) return;
	const { error } = GroupNestingSetting.safeParse(group_nesting);
	for (const { message } of error?.issues ?? []) {
		ctx.addIssue({ code: 'custom', message, path: ['group_nesting'], input: group_nesting });
	}
}).meta({
	type: 'object',
	properties: { group_nesting: { enum: [...GroupNestingSetting.options, null] } },
	additionalProperties: true,
	description:
		'`group_nesting` says what `assign_group` does: with `child_joins_parent`, the default, members of the group in ' +
		'the body become members of the group in the path; with `parent_joins_child` it is the other way round.',
});

/** A new environment. */
export const EnvironmentCreate = z
	.object({
		key: Key,
		name: Name,
		description: optional(Text),
		custom_branch_name: optional(Text),
		jwks: optional(Jwks),
		settings: optional(EnvironmentSettings),
	})
	.meta({ id: 'EnvironmentCreate' });
export type EnvironmentCreate = z.output<typeof EnvironmentCreate>;

/** The fields of an environment that may change. */
export const EnvironmentUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		custom_branch_name: clearable(Text),
		jwks: clearable(Jwks),
		settings: clearable(EnvironmentSettings),
	})
	.meta({ id: 'EnvironmentUpdate' });
export type EnvironmentUpdate = z.output<typeof EnvironmentUpdate>;

/** An environment. */
export const EnvironmentRead = z
	.object({
		id: Uuid,
		key: z.string(),
		name: z.string(),
		organization_id: Uuid,
		project_id: Uuid,
		created_at: Timestamp,
		updated_at: Timestamp,
		description: z.string().nullable(),
		custom_branch_name: z.string().nullable(),
		jwks: StoredObject.nullable(),
		settings: StoredObject.nullable(),
		avp_policy_store_id: AlwaysNull,
		email_configuration: AlwaysNull,
	})
	.meta({ id: 'EnvironmentRead' });
export type EnvironmentRead = z.input<typeof EnvironmentRead>;

import { z } from 'zod';
import { boundedArray, boundedRecord } from '../bounded.js';
import { defaulted, environmentObject, Key, keyed, Name, optional, Reference, Text, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { named, namedObject } from '../named.js';

/** Element type. `approval_flow` is the form for access requests. */
export const ElementsType = z.enum([
	'user_management',
	'audit_log',
	'approval_flow',
	'operation_approval',
	'approval_management',
]);
export type ElementsType = z.output<typeof ElementsType>;

/** Permission levels for roles, from the highest to the lowest. */
export const configuredLevels = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4', 'HIDDEN'] as const;

/** A user's permission level in an element. `UNCONFIGURED` means that the element's config does not list the role. */
export const PermissionLevel = z.enum([...configuredLevels, 'UNCONFIGURED']);
export type PermissionLevel = z.output<typeof PermissionLevel>;

const Level = z
	.string()
	.regex(/^(LEVEL_[1-4]|HIDDEN|UNCONFIGURED)$/, 'must be LEVEL_1 to LEVEL_4, HIDDEN or UNCONFIGURED');

/** Roles, keyed by permission level. */
const RolesToLevels = boundedRecord(Level, boundedArray(Reference)).meta({
	description:
		'Roles by level: a role id, a tenant role key, or `<resource>#<role>`. A ' +
		'role has at most one level; roles under `UNCONFIGURED` have none.',
	example: { LEVEL_1: ['editor'], LEVEL_3: ['document#viewer'] },
});

const maxSettings = 100;
/** Maximum value for `max_duration`, in seconds: ten years. */
const longestDuration = 315_360_000;

/**
 * Element settings. If the server knows a setting, its value must have the right type. Other settings may have any
 * value.
 */
export const ElementsSettings = keyed(z.union([z.int(), z.boolean(), Text]), Text.min(1))
	.refine((settings) => Object.keys(settings).length <= maxSettings, `must have at most ${maxSettings} fields`)
	.refine(({ max_duration = 1 }) => Number.isInteger(max_duration) && isDuration(max_duration), {
		path: ['max_duration'],
		error: `must be a number of seconds from 1 to ${longestDuration}`,
	})
	// With any other type, a single-use approval could be used again.
	.refine(({ single_use = false }) => typeof single_use === 'boolean', {
		path: ['single_use'],
		error: 'must be true or false',
	});

function isDuration(seconds: unknown): boolean {
	return Number(seconds) >= 1 && Number(seconds) <= longestDuration;
}

function isHttpUrl(text: string): boolean {
	return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

const WebhookEdit = named('WebhookWithElementsUpdate', 'Webhook that receives element events.', {
	type: defaulted(z.literal('elements'), () => 'elements' as const).describe('Always `elements`.'),
	url: Text.refine(isHttpUrl, 'must be an http or https URL').describe('Webhook URL: http or https.'),
	bearer_token: optional(
		Text.regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, as required in headers'),
	).describe('Sent as `Authorization: Bearer`. Stored encrypted, and never shown.'),
});
export type WebhookEdit = z.output<typeof WebhookEdit>;

export const ElementsConfigCreate = named('ElementsConfigCreate', 'A new element.', {
	key: Key.describe('Key, unique among the elements in the environment; part of its page URL.'),
	name: Name.describe('Display name.'),
	elements_type: ElementsType.describe('Element type.'),
	settings: ElementsSettings.describe('Settings by name. The meaningful settings depend on the element type.'),
	roles_to_levels: RolesToLevels,
	email_notifications: defaulted(z.boolean(), () => false).describe('True to invite added users; defaults to false.'),
	webhook: optional(WebhookEdit).describe('Webhook for element events; none by default.'),
});
export type ElementsConfigCreate = z.output<typeof ElementsConfigCreate>;

export const ElementsConfigUpdate = named(
	'ElementsConfigUpdate',
	'Element fields to change. Maps are replaced as a whole. Null removes the webhook.',
	{
		name: optional(Name).describe('New name. Null counts as absent.'),
		settings: optional(ElementsSettings).describe('Complete new settings. Null counts as absent.'),
		roles_to_levels: optional(RolesToLevels).describe('Complete new levels. Null counts as absent.'),
		email_notifications: optional(z.boolean()).describe('True to invite added users. Null counts as absent.'),
		webhook: WebhookEdit.nullable().optional().describe('Webhook for element events; null removes it.'),
	},
);
export type ElementsConfigUpdate = z.output<typeof ElementsConfigUpdate>;

const LeveledRole = named('ElementsConfigRole', 'A role in an element config.', {
	id: Uuid.describe('Role id.'),
	key: z.string().describe('Role key.'),
	name: z.string().describe('Display name.'),
	resource_id: Uuid.nullable().describe('Id of the resource with the role; null for a tenant role.'),
});

const WebhookRead = named('WebhookRead', 'A webhook, without its token.', {
	...environmentObject,
	type: z.literal('elements').describe('Always `elements`.'),
	url: z.string().describe('Webhook URL. Keys with read-only access see its origin, then `/********`.'),
});

export const ElementsConfigRead = named('ElementsConfigRead', 'An element.', {
	...namedObject('elements in the environment'),
	elements_type: ElementsType.describe('Element type.'),
	settings: z.record(z.string(), z.union([z.int(), z.boolean(), z.string()])).describe('Settings by name.'),
	is_active: z.boolean().describe('True if the element has been opened at least once.'),
	email_notifications: z.boolean().describe('True if added users are invited.'),
	roles_to_levels: z
		.record(PermissionLevel, z.array(LeveledRole))
		.describe('Roles by level; `UNCONFIGURED` is empty, because it would list all remaining roles.'),
	webhook: WebhookRead.nullable().describe('Webhook; null if there is none, and for signed-in users.'),
});
export type ElementsConfigRead = z.input<typeof ElementsConfigRead>;

export const ElementsRuntime = named('ElementsConfigRuntimeRead', 'Data that an element loads when it is opened.', {
	config: ElementsConfigRead.describe('The opened element.'),
	current_permission_level: PermissionLevel.describe('Permission level of the signed-in user in this element.'),
	resource_id: Uuid.nullable().meta({
		description: 'In an access request element: the resource of the given instance. Users can request its roles.',
	}),
});
export type ElementsRuntime = z.input<typeof ElementsRuntime>;

/** Instance for which the permission level is determined. */
export const ElementsRuntimeQuery = z.object({
	resource_instance_id: Reference.optional().describe(
		'Instance for the level: id, or `<resource key>:<instance key>`.',
	),
});

export const ElementsConfigPage = paginated(ElementsConfigRead);

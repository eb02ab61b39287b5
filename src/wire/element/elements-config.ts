import { z } from 'zod';
import { boundedArray, boundedRecord } from '../bounded.js';
import { defaulted, environmentObject, Key, keyed, Name, optional, Reference, Text, Uuid } from '../common.js';
import { paginated } from '../list.js';

/** What an element is for. `approval_flow` is the form for access requests. */
export const ElementsType = z.enum([
	'user_management',
	'audit_log',
	'approval_flow',
	'operation_approval',
	'approval_management',
]);
export type ElementsType = z.output<typeof ElementsType>;

/** The levels that a config can give to a role, from the highest to the lowest. */
export const configuredLevels = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4', 'HIDDEN'] as const;

/** What a user may do in an element; `UNCONFIGURED` for roles that the config does not mention. */
export const PermissionLevel = z.enum([...configuredLevels, 'UNCONFIGURED']);
export type PermissionLevel = z.output<typeof PermissionLevel>;

const Level = z
	.string()
	.regex(/^(LEVEL_[1-4]|HIDDEN|UNCONFIGURED)$/, 'must be LEVEL_1 to LEVEL_4, HIDDEN or UNCONFIGURED');

/** Which roles have which level. */
const RolesToLevels = boundedRecord(Level, boundedArray(Reference)).meta({
	description:
		'Roles by level: the id of a role, the key of a tenant role, or `<resource>#<role>`. A role has one level; roles ' +
		'under `UNCONFIGURED` have none.',
	example: { LEVEL_1: ['editor'], LEVEL_3: ['document#viewer'] },
});

const maxSettings = 100;
/** The longest time that `max_duration` may say, in seconds: ten years. */
const longestDuration = 315_360_000;

/** The settings that mean something to the server are of its type; others may be anything. */
export const ElementsSettings = keyed(z.union([z.int(), z.boolean(), Text]), Text.min(1))
	.refine((settings) => Object.keys(settings).length <= maxSettings, `must have at most ${maxSettings} members`)
	.refine(({ max_duration = 1 }) => Number.isInteger(max_duration) && isDuration(max_duration), {
		path: ['max_duration'],
		error: `must be a number of seconds from 1 to ${longestDuration}`,
	})
	// Anything else would let approvals be used again that were meant for one use.
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

/** Where events of an element are sent. */
const WebhookEdit = z
	.object({
		type: defaulted(z.literal('elements'), () => 'elements' as const).describe('Always `elements`.'),
		url: Text.refine(isHttpUrl, 'must be an http or https URL').describe(
			'Where events are sent: an http or https URL.',
		),
		bearer_token: optional(
			Text.regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, as headers hold them'),
		).describe('Sent as `Authorization: Bearer`. Stored encrypted, and never shown.'),
	})
	.meta({ id: 'WebhookWithElementsUpdate', description: 'Where events of an element are sent.' });
export type WebhookEdit = z.output<typeof WebhookEdit>;

/** A new element. */
export const ElementsConfigCreate = z
	.object({
		key: Key.describe('The key, unique among the elements of the environment; part of the address of its page.'),
		name: Name.describe('A name for people.'),
		elements_type: ElementsType.describe('What the element is for.'),
		settings: ElementsSettings.describe(
			'Settings by name; those that mean something depend on the type of the element.',
		),
		roles_to_levels: RolesToLevels,
		email_notifications: defaulted(z.boolean(), () => false).describe(
			'Whether users who are added are invited; false when left out.',
		),
		webhook: optional(WebhookEdit).describe('Where events of the element are sent; nowhere when left out.'),
	})
	.meta({ id: 'ElementsConfigCreate', description: 'A new element.' });
export type ElementsConfigCreate = z.output<typeof ElementsConfigCreate>;

/** The fields of an element that may change; maps are replaced as a whole. Null removes the webhook. */
export const ElementsConfigUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		settings: optional(ElementsSettings).describe('All settings from now on. Null counts as absent.'),
		roles_to_levels: optional(RolesToLevels).describe('All levels from now on. Null counts as absent.'),
		email_notifications: optional(z.boolean()).describe(
			'Whether users who are added are invited. Null counts as absent.',
		),
		webhook: WebhookEdit.nullable().optional().describe('Where events of the element are sent; null for nowhere.'),
	})
	.meta({
		id: 'ElementsConfigUpdate',
		description: 'The fields of an element that may change; maps are replaced as a whole. Null removes the webhook.',
	});
export type ElementsConfigUpdate = z.output<typeof ElementsConfigUpdate>;

/** A role as an element's config shows it. */
const LeveledRole = z
	.object({
		id: Uuid.describe('The id of the role.'),
		key: z.string().describe('The key of the role.'),
		name: z.string().describe('A name for people.'),
		resource_id: Uuid.nullable().describe('The id of the resource whose role it is; null for a tenant role.'),
	})
	.meta({ id: 'ElementsConfigRole', description: "A role as an element's config shows it." });

/** A webhook, without its token. */
const WebhookRead = z
	.object({
		...environmentObject,
		type: z.literal('elements').describe('Always `elements`.'),
		url: z.string().describe('Where events are sent. Keys that may only read see its origin, then `/********`.'),
	})
	.meta({ id: 'WebhookRead', description: 'A webhook, without its token.' });

/** An element. */
export const ElementsConfigRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the elements of the environment.'),
		name: z.string().describe('A name for people.'),
		elements_type: ElementsType.describe('What the element is for.'),
		settings: z.record(z.string(), z.union([z.int(), z.boolean(), z.string()])).describe('Settings by name.'),
		is_active: z.boolean().describe('Whether the element was opened at least once.'),
		email_notifications: z.boolean().describe('Whether users who are added are invited.'),
		roles_to_levels: z
			.record(PermissionLevel, z.array(LeveledRole))
			.describe('The roles of each level; `UNCONFIGURED` is empty, because it would hold all others.'),
		webhook: WebhookRead.nullable().describe('Where events are sent; null for nowhere, and for signed-in users.'),
	})
	.meta({ id: 'ElementsConfigRead', description: 'An element.' });
export type ElementsConfigRead = z.input<typeof ElementsConfigRead>;

/** What an element needs to know when it is opened. */
export const ElementsRuntime = z
	.object({
		config: ElementsConfigRead.describe('The element that is opened.'),
		current_permission_level: PermissionLevel.describe('What the signed-in user may do in it.'),
		resource_id: Uuid.nullable().meta({
			description: 'In an element of access requests: the resource of the instance that was named, whose roles fit it.',
		}),
	})
	.meta({ id: 'ElementsConfigRuntimeRead', description: 'What an element needs to know when it is opened.' });
export type ElementsRuntime = z.input<typeof ElementsRuntime>;

/** The instance on which the permission level is asked for. */
export const ElementsRuntimeQuery = z.object({
	resource_instance_id: Reference.optional().describe(
		'The instance on which the level is asked for: its id, or `<resource key>:<instance key>`.',
	),
});

/** A page of elements. */
export const ElementsConfigPage = paginated(ElementsConfigRead);

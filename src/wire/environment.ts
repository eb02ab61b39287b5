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

/** The most origins whose pages may embed the elements of an environment. */
const maxElementsOrigins = 20;

/** An origin, written as browsers send it: scheme, host and, where it is not the scheme's own, port. */
const Origin = z
	.string()
	.max(253 + 'https://:65535'.length)
	.refine(isOrigin, 'must be an origin: scheme://host[:port]');

/** Hosts without wildcards: `*` is a character like any other in a URL, and any host in a policy for frames. */
const hostForm = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d+)?$/;

function isOrigin(text: string): boolean {
	return hostForm.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** The settings that are looked at, by name; each may be null, which is as if it were not there. */
const knownSettings = {
	group_nesting: GroupNestingSetting,
	elements_origins: boundedArray(Origin, maxElementsOrigins),
	elements_same_site: z.boolean(),
	elements_user_key_claim: Name.min(1),
} as const;

/** How an environment embeds its elements. */
export interface ElementSettings {
	/** The origins whose pages may embed them. */
	readonly origins: readonly string[];
	/** Whether these pages are of the same site as this API, so that cookies need not be sent across sites. */
	readonly sameSite: boolean;
	/** The one claim of tokens that holds the key of a user; `null` where requests name it. */
	readonly userKeyClaim: string | null;
}

/** How an environment with these settings embeds its elements: nowhere, where they do not say. */
export function elementSettings(settings: Readonly<Record<string, unknown>> | null): ElementSettings {
	const origins = knownSettings.elements_origins.safeParse(settings?.['elements_origins']);
	const claim = knownSettings.elements_user_key_claim.safeParse(settings?.['elements_user_key_claim']);
	return {
		origins: origins.data ?? [],
		sameSite: settings?.['elements_same_site'] === true,
		userKeyClaim: claim.data ?? null,
	};
}

/** The settings that an owner gives an environment. Unknown members are kept for the owner. */
export const EnvironmentSettings = Attributes.superRefine((settings, ctx) => {
	for (const [name, schema] of Object.entries(knownSettings)) {
		const input = settings[name];
		if (input === undefined || input === null) continue;
		const { issues = [] } = schema.safeParse(input, { reportInput: true }).error ?? {};
		// What is no list may be too long for one as well.
		const [whole] = issues.filter(({ path }) => path.length === 0);
		for (const issue of whole === undefined ? issues : [whole]) {
			const path = [name, ...issue.path];
			ctx.addIssue({ code: 'custom', message: issue.message, path, input: issue.input });
		}
	}
}).meta({
	type: 'object',
	properties: {
		group_nesting: { enum: [...GroupNestingSetting.options, null] },
		elements_origins: { type: ['array', 'null'], items: { type: 'string' }, maxItems: maxElementsOrigins },
		elements_same_site: { type: ['boolean', 'null'] },
		elements_user_key_claim: { type: ['string', 'null'], minLength: 1 },
	},
	additionalProperties: true,
	description:
		'`elements_origins` lists the origins (`https://app.example.com`) whose pages may embed elements and sign users ' +
		'in; by default there are none. `elements_same_site` says that they are of the same site as this API. ' +
		'`elements_user_key_claim` is the one claim of users’ tokens that holds their key; by default each request names it. ' +
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

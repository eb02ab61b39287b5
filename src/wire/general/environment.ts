import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import {
	AlwaysNull,
	Attributes,
	clearable,
	defaulted,
	type JsonObject,
	Key,
	Name,
	optional,
	StoredObject,
	Text,
	Timestamp,
	Uuid,
} from '../common.js';

const jwksUrl = /^https:\/\/[a-zA-Z0-9\-.]+\.[a-zA-Z]{2,3}(\/\S*)?$/;

/** Where the keys that sign the tokens of an environment's users are: at `url`, or given here. `ttl` is in seconds. */
export const Jwks = z
	.object({
		ttl: defaulted(z.int().min(0), () => 600).describe(
			'How long keys from `url` are kept, in seconds; 600 when left out.',
		),
		url: defaulted(Text.regex(jwksUrl, 'must be an https URL').nullable(), () => null).describe(
			'Where the keys are: an https URL.',
		),
		jwks: defaulted(
			z.object({ keys: boundedArray(Attributes).describe('Keys in the form of RFC 7517.') }).nullable(),
			() => null,
		).describe('The keys themselves, in place of `url`.'),
	})
	.meta({
		id: 'JwksConfig',
		description:
			"Where the keys that sign the tokens of an environment's users are: at `url`, or given here. `ttl` is in " +
			'seconds.',
	});
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
	elements_token_issuer: Name.min(1),
	elements_token_audience: Name.min(1),
	production: z.boolean(),
} as const;

/** The keys of environments that are in production unless their settings say otherwise. */
const productionKeys: readonly string[] = ['production', 'prod'];

/** Whether an environment is in production, so that the console asks before it changes anything there. */
export function isProduction({
	key,
	settings,
}: {
	readonly key: string;
	readonly settings: JsonObject | null;
}): boolean {
	return knownSettings.production.safeParse(settings?.['production']).data ?? productionKeys.includes(key);
}

/** How an environment embeds its elements. */
export interface ElementSettings {
	/** The origins whose pages may embed them. */
	readonly origins: readonly string[];
	/** Whether these pages are of the same site as this API, so that cookies need not be sent across sites. */
	readonly sameSite: boolean;
	/** The one claim of tokens that holds the key of a user; `null` where requests name it. */
	readonly userKeyClaim: string | null;
	/** The issuer and the audience that tokens have to name; `null` for any. */
	readonly tokenIssuer: string | null;
	readonly tokenAudience: string | null;
}

/** How an environment with these settings embeds its elements: nowhere, where they do not say. */
export function elementSettings(settings: Readonly<Record<string, unknown>> | null): ElementSettings {
	const origins = knownSettings.elements_origins.safeParse(settings?.['elements_origins']);
	const text = (name: 'elements_user_key_claim' | 'elements_token_issuer' | 'elements_token_audience') =>
		knownSettings[name].safeParse(settings?.[name]).data ?? null;
	return {
		origins: origins.data ?? [],
		sameSite: settings?.['elements_same_site'] === true,
		userKeyClaim: text('elements_user_key_claim'),
		tokenIssuer: text('elements_token_issuer'),
		tokenAudience: text('elements_token_audience'),
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
		group_nesting: {
			enum: [...GroupNestingSetting.options, null],
			description: 'Whose members join the other group when a group is assigned to a group.',
		},
		elements_origins: {
			type: ['array', 'null'],
			items: { type: 'string' },
			maxItems: maxElementsOrigins,
			description: 'The origins whose pages may embed elements and sign users in; none by default.',
		},
		elements_same_site: {
			type: ['boolean', 'null'],
			description: 'Whether these origins are of the same site as this API.',
		},
		elements_user_key_claim: {
			type: ['string', 'null'],
			minLength: 1,
			description: 'The one claim of users’ tokens that holds their key; by default each request names it.',
		},
		elements_token_issuer: {
			type: ['string', 'null'],
			minLength: 1,
			description: 'The issuer that `iss` of users’ tokens has to name; by default any.',
		},
		elements_token_audience: {
			type: ['string', 'null'],
			minLength: 1,
			description: 'The audience that `aud` of users’ tokens has to contain; by default any.',
		},
		production: {
			type: ['boolean', 'null'],
			description:
				'Whether the environment is in production, so that the console asks before it changes anything. By default, ' +
				'environments with the key `production` or `prod` are.',
		},
	},
	additionalProperties: true,
	description:
		'`elements_origins` lists the origins (`https://app.example.com`) whose pages may embed elements and sign users ' +
		'in; by default there are none. `elements_same_site` says that they are of the same site as this API. ' +
		'`elements_user_key_claim` is the one claim of users’ tokens that holds their key; by default each request names it. ' +
		'`elements_token_issuer` and `elements_token_audience` are the `iss` and `aud` that these tokens have to name. ' +
		'`group_nesting` says what `assign_group` does: with `child_joins_parent`, the default, members of the group in ' +
		'the body become members of the group in the path; with `parent_joins_child` it is the other way round. ' +
		'`production` says that the environment is in production, so that the console asks before it changes anything; by ' +
		'default, one with the key `production` or `prod` is.',
});

/** A new environment. */
export const EnvironmentCreate = z
	.object({
		key: Key.describe('The key, unique among the environments of the project.'),
		name: Name.describe('A name for people.'),
		description: optional(Text).describe('What the environment is for. Null counts as absent.'),
		custom_branch_name: optional(Text).describe('Stored and shown for clients that set it; changes nothing.'),
		jwks: optional(Jwks).describe('The keys that sign the tokens of users who sign in to elements.'),
		settings: optional(EnvironmentSettings).describe('Settings of the environment, and any data of your own.'),
	})
	.meta({ id: 'EnvironmentCreate', description: 'A new environment.' });
export type EnvironmentCreate = z.output<typeof EnvironmentCreate>;

/** The fields of an environment that may change. */
export const EnvironmentUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('What the environment is for; null clears it.'),
		custom_branch_name: clearable(Text).describe('Stored and shown for clients that set it; changes nothing.'),
		jwks: clearable(Jwks).describe('The keys that sign the tokens of users who sign in to elements; null for none.'),
		settings: clearable(EnvironmentSettings).describe('All settings from now on; null clears them.'),
	})
	.meta({ id: 'EnvironmentUpdate', description: 'The fields of an environment that may change.' });
export type EnvironmentUpdate = z.output<typeof EnvironmentUpdate>;

/** An environment. */
export const EnvironmentRead = z
	.object({
		id: Uuid.describe('The id of the environment.'),
		key: z.string().describe('The key, unique among the environments of the project.'),
		name: z.string().describe('A name for people.'),
		organization_id: Uuid.describe('The id of the organization.'),
		project_id: Uuid.describe('The id of the project.'),
		created_at: Timestamp.describe('When it was created, in UTC.'),
		updated_at: Timestamp.describe('When it was last changed, in UTC.'),
		description: z.string().nullable().describe('What the environment is for.'),
		custom_branch_name: z.string().nullable().describe('Stored and shown for clients that set it; changes nothing.'),
		jwks: StoredObject.nullable().describe('The keys that sign the tokens of users who sign in to elements.'),
		settings: StoredObject.nullable().describe('Settings of the environment, and any data of your own.'),
		avp_policy_store_id: AlwaysNull,
		email_configuration: AlwaysNull,
	})
	.meta({ id: 'EnvironmentRead', description: 'An environment.' });
export type EnvironmentRead = z.input<typeof EnvironmentRead>;

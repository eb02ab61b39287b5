import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import {
	AlwaysNull,
	Attributes,
	clearable,
	defaulted,
	type JsonObject,
	Name,
	optional,
	StoredObject,
	Text,
	Timestamp,
	Uuid,
} from '../common.js';
import { changedFields, describedFields, named } from '../named.js';

const jwksUrl = /^https:\/\/[a-zA-Z0-9\-.]+\.[a-zA-Z]{2,3}(\/\S*)?$/;

export const Jwks = named(
	'JwksConfig',
	'Public keys that verify the user tokens of an environment: at `url`, or inline. `ttl` is in seconds.',
	{
		ttl: defaulted(z.int().min(0), () => 600).describe('Cache time for keys from `url`, in seconds; defaults to 600.'),
		url: defaulted(Text.regex(jwksUrl, 'must be an https URL').nullable(), () => null).describe(
			'Key location: an https URL.',
		),
		jwks: defaulted(
			z.object({ keys: boundedArray(Attributes).describe('Keys in RFC 7517 form.') }).nullable(),
			() => null,
		).describe('Inline keys, instead of `url`.'),
	},
);
export type Jwks = z.output<typeof Jwks>;

/** Direction in which membership applies when a group is assigned to a group (docs/develop/groups.md). */
export const GroupNestingSetting = z.enum(['child_joins_parent', 'parent_joins_child']);

/** Maximum number of origins whose pages may embed elements. */
const maxElementsOrigins = 20;

/** An origin in the form that browsers send: scheme, host, and the port if it is not the scheme's default. */
const Origin = z
	.string()
	.max(253 + 'https://:65535'.length)
	.refine(isOrigin, 'must be an origin: scheme://host[:port]');

/** Hosts without wildcards. In a URL, `*` is an ordinary character, but in a frame policy it matches any host. */
const hostForm = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d+)?$/;

function isOrigin(text: string): boolean {
	return hostForm.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Known settings, keyed by name. Null is treated as absent. */
const knownSettings = {
	group_nesting: GroupNestingSetting,
	elements_origins: boundedArray(Origin, maxElementsOrigins),
	elements_same_site: z.boolean(),
	elements_user_key_claim: Name.min(1),
	elements_token_issuer: Name.min(1),
	elements_token_audience: Name.min(1),
	production: z.boolean(),
	contextual_facts: z.boolean(),
} as const;

/** Keys of environments that are production environments by default. */
const productionKeys: readonly string[] = ['production', 'prod'];

/** True for a production environment. The console asks for confirmation before it changes a production environment. */
export function isProduction({
	key,
	settings,
}: {
	readonly key: string;
	readonly settings: JsonObject | null;
}): boolean {
	return knownSettings.production.safeParse(settings?.['production']).data ?? productionKeys.includes(key);
}

/** Settings for embedding the elements in an environment. */
export interface ElementSettings {
	/** Origins whose pages may embed the elements. */
	readonly origins: readonly string[];
	/** True if these pages belong to the same site as this API. Cookies then need not be sent across sites. */
	readonly sameSite: boolean;
	/** Claim that contains the user key in a token. `null` if requests choose the claim. */
	readonly userKeyClaim: string | null;
	/** Required token issuer and audience; `null` for any. */
	readonly tokenIssuer: string | null;
	readonly tokenAudience: string | null;
}

/** Reads the settings for embedding. If there are no settings, no origin may embed the elements. */
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

/** Environment settings. Unknown fields are stored, for use by the environment's owner. */
export const EnvironmentSettings = Attributes.superRefine((settings, ctx) => {
	for (const [name, schema] of Object.entries(knownSettings)) {
		const input = settings[name];
		if (input === undefined || input === null) continue;
		const { issues = [] } = schema.safeParse(input, { reportInput: true }).error ?? {};
		// If a value is not a list, it may fail the length check too. Report only its first problem.
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
			description: 'Direction of membership when a group is assigned to a group.',
		},
		elements_origins: {
			type: ['array', 'null'],
			items: { type: 'string' },
			maxItems: maxElementsOrigins,
			description: 'Origins whose pages may embed elements and sign users in; none by default.',
		},
		elements_same_site: {
			type: ['boolean', 'null'],
			description: 'True if these origins are same-site with this API.',
		},
		elements_user_key_claim: {
			type: ['string', 'null'],
			minLength: 1,
			description: 'Claim in users’ tokens that contains the user key; by default, each request chooses the claim.',
		},
		elements_token_issuer: {
			type: ['string', 'null'],
			minLength: 1,
			description: 'Required `iss` in users’ tokens; any by default.',
		},
		elements_token_audience: {
			type: ['string', 'null'],
			minLength: 1,
			description: 'Audience that `aud` in users’ tokens must contain; any by default.',
		},
		production: {
			type: ['boolean', 'null'],
			description:
				'True for a production environment, where the console asks for confirmation before changes. By default, ' +
				'environments with the key `production` or `prod` are in production.',
		},
		contextual_facts: {
			type: ['boolean', 'null'],
			description: 'True if checks may contain contextual facts; false by default.',
		},
	},
	additionalProperties: true,
	description:
		'`elements_origins` lists the origins (`https://app.example.com`) whose pages may embed elements and sign users ' +
		'in; none by default. `elements_same_site`: these origins are same-site with this API. ' +
		'`elements_user_key_claim` is the claim in users’ tokens that contains the user key; by default, each ' +
		'request chooses the claim. ' +
		'`elements_token_issuer` and `elements_token_audience` are the required `iss` and `aud` in these tokens. ' +
		'`group_nesting` controls `assign_group`: with `child_joins_parent`, the default, members of the group in the body ' +
		'become members of the group in the path; with `parent_joins_child`, members of the group in the path become ' +
		'members of the group in the body. `production` marks a production environment, where the console asks ' +
		'for confirmation before changes; by default, environments with the key `production` or `prod` are in ' +
		'production. `contextual_facts`: checks may contain facts that are not stored; false by default.',
});

export const EnvironmentCreate = named('EnvironmentCreate', 'A new environment.', {
	...describedFields('Environment', 'environments in the project'),
	custom_branch_name: optional(Text).describe('Stored and returned for clients that set it; has no effect.'),
	jwks: optional(Jwks).describe('Public keys that verify the tokens of users who sign in to elements.'),
	settings: optional(EnvironmentSettings).describe('Environment settings and custom data.'),
});

export const EnvironmentUpdate = named('EnvironmentUpdate', 'Environment fields to change.', {
	...changedFields('Environment'),
	custom_branch_name: clearable(Text).describe('Stored and returned for clients that set it; has no effect.'),
	jwks: clearable(Jwks).describe('Public keys that verify the tokens of users who sign in to elements; null for none.'),
	settings: clearable(EnvironmentSettings).describe('Complete new settings; null clears them.'),
});

export const EnvironmentRead = named('EnvironmentRead', 'An environment.', {
	id: Uuid.describe('Environment id.'),
	key: z.string().describe('Key, unique among the environments in the project.'),
	name: z.string().describe('Display name.'),
	organization_id: Uuid.describe('Organization id.'),
	project_id: Uuid.describe('Project id.'),
	created_at: Timestamp.describe('Creation time, in UTC.'),
	updated_at: Timestamp.describe('Last change, in UTC.'),
	description: z.string().nullable().describe('Environment description.'),
	custom_branch_name: z.string().nullable().describe('Stored and returned for clients that set it; has no effect.'),
	jwks: StoredObject.nullable().describe('Public keys that verify the tokens of users who sign in to elements.'),
	settings: StoredObject.nullable().describe('Environment settings and custom data.'),
	avp_policy_store_id: AlwaysNull,
	email_configuration: AlwaysNull,
});
export type EnvironmentRead = z.input<typeof EnvironmentRead>;

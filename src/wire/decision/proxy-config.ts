import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, Key, keyed, Name, optional, Text } from '../common.js';
import { named, namedObject } from '../named.js';

/** Form in which a proxy sends the secret to its service: as a bearer token, as user and password, or as headers. */
const AuthMechanism = z.enum(['Bearer', 'Basic', 'Headers']);

/** Placeholder for a secret that the calling key may not read. */
export const hiddenSecret = '********';

const maxSecretLength = 16_384;
const Texts = keyed(Text, Text.min(1));
const SecretText = Text.min(1)
	.refine((text) => text !== hiddenSecret, 'is the placeholder for a hidden secret, not a secret')
	.meta({
		description: 'Secret as a string. A string that contains a JSON object with string values counts as a map.',
	});
const SecretMap = Texts.refine(isSmall, `must have at most ${maxSecretLength} characters as JSON`);

/** A secret: a string, or a map such as headers. */
export const ProxySecret = z.union([SecretText, SecretMap]);
export type ProxySecret = z.output<typeof ProxySecret>;

function isSmall(map: Readonly<Record<string, string>>): boolean {
	return Object.keys(map).length > 0 && JSON.stringify(map).length <= maxSecretLength;
}

const rule = {
	url: Text.min(1).describe('Request URL: a template with `{name}` for any part, or a regular expression.'),
	url_type: defaulted(z.literal('regex').nullable(), () => null).describe(
		'`regex` for a regular expression; null for a template.',
	),
	http_method: z.enum(['get', 'post', 'put', 'patch', 'delete', 'head', 'options']).describe('HTTP method.'),
	resource: Key.describe('Resource key for the request.'),
	headers: defaulted(Texts, () => ({})).describe('Stored and returned for proxies that read it.'),
	action: defaulted(Key.nullable(), () => null).describe(
		'Action key for the request; null uses the method in lower case.',
	),
	priority: defaulted(z.int().nullable(), () => null).describe(
		'The matching rule with the highest priority applies; null counts as 0.',
	),
};

const MappingRule = named('MappingRule', 'Maps an HTTP request to a resource and an action.', rule);

export const MappingRuleUpdate = named(
	'MappingRuleUpdate',
	'A rule to keep, add or, with `should_delete`, remove. URL and method identify it.',
	{
		...rule,
		should_delete: defaulted(z.boolean(), () => false).describe(
			'True to remove the rule. If any rule in the list sets this, the list contains only changes.',
		),
	},
);
export type MappingRuleUpdate = z.output<typeof MappingRuleUpdate>;

export const ProxyConfigCreate = named('ProxyConfigCreate', 'A new proxy config.', {
	key: Key.describe('Key, unique among the proxy configs in the environment.'),
	name: Name.describe('Display name.'),
	secret: ProxySecret.describe('Secret that the proxy sends to its service: a string, or a header map.'),
	auth_mechanism: defaulted(AuthMechanism, () => 'Bearer' as const).describe(
		'How the proxy sends the secret; defaults to a bearer token.',
	),
	mapping_rules: defaulted(boundedArray(MappingRule), () => []).describe(
		'Rules that map requests to resources and actions; none by default.',
	),
});
export type ProxyConfigCreate = z.output<typeof ProxyConfigCreate>;

export const ProxyConfigUpdate = named('ProxyConfigUpdate', 'Proxy config fields to change.', {
	name: optional(Name).describe('New name. Null counts as absent.'),
	secret: optional(ProxySecret).describe('New secret: a string, or a header map. Null counts as absent.'),
	auth_mechanism: optional(AuthMechanism).describe('How the proxy sends the secret. Null counts as absent.'),
	mapping_rules: optional(boundedArray(MappingRuleUpdate)).describe(
		'Complete new rule list; with `should_delete` in any rule, only the changes. Null counts as absent.',
	),
});
export type ProxyConfigUpdate = z.output<typeof ProxyConfigUpdate>;

export const ProxyConfigRead = named(
	'ProxyConfigRead',
	'A proxy config. Its secret is always a string: a map is shown as JSON, and callers without access see asterisks.',
	{
		...namedObject('proxy configs in the environment'),
		secret: z
			.string()
			.describe('Secret as a string; a map is shown as JSON; `********` for callers without the level `admin`.'),
		auth_mechanism: AuthMechanism.describe('How the proxy sends the secret.'),
		mapping_rules: z
			.array(
				named('MappingRuleRead', 'Maps an HTTP request to a resource and an action.', {
					url: z.string().describe('Request URL: a template, or a regular expression.'),
					url_type: z.literal('regex').nullable().describe('`regex` for a regular expression; null for a template.'),
					http_method: rule.http_method.describe('HTTP method.'),
					resource: z.string().describe('Resource key for the request.'),
					headers: z.record(z.string(), z.string()).describe('Stored and returned for proxies that read it.'),
					action: z.string().nullable().describe('Action key; null uses the method in lower case.'),
					priority: z
						.int()
						.nullable()
						.describe('The matching rule with the highest priority applies; null counts as 0.'),
				}),
			)
			.describe('Rules that map requests to resources and actions.'),
	},
);
export type ProxyConfigRead = z.input<typeof ProxyConfigRead>;

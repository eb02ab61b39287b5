import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, environmentObject, Key, keyed, Name, optional, Text } from '../common.js';

/** How a proxy presents the secret to its service: as a bearer token, as user and password, or as headers. */
const AuthMechanism = z.enum(['Bearer', 'Basic', 'Headers']);

/** The placeholder for a secret that the calling key may not see. */
export const hiddenSecret = '********';

const maxSecretLength = 16_384;
const Texts = keyed(Text, Text.min(1));
const SecretText = Text.min(1)
	.refine((text) => text !== hiddenSecret, 'is the placeholder for a hidden secret, not a secret')
	.meta({ description: 'A secret as text; JSON of a map of texts is such a map.' });
const SecretMap = Texts.refine(isSmall, `must have at most ${maxSecretLength} characters as JSON`);

/** A secret: text, or a map of texts, as of header names. */
export const ProxySecret = z.union([SecretText, SecretMap]);
export type ProxySecret = z.output<typeof ProxySecret>;

function isSmall(map: Readonly<Record<string, string>>): boolean {
	return Object.keys(map).length > 0 && JSON.stringify(map).length <= maxSecretLength;
}

const rule = {
	url: Text.min(1).describe('The URL of the request: a template with `{name}` for any part, or a regular expression.'),
	url_type: defaulted(z.literal('regex').nullable(), () => null).describe(
		'`regex` for a regular expression; null for a template.',
	),
	http_method: z
		.enum(['get', 'post', 'put', 'patch', 'delete', 'head', 'options'])
		.describe('The method of the request.'),
	resource: Key.describe('The key of the resource that the request is about.'),
	headers: defaulted(Texts, () => ({})).describe('Stored and shown for proxies that read it.'),
	action: defaulted(Key.nullable(), () => null).describe(
		'The key of the action that the request stands for; null for the method in lower case.',
	),
	priority: defaulted(z.int().nullable(), () => null).describe(
		'Of the rules that match, the one with the highest priority counts; null is 0.',
	),
};

/** Which resource and action a request to a URL stands for. */
const MappingRule = z
	.object(rule)
	.meta({ id: 'MappingRule', description: 'Which resource and action a request to a URL stands for.' });

/** A rule to keep, to add or, with `should_delete`, to remove; URL and method identify it. */
export const MappingRuleUpdate = z
	.object({
		...rule,
		should_delete: defaulted(z.boolean(), () => false).describe(
			'Whether the rule is removed. If any rule of the list says so, the list holds only what changes.',
		),
	})
	.meta({
		id: 'MappingRuleUpdate',
		description: 'A rule to keep, to add or, with `should_delete`, to remove; URL and method identify it.',
	});
export type MappingRuleUpdate = z.output<typeof MappingRuleUpdate>;

/** A new proxy config. */
export const ProxyConfigCreate = z
	.object({
		key: Key.describe('The key, unique among the proxy configs of the environment.'),
		name: Name.describe('A name for people.'),
		secret: ProxySecret.describe('What the proxy presents to its service: text, or a map of header names.'),
		auth_mechanism: defaulted(AuthMechanism, () => 'Bearer' as const).describe(
			'How the proxy presents the secret; as a bearer token when left out.',
		),
		mapping_rules: defaulted(boundedArray(MappingRule), () => []).describe(
			'Which resource and action requests stand for; none when left out.',
		),
	})
	.meta({ id: 'ProxyConfigCreate', description: 'A new proxy config.' });
export type ProxyConfigCreate = z.output<typeof ProxyConfigCreate>;

/** The fields of a proxy config that may change. */
export const ProxyConfigUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		secret: optional(ProxySecret).describe('A new secret: text, or a map of header names. Null counts as absent.'),
		auth_mechanism: optional(AuthMechanism).describe('How the proxy presents the secret. Null counts as absent.'),
		mapping_rules: optional(boundedArray(MappingRuleUpdate)).describe(
			'All rules from now on; with `should_delete` in one of them, only what changes. Null counts as absent.',
		),
	})
	.meta({ id: 'ProxyConfigUpdate', description: 'The fields of a proxy config that may change.' });
export type ProxyConfigUpdate = z.output<typeof ProxyConfigUpdate>;

/** A proxy config. Its secret is always text: a map as JSON, and asterisks for those who may not see it. */
export const ProxyConfigRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the proxy configs of the environment.'),
		name: z.string().describe('A name for people.'),
		secret: z.string().describe('The secret as text, a map as JSON; `********` for callers without the level `admin`.'),
		auth_mechanism: AuthMechanism.describe('How the proxy presents the secret.'),
		mapping_rules: z
			.array(
				z
					.object({
						url: z.string().describe('The URL of the request: a template, or a regular expression.'),
						url_type: z.literal('regex').nullable().describe('`regex` for a regular expression; null for a template.'),
						http_method: rule.http_method.describe('The method of the request.'),
						resource: z.string().describe('The key of the resource that the request is about.'),
						headers: z.record(z.string(), z.string()).describe('Stored and shown for proxies that read it.'),
						action: z.string().nullable().describe('The key of the action; null for the method in lower case.'),
						priority: z
							.int()
							.nullable()
							.describe('Of the rules that match, the one with the highest priority counts; null is 0.'),
					})
					.meta({ id: 'MappingRuleRead', description: 'Which resource and action a request to a URL stands for.' }),
			)
			.describe('Which resource and action requests stand for.'),
	})
	.meta({
		id: 'ProxyConfigRead',
		description:
			'A proxy config. Its secret is always text: a map as JSON, and asterisks for those who may not see it.',
	});
export type ProxyConfigRead = z.input<typeof ProxyConfigRead>;

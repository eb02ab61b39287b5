import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { defaulted, environmentObject, Key, keyed, Name, optional, Text } from './common.js';

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
	url: Text.min(1),
	url_type: defaulted(z.literal('regex').nullable(), () => null),
	http_method: z.enum(['get', 'post', 'put', 'patch', 'delete', 'head', 'options']),
	resource: Key,
	headers: defaulted(Texts, () => ({})),
	action: defaulted(Key.nullable(), () => null),
	priority: defaulted(z.int().nullable(), () => null),
};

/** Which resource and action a request to a URL stands for. */
const MappingRule = z.object(rule).meta({ id: 'MappingRule' });

/** A rule to keep, to add or, with `should_delete`, to remove; URL and method identify it. */
export const MappingRuleUpdate = z
	.object({ ...rule, should_delete: defaulted(z.boolean(), () => false) })
	.meta({ id: 'MappingRuleUpdate' });
export type MappingRuleUpdate = z.output<typeof MappingRuleUpdate>;

/** A new proxy config. */
export const ProxyConfigCreate = z
	.object({
		key: Key,
		name: Name,
		secret: ProxySecret,
		auth_mechanism: defaulted(AuthMechanism, () => 'Bearer' as const),
		mapping_rules: defaulted(boundedArray(MappingRule), () => []),
	})
	.meta({ id: 'ProxyConfigCreate' });
export type ProxyConfigCreate = z.output<typeof ProxyConfigCreate>;

/** The fields of a proxy config that may change. */
export const ProxyConfigUpdate = z
	.object({
		name: optional(Name),
		secret: optional(ProxySecret),
		auth_mechanism: optional(AuthMechanism),
		mapping_rules: optional(boundedArray(MappingRuleUpdate)),
	})
	.meta({ id: 'ProxyConfigUpdate' });
export type ProxyConfigUpdate = z.output<typeof ProxyConfigUpdate>;

/** A proxy config. Its secret is always text: a map as JSON, and asterisks for those who may not see it. */
export const ProxyConfigRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		secret: z.string(),
		auth_mechanism: AuthMechanism,
		mapping_rules: z.array(
			z
				.object({
					url: z.string(),
					url_type: z.literal('regex').nullable(),
					http_method: rule.http_method,
					resource: z.string(),
					headers: z.record(z.string(), z.string()),
					action: z.string().nullable(),
					priority: z.int().nullable(),
				})
				.meta({ id: 'MappingRuleRead' }),
		),
	})
	.meta({ id: 'ProxyConfigRead' });
export type ProxyConfigRead = z.input<typeof ProxyConfigRead>;

import { forbidden } from '../../failure.js';
import { elementSettings } from '../../wire/environment.js';

/** The claim that holds the key of a user where neither the environment nor the request names one. */
const defaultClaim = 'sub';

/**
 * The claim of a token that holds the key of the user. Whoever sends a token names the claim, and users may choose what
 * some claims say. So an environment that names one admits no other: throws `forbidden`.
 */
export function userKeyClaim(
	{ settings }: { readonly settings: Readonly<Record<string, unknown>> | null },
	named: string | undefined,
): string {
	const fixed = elementSettings(settings).userKeyClaim;
	if (fixed === null || named === undefined || named === fixed) return named ?? fixed ?? defaultClaim;
	throw forbidden(`this environment takes the key of a user from the claim \`${fixed}\`, not from \`${named}\``);
}

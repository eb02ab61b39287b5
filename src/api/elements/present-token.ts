import { forbidden } from '../../failure.js';
import type { PresentedToken } from '../../token/user-token.js';
import { elementSettings } from '../../wire/general/environment.js';

/** The claim that holds the key of a user where neither the environment nor the request names one. */
const defaultClaim = 'sub';

/**
 * A token and the demands of its environment. Whoever sends a token names the claim with the key of the user, and users
 * may choose what some claims say. So an environment that names one admits no other: throws `forbidden`.
 */
export function presentToken(
	{ settings }: { readonly settings: Readonly<Record<string, unknown>> | null },
	user_jwt: string,
	named: string | undefined,
): PresentedToken {
	const { userKeyClaim: fixed, tokenIssuer: issuer, tokenAudience: audience } = elementSettings(settings);
	if (fixed === null || named === undefined || named === fixed) {
		return { user_jwt, user_key_claim: named ?? fixed ?? defaultClaim, issuer, audience };
	}
	throw forbidden(`this environment takes the key of a user from the claim \`${fixed}\`, not from \`${named}\``);
}

import { forbidden } from '../../failure.js';
import type { PresentedToken } from '../../token/user-token.js';
import { elementSettings } from '../../wire/general/environment.js';

/** Claim for the user key if neither the environment nor the request sets one. */
const defaultClaim = 'sub';

/**
 * Combines a token with its environment's requirements. A request may name the claim that contains the user key. Users
 * may control some claims, so if the environment fixes a claim, any other claim throws `forbidden`.
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
	throw forbidden(`this environment reads user keys from the claim \`${fixed}\`, not from \`${named}\``);
}

import { type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../clock.js';
import { Failure } from '../failure.js';
import type { Jwks } from '../wire/general/environment.js';
import type { KeySets } from './key-sets.js';

/** Tolerated difference from the clocks of token issuers, in seconds. */
const clockTolerance = 30;

/** Algorithms with public keys. With a shared secret, everyone who verifies tokens could also create them. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Characters that no key contains and that the database rejects. */
const unstorable = /[\0\p{Surrogate}]/u;

/** User token received in a request. */
export interface PresentedToken {
	readonly user_jwt: string;
	/** Claim that contains the user key. */
	readonly user_key_claim: string;
	/** Required issuer (`iss`); `null` for any issuer. */
	readonly issuer: string | null;
	/** Required audience (`aud`); `null` for any audience. */
	readonly audience: string | null;
}

/** User that a token identifies. */
export interface TokenSubject {
	readonly key: string;
	/**
	 * E-mail address confirmed by the token. `null` if the token has no address, or if `email_verified` is present and
	 * not true.
	 */
	readonly email: string | null;
}

/** Verifies the JWTs that applications issue to their users, with the keys configured for the environment. */
export class UserTokens {
	constructor(
		private readonly keySets: KeySets,
		private readonly clock: Clock,
	) {}

	/**
	 * Returns the user key from a token. Returns `null` if the token is malformed, is not signed with a key of the
	 * environment, has expired or has no expiry, comes from a different issuer or audience, or lacks the claim. Throws
	 * `invalid_jwks` if the environment's keys cannot be used.
	 */
	async userKey(configured: Jwks | null, token: PresentedToken): Promise<string | null> {
		return (await this.subject(configured, token))?.key ?? null;
	}

	/** Like `userKey`, but also returns the e-mail address. */
	async subject(configured: Jwks | null, token: PresentedToken): Promise<TokenSubject | null> {
		const { user_key_claim } = token;
		const payload = await this.#verify(token, this.keySets.keysFor(configured));
		if (payload === null || !Object.hasOwn(payload, user_key_claim)) return null;
		const key = payload[user_key_claim];
		if (typeof key !== 'string' || key === '' || unstorable.test(key)) return null;
		const { email, email_verified = true } = payload;
		// Some issuers send the flag as a string.
		const verified = email_verified === true || email_verified === 'true';
		return { key, email: typeof email === 'string' && verified ? email : null };
	}

	async #verify(
		{ user_jwt, issuer, audience }: PresentedToken,
		keys: ReturnType<KeySets['keysFor']>,
	): Promise<JWTPayload | null> {
		const currentDate = this.clock.now();
		const demanded = { ...(issuer !== null && { issuer }), ...(audience !== null && { audience }) };
		const options = { algorithms, clockTolerance, currentDate, requiredClaims: ['exp'], ...demanded };
		try {
			return (await jwtVerify(user_jwt, keys, options)).payload;
		} catch (error) {
			if (error instanceof Failure) throw error;
			// All other errors concern the token itself or the key to which it refers.
			return null;
		}
	}
}

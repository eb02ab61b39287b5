import { type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../clock.js';
import { Failure } from '../failure.js';
import type { Jwks } from '../wire/general/environment.js';
import type { KeySets } from './key-sets.js';

/** How far the clocks of those who sign tokens may differ from ours, in seconds. */
const clockTolerance = 30;

/** Signatures whose keys can be public. Others would let whoever checks tokens make them. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Characters that no key has, and that the database does not take. */
const unstorable = /[\0\p{Surrogate}]/u;

/** A user's token, as a request presents it. */
export interface PresentedToken {
	readonly user_jwt: string;
	/** The claim that holds the key of the user. */
	readonly user_key_claim: string;
	/** The issuer that `iss` has to name; `null` for any. */
	readonly issuer: string | null;
	/** The audience that `aud` has to contain; `null` for any. */
	readonly audience: string | null;
}

/** Whom a token is about. */
export interface TokenSubject {
	readonly key: string;
	/** The e-mail address that the token vouches for; `null` without one, or with an `email_verified` other than true. */
	readonly email: string | null;
}

/** Checks the tokens that applications give their users (JWT), with the keys of the environment. */
export class UserTokens {
	constructor(
		private readonly keySets: KeySets,
		private readonly clock: Clock,
	) {}

	/**
	 * The key of the user that a token is about; `null` when it is malformed, not signed by a key of the environment,
	 * expired or without expiry, of another issuer or audience, or has no such claim. Throws `invalid_jwks` when the environment's keys cannot be used.
	 */
	async userKey(configured: Jwks | null, token: PresentedToken): Promise<string | null> {
		return (await this.subject(configured, token))?.key ?? null;
	}

	/** As `userKey`, with the e-mail address. */
	async subject(configured: Jwks | null, token: PresentedToken): Promise<TokenSubject | null> {
		const { user_key_claim } = token;
		const payload = await this.#verify(token, this.keySets.keysFor(configured));
		if (payload === null || !Object.hasOwn(payload, user_key_claim)) return null;
		const key = payload[user_key_claim];
		if (typeof key !== 'string' || key === '' || unstorable.test(key)) return null;
		const { email, email_verified = true } = payload;
		// Some issuers write it as a text.
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
			// Whatever else is wrong is wrong with the token or with the key that it names.
			return null;
		}
	}
}

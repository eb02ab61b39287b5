import { type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../clock.js';
import { Failure } from '../failure.js';
import type { Jwks } from '../wire/environment.js';
import type { KeySets } from './key-sets.js';

/** How far the clocks of those who sign tokens may differ from ours, in seconds. */
const clockTolerance = 30;

/** Signatures whose keys can be public. Others would let whoever checks tokens make them. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** A user's token, as a request presents it. */
export interface PresentedToken {
	readonly user_jwt: string;
	/** The claim that holds the key of the user. */
	readonly user_key_claim: string;
}

/** Whom a token is about. */
export interface TokenSubject {
	readonly key: string;
	/** The e-mail address that the token vouches for; `null` without one, or where it says that it is not verified. */
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
	 * expired or without expiry, or has no such claim. Throws `invalid_jwks` when the environment's keys cannot be used.
	 */
	async userKey(configured: Jwks | null, token: PresentedToken): Promise<string | null> {
		return (await this.subject(configured, token))?.key ?? null;
	}

	/** As `userKey`, with the e-mail address. */
	async subject(configured: Jwks | null, { user_jwt, user_key_claim }: PresentedToken): Promise<TokenSubject | null> {
		const keys = this.keySets.keysFor(configured);
		const payload = await this.#verify(user_jwt, keys);
		if (payload === null || !Object.hasOwn(payload, user_key_claim)) return null;
		const key = payload[user_key_claim];
		if (typeof key !== 'string' || key === '') return null;
		const { email, email_verified } = payload;
		return { key, email: typeof email === 'string' && email_verified !== false ? email : null };
	}

	async #verify(token: string, keys: ReturnType<KeySets['keysFor']>): Promise<JWTPayload | null> {
		const currentDate = this.clock.now();
		try {
			return (await jwtVerify(token, keys, { algorithms, clockTolerance, currentDate, requiredClaims: ['exp'] }))
				.payload;
		} catch (error) {
			if (error instanceof Failure) throw error;
			// Whatever else is wrong is wrong with the token or with the key that it names.
			return null;
		}
	}
}

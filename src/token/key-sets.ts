import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../clock.js';
import { Failure } from '../failure.js';
import { PrivateAddressError } from '../outbound/public-address.js';
import { readText } from '../outbound/read-text.js';
import type { Sender } from '../outbound/send.js';
import type { Jwks } from '../wire/general/environment.js';

/** Maximum size of a fetched key set, in bytes. */
const maxKeySetBytes = 64 * 1024;
/** Time in milliseconds before an address may be fetched again, after an unknown key or a failure. */
const cooldownMilliseconds = 30_000;
/** Maximum number of addresses whose key sets are cached. */
const maxKeySets = 1_000;

const headers = { accept: 'application/json, application/jwk-set+json', 'user-agent': 'regolith' };

/** Response from an address. */
export interface FetchedText {
	readonly status: number;
	readonly text: string;
}

/** Fetches a key set. Rejects if there is no response, or if the response is too long. */
export type Fetcher = (url: string) => Promise<FetchedText>;

/** Creates a fetcher based on `send`. */
export function createFetcher(send: Sender): Fetcher {
	return async (url) => {
		const answer = await send({ method: 'GET', url, headers });
		return { status: answer.statusCode ?? 0, text: await readText(answer, maxKeySetBytes) };
	};
}

interface RemoteKeys {
	readonly keys: JWTVerifyGetKey;
	/** Last fetch failure, and the time until which it is remembered, in milliseconds since 1970. */
	refused: { readonly failure: Failure; readonly until: number } | null;
}

/** Returns the failure for keys that are missing or malformed or cannot be fetched. */
function unusable(message: string): Failure {
	return new Failure('invalid_jwks', message);
}

/** Keys that verify user tokens. An environment's settings contain the keys, or a URL to fetch and cache them from. */
export class KeySets {
	readonly #remote = new Map<string, RemoteKeys>();
	/** Time at the last clock reading, in milliseconds since 1970. */
	#read = 0;

	constructor(
		private readonly clock: Clock,
		private readonly fetcher: Fetcher,
	) {}

	/**
	 * Returns a key lookup for an environment with this configuration. If both keys and an address are configured, uses
	 * the keys. Throws `invalid_jwks` if neither is configured. The lookup throws `invalid_jwks` if the keys cannot be
	 * fetched.
	 */
	keysFor(configured: Jwks | null): JWTVerifyGetKey {
		try {
			if (configured?.jwks) return createLocalJWKSet(configured.jwks as Parameters<typeof createLocalJWKSet>[0]);
		} catch (error) {
			if (error instanceof errors.JWKSInvalid) throw unusable("the environment's `jwks` is not a key set");
			throw error;
		}
		if (!configured?.url) throw unusable('the environment has no `jwks` to verify user tokens');
		return this.#fetched(configured.url, configured.ttl);
	}

	#fetched(url: string, ttl: number): JWTVerifyGetKey {
		this.#forgetAfterSetBack();
		const name = `${ttl} ${url}`;
		const remote = this.#remote.get(name) ?? this.#remember(name, url, ttl);
		return async (header, token) => {
			if (remote.refused !== null && remote.refused.until > this.clock.now().getTime()) throw remote.refused.failure;
			try {
				return await remote.keys(header, token);
			} catch (error) {
				if (!isFetchFailure(error)) throw error;
				remote.refused = { failure: unfetched(error), until: this.clock.now().getTime() + cooldownMilliseconds };
				throw remote.refused.failure;
			}
		};
	}

	/**
	 * Discards all fetched keys and failures if the clock was set back. Otherwise their ages would be negative until
	 * the clock catches up: removed keys would remain valid, new keys would remain unknown, and failures would not
	 * expire.
	 */
	#forgetAfterSetBack(): void {
		const now = this.clock.now().getTime();
		if (now < this.#read - cooldownMilliseconds) this.#remote.clear();
		this.#read = now;
	}

	#remember(name: string, url: string, ttl: number): RemoteKeys {
		const [oldest] = this.#remote.keys();
		if (this.#remote.size >= maxKeySets && oldest !== undefined) this.#remote.delete(oldest);
		const keys = createRemoteJWKSet(new URL(url), {
			cooldownDuration: cooldownMilliseconds,
			// Use at least the cooldown: anyone may present a token, so no environment setting may make this process
			// fetch keys for every token.
			cacheMaxAge: Math.max(ttl * 1_000, cooldownMilliseconds),
			[customFetch]: (address: string) => this.#fetch(address),
		});
		const remote = { keys, refused: null };
		this.#remote.set(name, remote);
		return remote;
	}

	async #fetch(url: string): Promise<Response> {
		try {
			const { status, text } = await this.fetcher(url);
			if (status !== 200) throw new Error(`got status ${status}`);
			return Response.json(JSON.parse(text));
		} catch (cause) {
			throw new UnfetchedError('a key set could not be fetched', { cause });
		}
	}
}

class UnfetchedError extends Error {
	override readonly name = 'UnfetchedError';
}

function isFetchFailure(error: unknown): boolean {
	return error instanceof UnfetchedError || error instanceof errors.JWKSInvalid;
}

function unfetched(error: unknown): Failure {
	if (error instanceof UnfetchedError && error.cause instanceof PrivateAddressError)
		return unusable("the environment's `jwks` URL has a non-public address (JWKS_ALLOW_PRIVATE)");
	return unusable("the keys at the environment's `jwks` URL cannot be fetched");
}

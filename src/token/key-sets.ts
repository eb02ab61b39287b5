import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../clock.js';
import { Failure } from '../failure.js';
import type { Jwks } from '../wire/environment.js';

/** How long fetching a set of keys may take, in milliseconds. */
const fetchMilliseconds = 5_000;
/** The largest set of keys that is fetched, in bytes. */
const maxKeySetBytes = 64 * 1024;
/** How long the same address is not asked again, in milliseconds: for a key that it did not have, or after a failure. */
const cooldownMilliseconds = 30_000;
/** How many addresses are remembered. */
const maxKeySets = 1_000;

/** How a set of keys is fetched. */
export type Fetcher = (url: string, init: RequestInit) => Promise<Response>;

interface RemoteKeys {
	readonly keys: JWTVerifyGetKey;
	/** Until when a failure is remembered, in milliseconds since 1970. */
	refused: number;
}

/** The failure of an environment whose keys are missing, malformed or cannot be fetched. */
function unusable(message: string): Failure {
	return new Failure('invalid_jwks', message);
}

/** The keys that sign the tokens of environments' users: those in the environment's settings, or fetched and kept. */
export class KeySets {
	readonly #remote = new Map<string, RemoteKeys>();

	constructor(
		private readonly clock: Clock,
		/** Replaces the network, for tests. */
		private readonly fetcher: Fetcher = fetch,
	) {}

	/**
	 * What finds the key of a token for an environment with this configuration: keys given there count before an address.
	 * Throws `invalid_jwks` when there are none; so does what is returned when they cannot be fetched.
	 */
	keysFor(configured: Jwks | null): JWTVerifyGetKey {
		try {
			if (configured?.jwks) return createLocalJWKSet(configured.jwks as Parameters<typeof createLocalJWKSet>[0]);
		} catch (error) {
			if (error instanceof errors.JWKSInvalid) throw unusable('the `jwks` of the environment is no set of keys');
			throw error;
		}
		if (!configured?.url) throw unusable('the environment has no `jwks` to check tokens of users with');
		return this.#fetched(configured.url, configured.ttl);
	}

	#fetched(url: string, ttl: number): JWTVerifyGetKey {
		const name = `${ttl} ${url}`;
		const remote = this.#remote.get(name) ?? this.#remember(name, url, ttl);
		return async (header, token) => {
			if (remote.refused > this.clock.now().getTime()) throw unreachable();
			try {
				return await remote.keys(header, token);
			} catch (error) {
				if (!isFetchFailure(error)) throw error;
				remote.refused = this.clock.now().getTime() + cooldownMilliseconds;
				throw unreachable();
			}
		};
	}

	#remember(name: string, url: string, ttl: number): RemoteKeys {
		const [oldest] = this.#remote.keys();
		if (this.#remote.size >= maxKeySets && oldest !== undefined) this.#remote.delete(oldest);
		const keys = createRemoteJWKSet(new URL(url), {
			timeoutDuration: fetchMilliseconds,
			cooldownDuration: cooldownMilliseconds,
			// Anyone may present a token, so no environment makes this process fetch for each of them.
			cacheMaxAge: Math.max(ttl * 1_000, cooldownMilliseconds),
			[customFetch]: (address: string, init: RequestInit) => this.#fetch(address, init),
		});
		const remote = { keys, refused: 0 };
		this.#remote.set(name, remote);
		return remote;
	}

	async #fetch(url: string, init: RequestInit): Promise<Response> {
		try {
			const response = await this.fetcher(url, init);
			if (response.status !== 200) throw new Error(`answered ${response.status}`);
			return Response.json(JSON.parse(await readBounded(response)));
		} catch (cause) {
			throw new UnfetchedError('a set of keys could not be fetched', { cause });
		}
	}
}

class UnfetchedError extends Error {
	override readonly name = 'UnfetchedError';
}

function isFetchFailure(error: unknown): boolean {
	return error instanceof UnfetchedError || error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout;
}

function unreachable(): Failure {
	return unusable('the keys at the `jwks` address of the environment cannot be fetched');
}

async function readBounded(response: Response): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of response.body ?? []) {
		bytes += chunk.byteLength;
		if (bytes > maxKeySetBytes) throw new Error(`longer than ${maxKeySetBytes} bytes`);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString();
}

import { Failure, forbidden } from '../failure.js';
import type { Caller } from './caller.js';
import type { Store } from './store.js';

const bearer = /^bearer +(\S+) *$/i;

/**
 * The caller that an `Authorization` header stands for. Throws `unauthorized` when it names no known key, `forbidden`
 * when the key has no access at all.
 */
export async function authenticate(store: Store, authorization: string | undefined): Promise<Caller> {
	const caller = await identify(store, authorization);
	if (caller.access_level === 'no_access') throw forbidden('this API key has no access');
	return caller;
}

/** As `authenticate`, but a key without any access is a caller too: for what a key may know of itself. */
export async function identify(store: Store, authorization: string | undefined): Promise<Caller> {
	const secret = bearer.exec(authorization ?? '')?.[1];
	if (secret === undefined) {
		throw new Failure('unauthorized', 'send the API key in the header `Authorization: Bearer <API key>`');
	}
	const caller = await store.caller(secret);
	if (caller === null) throw new Failure('unauthorized', 'this API key is not known');
	return caller;
}

import { Failure, forbidden } from '../failure.js';
import type { Caller } from './caller.js';
import type { Entrance, Visit } from './entrance.js';
import type { Store } from './store.js';

const bearer = /^bearer +(\S+) *$/i;

/**
 * The caller that an `Authorization` header stands for. Throws `unauthorized` when it names no known key, `forbidden`
 * when the key has no access at all.
 */
export async function authenticate(store: Store, authorization: string | undefined): Promise<Caller> {
	const caller = await identify(store, authorization);
	refuseNoAccess(caller);
	return caller;
}

/** As `authenticate`, but a key without any access is a caller too: for what a key may know of itself. */
export async function identify(store: Store, authorization: string | undefined): Promise<Caller> {
	const caller = await store.caller(secretIn(authorization));
	if (caller === null) throw new Failure('unauthorized', 'this API key is not known');
	return caller;
}

/**
 * Finds who calls and which environment they mean, refusing as `authenticate` does and then as `refuse` does. `null`
 * where that takes a closer look: see `entranceOf`.
 */
export async function enter(
	store: Store,
	authorization: string | undefined,
	place: Omit<Visit, 'secret'>,
	refuse: (caller: Caller) => void,
): Promise<Entrance | null> {
	const entrance = await store.entrance({ ...place, secret: secretIn(authorization) });
	if (entrance === null) return null;
	refuseNoAccess(entrance.caller);
	refuse(entrance.caller);
	return entrance;
}

function secretIn(authorization: string | undefined): string {
	const secret = bearer.exec(authorization ?? '')?.[1];
	if (secret !== undefined) return secret;
	throw new Failure('unauthorized', 'send the API key in the header `Authorization: Bearer <API key>`');
}

function refuseNoAccess({ access_level }: Caller): void {
	if (access_level === 'no_access') throw forbidden('this API key has no access');
}

import { Failure, forbidden } from '../../failure.js';
import type { ShownConsoleSession } from '../session/console-sessions.js';
import type { Store } from '../store.js';
import type { Caller } from './caller.js';
import type { AccessRequest, EnvironmentAccess } from './environment-access.js';

const bearer = /^bearer +(\S+) *$/i;

/** What of a request says who asks. */
export interface Credentials {
	/** The `Authorization` header. */
	readonly authorization: string | undefined;
	/** The session of the console in place of that; absent where a request has the header, or shows no session. */
	readonly session?: ShownConsoleSession;
}

/**
 * The caller that credentials stand for. Throws `unauthorized` when the header names no known key, `signed_out` when the
 * session has ended, and `forbidden` when the key has no access at all.
 */
export async function authenticate(store: Store, credentials: Credentials): Promise<Caller> {
	const caller = await identify(store, credentials);
	refuseNoAccess(caller);
	return caller;
}

/** As `authenticate`, but accepts a key without any access: for what a key may know of itself. */
export async function identify(store: Store, { authorization, session }: Credentials): Promise<Caller> {
	if (session !== undefined) return store.consoleSessions.identify(session);
	const caller = await store.caller(secretIn(authorization));
	if (caller === null) throw new Failure('unauthorized', 'this API key is unknown');
	return caller;
}

/**
 * What `identified` finds. Where that refuses the key because its environment was deleted lately, throws
 * `environment_deleted` instead; with `environmentId`, only where it was that environment.
 */
export async function unlessDeleted(
	store: Store,
	authorization: string | undefined,
	identified: () => Promise<Caller>,
	environmentId?: string,
): Promise<Caller> {
	try {
		return await identified();
	} catch (error) {
		const secret = bearerSecret(authorization);
		if (!(error instanceof Failure) || error.code !== 'unauthorized' || secret === null) throw error;
		const deleted = await store.findDeletedEnvironment(secret);
		if (deleted === null || deleted !== (environmentId ?? deleted)) throw error;
		throw new Failure('environment_deleted', `the environment \`${deleted}\` of this API key was deleted`);
	}
}

/**
 * Finds the caller and the environment that a request names, refusing as `authenticate` does and then as `refuse` does.
 * `null` where that takes a closer look: see `findAccess`; and for sessions, which are few.
 */
export async function authenticateInEnvironment(
	store: Store,
	{ authorization, session }: Credentials,
	place: Omit<AccessRequest, 'secret'>,
	refuse: (caller: Caller) => void,
): Promise<EnvironmentAccess | null> {
	if (session !== undefined) return null;
	const access = await store.findAccess({ ...place, secret: secretIn(authorization) });
	if (access === null) return null;
	refuseNoAccess(access.caller);
	refuse(access.caller);
	return access;
}

/** The secret in an `Authorization` header; `null` without one. */
export function bearerSecret(authorization: string | undefined): string | null {
	return bearer.exec(authorization ?? '')?.[1] ?? null;
}

function secretIn(authorization: string | undefined): string {
	const secret = bearerSecret(authorization);
	if (secret !== null) return secret;
	throw new Failure('unauthorized', 'send the API key in the header `Authorization: Bearer <API key>`');
}

/** Refuses a key that may only ask what it is of. Throws `forbidden`. */
export function refuseNoAccess({ access_level }: Caller): void {
	if (access_level === 'no_access') throw forbidden('this API key has no access');
}

import { Failure, forbidden } from '../../failure.js';
import type { ShownConsoleSession } from '../session/console-sessions.js';
import type { Store } from '../store.js';
import type { Caller } from './caller.js';
import type { AccessRequest, EnvironmentAccess } from './environment-access.js';

const bearer = /^bearer +(\S+) *$/i;

/** Credentials in a request. */
export interface Credentials {
	/** The `Authorization` header. */
	readonly authorization: string | undefined;
	/** Console session, used instead of the header. Absent if the request has the header, or has no session. */
	readonly session?: ShownConsoleSession;
	/** `X-Console-Confirm` header. Read only for console sessions. */
	readonly confirmation?: string | undefined;
}

/**
 * Returns the caller with these credentials. Throws `unauthorized` for an unknown key, `signed_out` for an ended
 * session, and `forbidden` for a key without access.
 */
export async function authenticate(store: Store, credentials: Credentials): Promise<Caller> {
	const caller = await identify(store, credentials);
	refuseNoAccess(caller);
	return caller;
}

/** Like `authenticate`, but also accepts a key without access, for requests about the key itself. */
export async function identify(store: Store, { authorization, session, confirmation }: Credentials): Promise<Caller> {
	if (session !== undefined) {
		const caller = await store.consoleSessions.identify(session);
		return confirmation === undefined ? caller : { ...caller, session_confirmation: confirmation };
	}
	const caller = await store.caller(secretIn(authorization));
	if (caller === null) throw new Failure('unauthorized', 'this API key is unknown');
	return caller;
}

/**
 * Returns the caller from `identified`. If the key is rejected because its environment was deleted recently, throws
 * `environment_deleted` instead of `unauthorized`. If `environmentId` is passed, does so only if it is the id of the
 * deleted environment.
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
		throw new Failure('environment_deleted', `this API key's environment \`${deleted}\` was deleted`);
	}
}

/**
 * Returns the caller and the requested environment. Throws like `authenticate`, then like `refuse`. Returns `null` if
 * `findAccess` does, and for all console sessions: they are rare and need no fast path.
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

/** Returns the secret in an `Authorization` header, or `null` if it contains none. */
export function bearerSecret(authorization: string | undefined): string | null {
	return bearer.exec(authorization ?? '')?.[1] ?? null;
}

function secretIn(authorization: string | undefined): string {
	const secret = bearerSecret(authorization);
	if (secret !== null) return secret;
	throw new Failure('unauthorized', 'send the API key in the header `Authorization: Bearer <API key>`');
}

/** Throws `forbidden` if the key has no access. */
export function refuseNoAccess({ access_level }: Caller): void {
	if (access_level === 'no_access') throw forbidden('this API key has no access');
}

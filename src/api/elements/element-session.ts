import { Failure, notFound } from '../../failure.js';
import type { AnyRequest } from '../../http/received-request.js';
import { requestOrigin } from '../../http/request-origin.js';
import { bearerSecret } from '../../store/account/authenticate.js';
import { type ElementSession, signedOut } from '../../store/session/element-entrance.js';
import type { Store } from '../../store/store.js';
import type { Environment } from '../../store/table/account.js';
import { asId } from '../../wire/common.js';
import { elementSettings } from '../../wire/general/environment.js';
import { sessionCookie } from './session-cookie.js';

/** Sign-in secret in a request. */
export interface ShownSecret {
	readonly kind: 'bearer' | 'cookie';
	readonly secret: string;
}

type Shown = Pick<AnyRequest, 'headers' | 'cookie'>;

/**
 * Returns the bearer token from a request, or else the cookie; `null` if the request has neither. If the request has an
 * `Authorization` header, the cookie is ignored.
 */
export function shownSecret({ headers, cookie }: Shown): ShownSecret | null {
	const authorization = headers['authorization'];
	const secret = authorization === undefined ? cookie(sessionCookie) : bearerSecret(authorization);
	if (!secret) return null;
	return { kind: authorization === undefined ? 'cookie' : 'bearer', secret };
}

/** Session lookups, keyed by request headers, so the origin check and the access check share a lookup. */
const known = new WeakMap<Shown['headers'], Promise<ElementSession | null>>();

/** Finds the session for a request; `null` if no user is signed in. Each request is looked up once. */
export function findElementSession(store: Store, request: Shown): Promise<ElementSession | null> {
	const found = known.get(request.headers) ?? lookUp(store, request);
	known.set(request.headers, found);
	return found;
}

async function lookUp(store: Store, request: Shown): Promise<ElementSession | null> {
	const shown = shownSecret(request);
	return shown === null ? null : store.entrance.find(shown.kind, shown.secret);
}

/** Returns the session for a request. Throws `signed_out`, with the same message for every reason. */
export async function requireElementSession(store: Store, request: Shown): Promise<ElementSession> {
	const session = await findElementSession(store, request);
	if (session === null) throw signedOut();
	return session;
}

/** Rejects a path outside the session's environment as if the path did not exist. Throws `not_found`. */
export async function requireOwnPath(
	store: Store,
	{ environment, project_key }: ElementSession,
	{ proj_id, env_id }: { readonly proj_id: string; readonly env_id: string },
): Promise<void> {
	if (asId(proj_id) === environment.project_id && asId(env_id) === environment.id) return;
	if (asId(proj_id) === null && asId(env_id) === null) {
		if (proj_id === project_key && env_id === environment.key) return;
	} else {
		// A reference in id format may still be a key, unless an object has this id.
		const place = await store.account(environment.organization_id).findPlace(proj_id, env_id);
		if (place?.environment_id === environment.id) return;
	}
	throw notFound('Environment', env_id);
}

/**
 * Rejects a write that a foreign site triggered in a browser. The browser sends the cookie automatically, together with
 * the page's origin. A bearer token is sent only if the page adds it. Throws `foreign_origin`.
 */
export function refuseForgedWrite(request: Shown, environment: Environment): void {
	if (shownSecret(request)?.kind === 'bearer') return;
	const { origin } = request.headers;
	if (origin === undefined || !mayAsk(origin, request, environment)) throw foreignOrigin();
}

/** Rejects a sign-in from an origin that the environment does not allow. Throws `foreign_origin`. */
export function refuseForeignPage(request: Shown, environment: Environment): void {
	const { origin } = request.headers;
	// Clients other than browsers send no origin and store no cookies to abuse.
	if (origin !== undefined && !mayAsk(origin, request, environment)) throw foreignOrigin();
}

function mayAsk(origin: string, { headers }: Shown, { settings }: Environment): boolean {
	return origin === requestOrigin(headers) || elementSettings(settings).origins.includes(origin);
}

function foreignOrigin(): Failure {
	return new Failure('foreign_origin', "the origin of this page is not in the environment's `elements_origins`");
}

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

/** What a request shows of who is signed in. */
export interface ShownSecret {
	readonly kind: 'bearer' | 'cookie';
	readonly secret: string;
}

/** The headers and cookies of a request. */
type Shown = Pick<AnyRequest, 'headers' | 'cookie'>;

/**
 * The bearer token or else the cookie of a request; `null` when it has neither. A request with an `Authorization` header
 * is judged by that alone.
 */
export function shownSecret({ headers, cookie }: Shown): ShownSecret | null {
	const authorization = headers['authorization'];
	const secret = authorization === undefined ? cookie(sessionCookie) : bearerSecret(authorization);
	if (!secret) return null;
	return { kind: authorization === undefined ? 'cookie' : 'bearer', secret };
}

/** Who each request is known to come from, by its headers: its origin is judged by that first, then what it may do. */
const known = new WeakMap<Shown['headers'], Promise<ElementSession | null>>();

/** Who is signed in, going by a request; `null` when nobody is. Of one request it is looked up once. */
export function findElementSession(store: Store, request: Shown): Promise<ElementSession | null> {
	const found = known.get(request.headers) ?? lookUp(store, request);
	known.set(request.headers, found);
	return found;
}

async function lookUp(store: Store, request: Shown): Promise<ElementSession | null> {
	const shown = shownSecret(request);
	return shown === null ? null : store.entrance.find(shown.kind, shown.secret);
}

/** Who is signed in. Throws `signed_out`, in the same words for every reason. */
export async function requireElementSession(store: Store, request: Shown): Promise<ElementSession> {
	const session = await findElementSession(store, request);
	if (session === null) throw signedOut();
	return session;
}

/**
 * Refuses a path that is about another environment than the session, as if that did not exist. Throws `not_found`.
 */
export async function requireOwnPath(
	store: Store,
	{ environment, project_key }: ElementSession,
	{ proj_id, env_id }: { readonly proj_id: string; readonly env_id: string },
): Promise<void> {
	if (asId(proj_id) === environment.project_id && asId(env_id) === environment.id) return;
	if (asId(proj_id) === null && asId(env_id) === null) {
		if (proj_id === project_key && env_id === environment.key) return;
	} else {
		// What looks like an id may be a key, unless it is the id of something.
		const place = await store.account(environment.organization_id).findPlace(proj_id, env_id);
		if (place?.environment_id === environment.id) return;
	}
	throw notFound('Environment', env_id);
}

/**
 * Refuses a write that another site made a browser send: a browser adds the cookie by itself, and says where the page is
 * from. A bearer token is added by the page alone. Throws `foreign_origin`.
 */
export function refuseForgedWrite(request: Shown, environment: Environment): void {
	if (shownSecret(request)?.kind === 'bearer') return;
	const { origin } = request.headers;
	if (origin === undefined || !mayAsk(origin, request, environment)) throw foreignOrigin();
}

/** Refuses a sign-in from a page of an origin that the environment does not name. Throws `foreign_origin`. */
export function refuseForeignPage(request: Shown, environment: Environment): void {
	const { origin } = request.headers;
	// Other clients than browsers send none; they have no cookies that somebody else could use.
	if (origin !== undefined && !mayAsk(origin, request, environment)) throw foreignOrigin();
}

function mayAsk(origin: string, { headers }: Shown, { settings }: Environment): boolean {
	return origin === requestOrigin(headers) || elementSettings(settings).origins.includes(origin);
}

function foreignOrigin(): Failure {
	return new Failure('foreign_origin', 'the environment does not name the origin of this page in `elements_origins`');
}

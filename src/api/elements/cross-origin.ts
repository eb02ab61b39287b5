import type { CrossOrigin, CrossOriginRequest } from '../../http/cross-origin.js';
import type { Store } from '../../store/store.js';
import type { Environment } from '../../store/table/account.js';
import { elementSettings } from '../../wire/general/environment.js';
import { findElementSession } from './element-session.js';

/** Not the console, whose sessions are for pages of this server alone. */
const concerned = /^\/v2\/(auth\/(?!console$)|elements\/)/;
const ofEnvironment = /^\/v2\/auth\/([^/]+)\/(elements_fe_login_as$|user_invites\/)/;

/**
 * Lets pages of the origins that an environment names call what users of elements call (CORS). The environment is the
 * one of the path of a sign-in or an invite, or of the session. Where a request shows neither, as preflights do, an origin that any
 * environment names will do: nothing of an environment is in the answer.
 */
export function elementOrigins(store: Store): CrossOrigin {
	return {
		concerns: (path) => concerned.test(path),
		allows: async (request) => {
			const environment = await findAskedEnvironment(store, request);
			if (environment === undefined) return store.entrance.isEmbedded(request.origin);
			return environment !== null && elementSettings(environment.settings).origins.includes(request.origin);
		},
	};
}

/** The environment that a request is about; `null` when that does not exist, undefined when it does not say. */
async function findAskedEnvironment(
	store: Store,
	request: CrossOriginRequest,
): Promise<Environment | null | undefined> {
	const named = ofEnvironment.exec(request.path)?.[1];
	if (named !== undefined) return store.entrance.findEnvironment(named);
	return (await findElementSession(store, request))?.environment;
}

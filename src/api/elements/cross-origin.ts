import type { CrossOrigin, CrossOriginRequest } from '../../http/cross-origin.js';
import type { Store } from '../../store/store.js';
import type { Environment } from '../../store/table/account.js';
import { elementSettings } from '../../wire/general/environment.js';
import { findElementSession } from './element-session.js';

/** Excludes the console, whose sessions are only for pages on this server. */
const concerned = /^\/v2\/(auth\/(?!console$)|elements\/)/;
const ofEnvironment = /^\/v2\/auth\/([^/]+)\/(elements_fe_login_as$|user_invites\/)/;

/**
 * Allows element calls from an environment's origins (CORS). The environment comes from the sign-in or invite path, or
 * from the session. Requests without both, such as preflights, may come from an allowed origin in any environment,
 * because the answer reveals nothing about an environment.
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

/** Finds the environment for a request; `null` if it does not exist, undefined if the request names none. */
async function findAskedEnvironment(
	store: Store,
	request: CrossOriginRequest,
): Promise<Environment | null | undefined> {
	const named = ofEnvironment.exec(request.path)?.[1];
	if (named !== undefined) return store.entrance.findEnvironment(named);
	return (await findElementSession(store, request))?.environment;
}

import type { CrossOrigin, CrossOriginRequest } from '../../http/cross-origin.js';
import type { Store } from '../../store/store.js';
import type { Environment } from '../../store/table/account.js';
import { elementSettings } from '../../wire/general/environment.js';
import { findElementSession } from './element-session.js';

/** Excludes the console, because its sessions are only for pages on this server. */
const concerned = /^\/v2\/(auth\/(?!console$)|elements\/)/;
const ofEnvironment = /^\/v2\/auth\/([^/]+)\/(elements_fe_login_as$|user_invites\/)/;

/**
 * Allows element calls from an environment's origins (CORS). The environment comes from the sign-in or invite path, or
 * from the session. Some requests, such as preflights, have neither the path nor a session. They may come from an
 * origin allowed by any environment, because the response reveals nothing about an environment.
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

/**
 * Finds the environment for a request. Returns `null` if the environment does not exist, and `undefined` if the request
 * does not identify an environment.
 */
async function findAskedEnvironment(
	store: Store,
	request: CrossOriginRequest,
): Promise<Environment | null | undefined> {
	const named = ofEnvironment.exec(request.path)?.[1];
	if (named !== undefined) return store.entrance.findEnvironment(named);
	return (await findElementSession(store, request))?.environment;
}

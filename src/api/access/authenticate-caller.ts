import { forbidden } from '../../failure.js';
import { parsePart } from '../../http/mount.js';
import type { AccountUnit } from '../../store/account/account.js';
import { authenticate, authenticateInEnvironment } from '../../store/account/authenticate.js';
import { type Caller, requireInSession } from '../../store/account/caller.js';
import type { Environment } from '../../store/table/account.js';
import { EnvironmentPath, type InEnvironment, refuseReader, requireAdmin } from '../access.js';
import { readCredentials } from '../console/credentials.js';
import type { Visit } from './access-rule.js';

/** Levels of API keys. */
type Levels = readonly Caller['object_type'][];

/** Finds the caller. Throws `unauthenticated`, and `forbidden` for keys without access. */
export function authenticateCaller({ store, request }: Visit): Promise<Caller> {
	return authenticate(store, readCredentials(request));
}

/** Finds the caller. Throws `forbidden` for read-only callers and for keys at a different level. */
export async function authenticateWriter(visit: Visit, levels: Levels): Promise<Caller> {
	const caller = await authenticateCaller(visit);
	refuseReader(caller);
	refuseOtherLevels(caller, levels);
	return caller;
}

/** Finds the caller. Throws `forbidden` for access levels below `admin`. */
export async function authenticateAdmin(visit: Visit): Promise<Caller> {
	const caller = await authenticateCaller(visit);
	requireAdmin(caller);
	return caller;
}

/** Throws `forbidden` for keys at a different level. */
export function refuseOtherLevels({ object_type }: Caller, levels: Levels): void {
	if (levels.includes(object_type)) return;
	throw forbidden(`this requires an API key of the level ${levels.join(' or ')}`);
}

/** Like `authenticateWriter`, for writes outside environments. Throws `forbidden` for console sessions. */
export async function authenticateOrganizationWriter(visit: Visit, levels: Levels): Promise<Caller> {
	const caller = await authenticateWriter(visit, levels);
	requireInSession(caller, 'organization');
	return caller;
}

/** Finds the caller and the environment in the path. Uses a single statement unless it rejects the request. */
export async function authenticateInPath(
	visit: Visit,
	refuse: (caller: Caller) => void = () => {},
): Promise<InEnvironment> {
	const { store, request } = visit;
	const place = EnvironmentPath.safeParse(request.params);
	if (place.success) {
		const named = { project: place.data.proj_id, environment: place.data.env_id };
		const entered = await authenticateInEnvironment(store, readCredentials(request), named, refuse);
		if (entered !== null) return entered;
	}
	const caller = await authenticateCaller(visit);
	refuse(caller);
	return { caller, environment: await findEnvironment(visit, caller) };
}

/** Finds the environment in the path, through `account` or outside a transaction. Throws `not_found`. */
export async function findEnvironment(
	{ store, request }: Visit,
	caller: Caller,
	account: AccountUnit = store.account(caller.organization_id),
): Promise<Environment> {
	const { proj_id, env_id } = await parsePart(EnvironmentPath, 'path', request.params);
	return account.environment(caller, proj_id, env_id);
}

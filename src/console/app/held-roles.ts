import type { HeldRole } from '../model/held-role.js';
import { answered, management } from './api.js';
import { environmentPath } from './session.js';

export interface HeldRoles {
	readonly data: readonly HeldRole[];
	/** True if the list may be incomplete. */
	readonly truncated: boolean;
}

/** Reads a user's roles and their sources, in all tenants or in one tenant. */
export async function readHeldRoles(user: string, tenant: string | null, signal: AbortSignal): Promise<HeldRoles> {
	return answered(
		management.GET('/v2/facts/{proj_id}/{env_id}/users/{user_id}/effective_roles', {
			params: { path: { ...environmentPath(), user_id: user }, query: tenant === null ? {} : { tenant } },
			signal,
		}),
	);
}

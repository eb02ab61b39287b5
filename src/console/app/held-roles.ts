import type { HeldRole } from '../model/held-role.js';
import { answered, management } from './api.js';
import { environmentPath } from './session.js';

/** The roles of a user. */
export interface HeldRoles {
	readonly data: readonly HeldRole[];
	/** Whether there may be more. */
	readonly truncated: boolean;
}

/** Which roles a user holds, and where each comes from; only in one tenant where that is named. */
export async function readHeldRoles(user: string, tenant: string | null, signal: AbortSignal): Promise<HeldRoles> {
	return answered(
		management.GET('/v2/facts/{proj_id}/{env_id}/users/{user_id}/effective_roles', {
			params: { path: { ...environmentPath(), user_id: user }, query: tenant === null ? {} : { tenant } },
			signal,
		}),
	);
}

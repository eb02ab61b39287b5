import type { components } from '#management-api';
import type { HeldRole } from '../model/held-role.js';
import { management } from './api.js';

export interface HeldRoles {
	readonly data: readonly HeldRole[];
	/** True if the list may be incomplete. */
	readonly truncated: boolean;
}

/** Reads a user's roles and their sources, in all tenants or in one tenant. */
export async function readHeldRoles(user: string, tenant: string | null, signal: AbortSignal): Promise<HeldRoles> {
	return management.get('/v2/facts/{proj_id}/{env_id}/users/{user_id}/effective_roles', {
		path: { user_id: user },
		query: tenant === null ? {} : { tenant },
		signal,
	});
}

/** Assignments per page: the API's maximum. */
const per_page = 100;

/**
 * Reads a user's conditional role assignments, in all tenants or in one tenant. Effective roles do not contain them.
 */
export async function readConditionalRoles(
	user: string,
	tenant: string | null,
	signal: AbortSignal,
): Promise<HeldRoles> {
	const query = { user: [user], conditional: true, per_page, ...(tenant !== null && { tenant: [tenant] }) };
	const found = await management.get('/v2/facts/{proj_id}/{env_id}/role_assignments', { query, signal });
	// The query requests neither details nor counts, so the response is a plain list.
	const data = found as readonly components['schemas']['RoleAssignmentRead'][];
	return {
		data: data.map((row) => ({ ...row, source: 'direct', through: [] })),
		truncated: data.length === per_page,
	};
}

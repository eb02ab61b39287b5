import type { ActingUser } from '../../domain/element/level.js';
import type { ElementSession } from '../../store/session/element-entrance.js';

/** Returns the acting user in an element: the session's user in the session's tenant. */
export function sessionActor({ user, tenant }: ElementSession): ActingUser {
	return { user_id: user.id, tenant_id: tenant.id };
}

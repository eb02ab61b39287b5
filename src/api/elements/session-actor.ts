import type { ActingUser } from '../../domain/element/level.js';
import type { ElementSession } from '../../store/session/element-entrance.js';

/** Who acts in an element: the user who is signed in, in the tenant of the session. */
export function sessionActor({ user, tenant }: ElementSession): ActingUser {
	return { user_id: user.id, tenant_id: tenant.id };
}

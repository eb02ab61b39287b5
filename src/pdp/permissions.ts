/** What a user may do, over all tenants: listed by the policy, put in order here. */

import { z } from 'zod';
import { Failure } from '../failure.js';
import { UserPermissions } from '../wire/check.js';
import type { Engine } from './engine.js';
import type { PermissionsInput } from './normalise.js';

const entrypoint = 'regolith/listing/user_permissions';

/**
 * Lists the permissions of a user; one who does not exist has none. Objects, permissions and roles come sorted by code
 * unit, because the engine lists in hash order. Throws `Failure` (`unavailable`) when the policy gives no listing.
 */
export function permissions(engine: Engine, input: PermissionsInput): UserPermissions {
	const listed = UserPermissions.safeParse(engine.evaluate(entrypoint, input));
	if (!listed.success) throw new Failure('unavailable', `the policy gave no listing: ${z.prettifyError(listed.error)}`);
	const entries = Object.entries(listed.data).map(
		([id, entry]) =>
			[id, { ...entry, permissions: entry.permissions.toSorted(), roles: entry.roles.toSorted() }] as const,
	);
	return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

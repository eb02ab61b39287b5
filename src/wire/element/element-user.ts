import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { boundedArray } from '../bounded.js';
import { defaulted, Name, optional, Reference, UserKey, Uuid } from '../common.js';
import { Email } from '../email.js';
import { UserRead } from '../facts/user.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { pageShape, Search } from '../query.js';
import { expiryShape, granting } from '../schema/granting.js';
import { PermissionLevel } from './elements-config.js';
import { UserInviteRead } from './user-invite.js';

/** User management through elements: requests and responses. */

const onInstance = {
	resource_instance_id: Reference.optional().meta({
		description: 'Resource instance whose users are managed: id, or `<resource key>:<instance key>`.',
	}),
};

/** Scope for a request about users: this instance, or the session's tenant. */
export const ElementPlaceQuery = z.object(onInstance);

/** Filters for the users or roles in an element. */
export const ElementUserQuery = z.object({
	search: Search.describe('Part of the key, name or e-mail address; with `*`, a pattern for the whole value.'),
	...onInstance,
	...pageShape,
});

/** Instance in a body. Null is treated as absent. */
const placeInBody = {
	resource_instance_id: optional(Reference).describe(
		'Instance whose users are managed: id, or `<resource ' + 'key>:<instance key>`. Defaults to the session tenant.',
	),
};

export const ElementUserCreate = granting(
	{
		key: UserKey.describe('User key, as used in checks.'),
		email: optional(Email).describe('E-mail address.'),
		first_name: optional(Name).describe('First name.'),
		last_name: optional(Name).describe('Last name.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe(
			'Attributes for conditions to compare; none by default.',
		),
		role: optional(Reference).describe('The single role to assign: id or key.'),
		role_assignments: optional(boundedArray(z.unknown(), 0, 'must be empty: pass the role as `role`')).describe(
			'Must be empty: pass the role as `role`.',
		),
		...placeInBody,
		...expiryShape,
	},
	['roles', 'associated_tenants'],
).meta({
	id: 'ElementsUserCreate',
	description: 'A user to add, with a single role; `expires_at` is the role expiry.',
});
export type ElementUserCreate = z.output<typeof ElementUserCreate>;

export const ElementRoleAssign = granting({
	role: Reference.describe('Role to assign: id or key.'),
	...placeInBody,
	...expiryShape,
}).meta({ id: 'ElementsUserRoleAssign', description: 'A role to assign to the user in the path.' });
export type ElementRoleAssign = z.output<typeof ElementRoleAssign>;

export const ElementRoleUnassign = named('ElementsUserRoleUnassign', 'The role to remove from the user in the path.', {
	role: Reference.describe('Role to remove: id or key.'),
	...placeInBody,
});

/** Element users, including invited users. */
export const ElementUserPage = paginated(UserRead);

/** The added user, or an invite if the element sends invites. */
export const ElementUserAdded = z.union([UserRead, UserInviteRead]);

export const ElementRoleRead = named('ElementsRoleRead', 'A role, as shown in an element.', {
	id: Uuid.describe('Role id.'),
	key: z.string().describe('Role key.'),
	name: z.string().describe('Display name.'),
	permission_level: PermissionLevel.describe('Role permissions in the element.'),
});
export type ElementRoleRead = z.input<typeof ElementRoleRead>;

/** Filters for the decisions shown in an element. */
export const ElementAuditLogQuery = z.object({
	search: Search.describe('Part of the user, resource or action key; with `*`, a pattern for the whole key.'),
	...onInstance,
	...pageShape,
});

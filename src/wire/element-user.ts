import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { boundedArray } from './bounded.js';
import { defaulted, Name, optional, Reference, UserKey, Uuid } from './common.js';
import { PermissionLevel } from './elements-config.js';
import { Email } from './email.js';
import { expiryShape, granting } from './granting.js';
import { paginated } from './list.js';
import { pageShape, Search } from './query.js';
import { UserRead } from './user.js';
import { UserInviteRead } from './user-invite.js';

/** What users of elements who manage other users send and get (contract: Elements). */

const onInstance = {
	resource_instance_id: Reference.optional().meta({
		description: 'The resource instance whose users are managed: an id, or `<resource key>:<instance key>`.',
	}),
};

/** Where a request is about users: on this instance, or in the tenant of the session. */
export const ElementPlaceQuery = z.object(onInstance);

/** Which users or roles of an element a list asks for. */
export const ElementUserQuery = z.object({ search: Search, ...onInstance, ...pageShape });
export type ElementUserQuery = z.output<typeof ElementUserQuery>;

/** The instance in a body; null and absence are the same. */
const placeInBody = { resource_instance_id: optional(Reference) };

/** A user to add, with the one role that they get; `expires_at` is the end of that. */
export const ElementUserCreate = granting(
	{
		key: UserKey,
		email: optional(Email),
		first_name: optional(Name),
		last_name: optional(Name),
		attributes: defaulted(ComparedAttributes, () => ({})),
		role: optional(Reference),
		role_assignments: optional(boundedArray(z.unknown(), 0, 'must be empty: name the role as `role`')),
		...placeInBody,
		...expiryShape,
	},
	['roles', 'associated_tenants'],
).meta({ id: 'ElementsUserCreate' });
export type ElementUserCreate = z.output<typeof ElementUserCreate>;

/** A role to give to the user in the path. */
export const ElementRoleAssign = granting({ role: Reference, ...placeInBody, ...expiryShape }).meta({
	id: 'ElementsUserRoleAssign',
});
export type ElementRoleAssign = z.output<typeof ElementRoleAssign>;

/** The role to take from the user in the path. */
export const ElementRoleUnassign = z
	.object({ role: Reference, ...placeInBody })
	.meta({ id: 'ElementsUserRoleUnassign' });
export type ElementRoleUnassign = z.output<typeof ElementRoleUnassign>;

/** Users of an element, and who was invited. */
export const ElementUserPage = paginated(UserRead);

/** Who was added: a user, or an invite where the element invites. */
export const ElementUserAdded = z.union([UserRead, UserInviteRead]);

/** A role as an element shows it. */
export const ElementRoleRead = z
	.object({ id: Uuid, key: z.string(), name: z.string(), permission_level: PermissionLevel })
	.meta({ id: 'ElementsRoleRead' });
export type ElementRoleRead = z.input<typeof ElementRoleRead>;

/** Which decisions an element asks for. */
export const ElementAuditLogQuery = z.object({ search: Search, ...onInstance, ...pageShape });

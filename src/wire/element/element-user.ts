import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { boundedArray } from '../bounded.js';
import { defaulted, Name, optional, Reference, UserKey, Uuid } from '../common.js';
import { Email } from '../email.js';
import { UserRead } from '../facts/user.js';
import { paginated } from '../list.js';
import { pageShape, Search } from '../query.js';
import { expiryShape, granting } from '../schema/granting.js';
import { PermissionLevel } from './elements-config.js';
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
export const ElementUserQuery = z.object({
	search: Search.describe('Part of the key, the name or the e-mail address; with `*` a pattern for the whole.'),
	...onInstance,
	...pageShape,
});
export type ElementUserQuery = z.output<typeof ElementUserQuery>;

/** The instance in a body; null and absence are the same. */
const placeInBody = {
	resource_instance_id: optional(Reference).describe(
		'The instance on which users are managed: its id, or `<resource key>:<instance key>`. The tenant of the ' +
			'session when left out.',
	),
};

/** A user to add, with the one role that they get; `expires_at` is the end of that. */
export const ElementUserCreate = granting(
	{
		key: UserKey.describe('The key of the user, which checks name.'),
		email: optional(Email).describe('The e-mail address.'),
		first_name: optional(Name).describe('The first name.'),
		last_name: optional(Name).describe('The last name.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe(
			'Attributes for conditions to compare; none when left out.',
		),
		role: optional(Reference).describe('The one role that the user gets: its id or key.'),
		role_assignments: optional(boundedArray(z.unknown(), 0, 'must be empty: name the role as `role`')).describe(
			'May only be empty: the role is named as `role`.',
		),
		...placeInBody,
		...expiryShape,
	},
	['roles', 'associated_tenants'],
).meta({
	id: 'ElementsUserCreate',
	description: 'A user to add, with the one role that they get; `expires_at` is the end of that.',
});
export type ElementUserCreate = z.output<typeof ElementUserCreate>;

/** A role to give to the user in the path. */
export const ElementRoleAssign = granting({
	role: Reference.describe('The role to give: its id or key.'),
	...placeInBody,
	...expiryShape,
}).meta({
	id: 'ElementsUserRoleAssign',
	description: 'A role to give to the user in the path.',
});
export type ElementRoleAssign = z.output<typeof ElementRoleAssign>;

/** The role to take from the user in the path. */
export const ElementRoleUnassign = z
	.object({ role: Reference.describe('The role to take: its id or key.'), ...placeInBody })
	.meta({ id: 'ElementsUserRoleUnassign', description: 'The role to take from the user in the path.' });
export type ElementRoleUnassign = z.output<typeof ElementRoleUnassign>;

/** Users of an element, and who was invited. */
export const ElementUserPage = paginated(UserRead);

/** Who was added: a user, or an invite where the element invites. */
export const ElementUserAdded = z.union([UserRead, UserInviteRead]);

/** A role as an element shows it. */
export const ElementRoleRead = z
	.object({
		id: Uuid.describe('The id of the role.'),
		key: z.string().describe('The key of the role.'),
		name: z.string().describe('A name for people.'),
		permission_level: PermissionLevel.describe('What the role may do in the element.'),
	})
	.meta({ id: 'ElementsRoleRead', description: 'A role as an element shows it.' });
export type ElementRoleRead = z.input<typeof ElementRoleRead>;

/** Which decisions an element asks for. */
export const ElementAuditLogQuery = z.object({
	search: Search.describe('Part of the key of the user, the resource or the action; with `*` a pattern for the whole.'),
	...onInstance,
	...pageShape,
});

import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { clearable, defaulted, environmentObject, Name, optional, Timestamp, UserKey, Uuid } from '../common.js';
import { Email } from '../email.js';
import { named } from '../named.js';
import { pageShape, References, Search } from '../query.js';
import { Expiry, granting } from '../schema/granting.js';

/** Invite state. `approved` means that the invite has become a user. */
export const UserInviteStatus = z.enum(['pending', 'approved']);

/**
 * Time until which an invite can be approved. Its name is not `expires_at`, because `expires_at` limits a role in other
 * grant bodies. If invites accepted `expires_at`, a client that wants a temporary role would get a permanent role.
 */
const InviteExpiry = Expiry.describe('Time until which the invite can be approved. Absent or null: no limit.');
const endShape = {
	invite_expires_at: optional(InviteExpiry).describe(
		'Time until which the invite can be approved. Absent or null: no limit.',
	),
};

export const UserInviteCreate = granting({
	key: UserKey.describe('Key for the future user, as used in checks.'),
	status: defaulted(UserInviteStatus, () => 'pending' as const).describe(
		'Invite state; defaults to `pending`. Setting it creates no user.',
	),
	email: Email.describe('E-mail address of the invited user.'),
	first_name: optional(Name).describe('First name.'),
	last_name: optional(Name).describe('Last name.'),
	role_id: Uuid.describe('Id of the role to assign.'),
	tenant_id: Uuid.describe('Id of the tenant to join.'),
	resource_instance_id: optional(Uuid).describe(
		"Id of the role's instance; without it, the role is assigned in the tenant.",
	),
	...endShape,
}).meta({
	id: 'ElementsUserInviteCreate',
	description: 'A future user and an existing role, assigned in the tenant when the invite is approved.',
});
export type UserInviteCreate = z.output<typeof UserInviteCreate>;

export const UserInviteUpdate = granting(
	{
		status: optional(UserInviteStatus).describe('Invite state. Setting it creates no user. Null counts as absent.'),
		email: optional(Email).describe('E-mail address of the invited user. Null counts as absent.'),
		first_name: clearable(Name).describe('First name; null clears it.'),
		last_name: clearable(Name).describe('Last name; null clears it.'),
		role_id: optional(Uuid).describe('Id of the role to assign. Null counts as absent.'),
		tenant_id: optional(Uuid).describe('Id of the tenant to join. Null counts as absent.'),
		resource_instance_id: clearable(Uuid).describe("Id of the role's instance; null for a tenant role."),
		invite_expires_at: clearable(InviteExpiry).describe(
			'Time until which the invite can be approved; null for no limit.',
		),
	},
	['key'],
).meta({ id: 'ElementsUserInviteUpdate', description: 'Invite fields to change.' });
export type UserInviteUpdate = z.output<typeof UserInviteUpdate>;

export const UserInviteApprove = granting(
	{
		email: Email.describe('E-mail address; must be the invited address.'),
		key: UserKey.describe('Key for the user to create.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe(
			'Attributes for conditions to compare; none by default.',
		),
	},
	['status', 'first_name', 'last_name', 'role_id', 'tenant_id', 'resource_instance_id', 'invite_expires_at'],
).meta({
	id: 'ElementsUserInviteApprove',
	description: 'The user that an invite becomes; `email` must be the invited address.',
});
export type UserInviteApprove = z.output<typeof UserInviteApprove>;

export const OwnInviteApprove = granting({
	email: Email.describe('E-mail address; must be the invited address.'),
	user_key_claim: optional(Name.min(1)).describe(
		'Token claim with the user key. Defaults to the claim set for the environment, then to `sub`.',
	),
	attributes: defaulted(ComparedAttributes, () => ({})).describe(
		'User attributes; attributes defined by the environment are not allowed.',
	),
}).meta({
	id: 'UserInviteApproveByToken',
	description: 'Self-approval by an invited user. The token claim contains the user key.',
});
export type OwnInviteApprove = z.output<typeof OwnInviteApprove>;

/**
 * Filters for invites. A filter may have several values, and any value may match. A value without a matching object
 * matches no invite.
 */
export const UserInviteQuery = z.object({
	role: References.describe('Only invites with these roles (ids or keys); may be repeated.'),
	tenant: References.describe('Only invites to these tenants (ids or keys); may be repeated.'),
	search: Search,
	...pageShape,
});

export const UserInviteRead = named('ElementsUserInviteRead', 'An invite.', {
	...environmentObject,
	key: z.string().describe('Future user key.'),
	status: UserInviteStatus.describe('Invite state: `approved` after it has become a user.'),
	email: z.string().describe('E-mail address of the invited user.'),
	first_name: z.string().nullable().describe('First name.'),
	last_name: z.string().nullable().describe('Last name.'),
	role_id: Uuid.describe('Id of the role to assign.'),
	tenant_id: Uuid.describe('Id of the tenant to join.'),
	resource_instance_id: Uuid.nullable().describe("Id of the role's instance; null for a tenant role."),
	invite_expires_at: Timestamp.optional().describe('Time until which it can be approved; absent for no limit.'),
});
export type UserInviteRead = z.input<typeof UserInviteRead>;

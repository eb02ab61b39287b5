import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { clearable, defaulted, environmentObject, Name, optional, Timestamp, UserKey, Uuid } from './common.js';
import { Email } from './email.js';
import { Expiry, granting } from './granting.js';
import { pageShape, References, Search } from './query.js';

/** Whether an invite has become a user. */
export const UserInviteStatus = z.enum(['pending', 'approved']);

/**
 * Until when an invite can be approved. It has a name of its own, because `expires_at` of a body that grants is the end
 * of what it grants: an invite that took that would give its role for good to who meant it for a time.
 */
const InviteExpiry = Expiry.meta({ description: 'Until when the invite can be approved. Absent or null: for good.' });
const endShape = { invite_expires_at: optional(InviteExpiry) };

/** A future user and an existing role, which is assigned in the tenant when the invite is approved. */
export const UserInviteCreate = granting({
	key: UserKey,
	status: defaulted(UserInviteStatus, () => 'pending' as const),
	email: Email,
	first_name: optional(Name),
	last_name: optional(Name),
	role_id: Uuid,
	tenant_id: Uuid,
	resource_instance_id: optional(Uuid),
	...endShape,
}).meta({ id: 'ElementsUserInviteCreate' });
export type UserInviteCreate = z.output<typeof UserInviteCreate>;

/** The fields of an invite that may change. */
export const UserInviteUpdate = granting(
	{
		status: optional(UserInviteStatus),
		email: optional(Email),
		first_name: clearable(Name),
		last_name: clearable(Name),
		role_id: optional(Uuid),
		tenant_id: optional(Uuid),
		resource_instance_id: clearable(Uuid),
		invite_expires_at: clearable(InviteExpiry),
	},
	['key'],
).meta({ id: 'ElementsUserInviteUpdate' });
export type UserInviteUpdate = z.output<typeof UserInviteUpdate>;

/** The user that an invite becomes; `email` must be the one that was invited. */
export const UserInviteApprove = granting(
	{ email: Email, key: UserKey, attributes: defaulted(ComparedAttributes, () => ({})) },
	['status', 'first_name', 'last_name', 'role_id', 'tenant_id', 'resource_instance_id', 'invite_expires_at'],
).meta({ id: 'ElementsUserInviteApprove' });
export type UserInviteApprove = z.output<typeof UserInviteApprove>;

/** What an invited user says who approves their own invite. The claim of their token holds the key of the user. */
export const OwnInviteApprove = granting({
	email: Email,
	user_key_claim: optional(Name.min(1)),
	attributes: defaulted(ComparedAttributes, () => ({})),
}).meta({ id: 'UserInviteApproveByToken' });
export type OwnInviteApprove = z.output<typeof OwnInviteApprove>;

/**
 * The invites that a list asks for, with any of the given values for each filter. A value that names nothing matches
 * nothing.
 */
export const UserInviteQuery = z.object({
	role: References,
	tenant: References,
	search: Search,
	...pageShape,
});
export type UserInviteQuery = z.output<typeof UserInviteQuery>;

/** An invite. */
export const UserInviteRead = z
	.object({
		...environmentObject,
		key: z.string(),
		status: UserInviteStatus,
		email: z.string(),
		first_name: z.string().nullable(),
		last_name: z.string().nullable(),
		role_id: Uuid,
		tenant_id: Uuid,
		resource_instance_id: Uuid.nullable(),
		invite_expires_at: Timestamp.optional().meta({ description: 'Until when it can be approved; absent for good.' }),
	})
	.meta({ id: 'ElementsUserInviteRead' });
export type UserInviteRead = z.input<typeof UserInviteRead>;

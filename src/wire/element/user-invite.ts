import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { clearable, defaulted, environmentObject, Name, optional, Timestamp, UserKey, Uuid } from '../common.js';
import { Email } from '../email.js';
import { pageShape, References, Search } from '../query.js';
import { Expiry, granting } from '../schema/granting.js';

/** Whether an invite has become a user. */
export const UserInviteStatus = z.enum(['pending', 'approved']);

/**
 * Until when an invite can be approved. It has a name of its own, because `expires_at` of a body that grants is the end
 * of what it grants: an invite that took that would give its role for good to who meant it for a time.
 */
const InviteExpiry = Expiry.meta({ description: 'Until when the invite can be approved. Absent or null: for good.' });
const endShape = {
	invite_expires_at: optional(InviteExpiry).describe(
		'Until when the invite can be approved. Absent or null: for good.',
	),
};

/** A future user and an existing role, which is assigned in the tenant when the invite is approved. */
export const UserInviteCreate = granting({
	key: UserKey.describe('The key that the user will have, which checks name.'),
	status: defaulted(UserInviteStatus, () => 'pending' as const).describe(
		'Whether the invite has become a user; `pending` when left out. Setting it creates no user.',
	),
	email: Email.describe('The e-mail address of who is invited.'),
	first_name: optional(Name).describe('The first name.'),
	last_name: optional(Name).describe('The last name.'),
	role_id: Uuid.describe('The id of the role that comes with it.'),
	tenant_id: Uuid.describe('The id of the tenant to which it leads.'),
	resource_instance_id: optional(Uuid).describe(
		'The id of the instance on which the role is held; held in the tenant when left out.',
	),
	...endShape,
}).meta({
	id: 'ElementsUserInviteCreate',
	description: 'A future user and an existing role, which is assigned in the tenant when the invite is approved.',
});
export type UserInviteCreate = z.output<typeof UserInviteCreate>;

/** The fields of an invite that may change. */
export const UserInviteUpdate = granting(
	{
		status: optional(UserInviteStatus).describe(
			'Whether the invite has become a user. Setting it creates no user. Null counts as absent.',
		),
		email: optional(Email).describe('The e-mail address of who is invited. Null counts as absent.'),
		first_name: clearable(Name).describe('The first name; null clears it.'),
		last_name: clearable(Name).describe('The last name; null clears it.'),
		role_id: optional(Uuid).describe('The id of the role that comes with it. Null counts as absent.'),
		tenant_id: optional(Uuid).describe('The id of the tenant to which it leads. Null counts as absent.'),
		resource_instance_id: clearable(Uuid).describe(
			'The id of the instance on which the role is held; null for the tenant.',
		),
		invite_expires_at: clearable(InviteExpiry).describe('Until when the invite can be approved; null for good.'),
	},
	['key'],
).meta({ id: 'ElementsUserInviteUpdate', description: 'The fields of an invite that may change.' });
export type UserInviteUpdate = z.output<typeof UserInviteUpdate>;

/** The user that an invite becomes; `email` must be the one that was invited. */
export const UserInviteApprove = granting(
	{
		email: Email.describe('The e-mail address, which has to be the invited one.'),
		key: UserKey.describe('The key of the user to create.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe(
			'Attributes for conditions to compare; none when left out.',
		),
	},
	['status', 'first_name', 'last_name', 'role_id', 'tenant_id', 'resource_instance_id', 'invite_expires_at'],
).meta({
	id: 'ElementsUserInviteApprove',
	description: 'The user that an invite becomes; `email` must be the one that was invited.',
});
export type UserInviteApprove = z.output<typeof UserInviteApprove>;

/** What an invited user says who approves their own invite. The claim of their token holds the key of the user. */
export const OwnInviteApprove = granting({
	email: Email.describe('The e-mail address, which has to be the invited one.'),
	user_key_claim: optional(Name.min(1)).describe(
		'The claim of the token that holds the key of the user; `sub` when neither this nor the environment names one.',
	),
	attributes: defaulted(ComparedAttributes, () => ({})).describe(
		'Attributes of the user, none of which the environment may define for users.',
	),
}).meta({
	id: 'UserInviteApproveByToken',
	description:
		'What an invited user says who approves their own invite. The claim of their token holds the key of the user.',
});
export type OwnInviteApprove = z.output<typeof OwnInviteApprove>;

/**
 * The invites that a list asks for, with any of the given values for each filter. A value that names nothing matches
 * nothing.
 */
export const UserInviteQuery = z.object({
	role: References.describe('Only invites with these roles (ids or keys); may be repeated.'),
	tenant: References.describe('Only invites to these tenants (ids or keys); may be repeated.'),
	search: Search,
	...pageShape,
});
export type UserInviteQuery = z.output<typeof UserInviteQuery>;

/** An invite. */
export const UserInviteRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key that the user will have.'),
		status: UserInviteStatus.describe('Whether the invite has become a user.'),
		email: z.string().describe('The e-mail address of who is invited.'),
		first_name: z.string().nullable().describe('The first name.'),
		last_name: z.string().nullable().describe('The last name.'),
		role_id: Uuid.describe('The id of the role that comes with it.'),
		tenant_id: Uuid.describe('The id of the tenant to which it leads.'),
		resource_instance_id: Uuid.nullable().describe(
			'The id of the instance on which the role is held; null for the tenant.',
		),
		invite_expires_at: Timestamp.optional().meta({ description: 'Until when it can be approved; absent for good.' }),
	})
	.meta({ id: 'ElementsUserInviteRead', description: 'An invite.' });
export type UserInviteRead = z.input<typeof UserInviteRead>;

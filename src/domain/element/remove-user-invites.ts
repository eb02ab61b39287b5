import { UserInvite, type UserInviteFilter, userInvitesBy } from '../../store/table/element/user-invite.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';

/** Deletes the matching invites. Must run before their role, tenant or instance is deleted. */
export async function removeUserInvites(unit: WritingUnit, filter: UserInviteFilter): Promise<void> {
	await unit.removeMany(UserInvite, await userInvitesBy(unit, filter).all(), (invite) => invite.key);
}

import { deleteStoredInvites, endedInvites, UserInvite } from '../../store/table/user-invite.js';
import { changeRecord } from '../../store/unit/change-record.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';

/**
 * Deletes some invites that have ended, as many as one statement takes, of these keys where they are given: nobody sees
 * them any more, but their keys are taken. Returns how many.
 */
export async function removeEndedInvites(unit: WritingUnit, keys?: readonly string[]): Promise<number> {
	const rows = await endedInvites(unit, keys);
	if (rows.length === 0) return 0;
	await deleteStoredInvites(unit, rows);
	for (const row of rows) unit.record(UserInvite.kind, 'delete', row.key, changeRecord(row), null);
	return rows.length;
}

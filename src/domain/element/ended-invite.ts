import { deleteStoredInvites, endedInvites, UserInvite } from '../../store/table/element/user-invite.js';
import { changeRecord } from '../../store/unit/change-record.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';

/**
 * Deletes expired invites, up to the statement limit. With `keys`, deletes only invites with these keys. Expired
 * invites are invisible, but their keys cannot be reused until they are deleted. Returns the number deleted.
 */
export async function removeEndedInvites(unit: WritingUnit, keys?: readonly string[]): Promise<number> {
	const rows = await endedInvites(unit, keys).all();
	if (rows.length === 0) return 0;
	await deleteStoredInvites(unit, rows);
	for (const row of rows) unit.record(UserInvite.kind, 'delete', row.key, changeRecord(row), null);
	return rows.length;
}

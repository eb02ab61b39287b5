import type { ChangedRecord } from '../store/change.js';
import { type GrantRow, grantsOf, type ParentRow, parentsOf, Role } from '../store/table/role.js';
import { holds, type ReadingUnit, recordOf, type WritingUnit } from '../store/unit.js';

/** Does work that may take something from roles, and records those that are others than before. */
export async function recordingRoles(
	unit: WritingUnit,
	roles: readonly Role[],
	work: () => Promise<undefined>,
): Promise<void> {
	const before: [Role, ChangedRecord][] = [];
	for (const role of roles) before.push([role, await recordOfRole(unit, role)]);
	await work();
	for (const [role, record] of before) {
		if (holds(record, await recordOfRole(unit, role))) continue;
		const after = await unit.change(Role, role, {});
		unit.record('role', 'update', role.key, record, await recordOfRole(unit, after));
	}
}

/** A role as the change log keeps it, with the keys of what it grants and extends. */
export async function recordOfRole(unit: ReadingUnit, role: Role): Promise<ChangedRecord> {
	const grants = await grantsOf(unit, [role.id]);
	const parents = await parentsOf(unit, [role.id]);
	return { ...recordOf(role), ...granted(grants, parents) };
}

/** What a role grants and extends, by keys. */
export function granted(grants: readonly GrantRow[] = [], parents: readonly ParentRow[] = []) {
	return {
		permissions: grants.map((grant) => `${grant.resource}:${grant.action}`),
		extends: parents.map((parent) => parent.parent),
	};
}

import { groupBy } from '../../../compiler/group-by.js';
import { notFound, unprocessable } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import { parentRows, Role, RoleParent, replaceParents } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { pairWithParts } from '../pair-with-parts.js';
import { recordRoleChanges } from './role-record.js';

/** A role and its new parents. `at` is the location of the parents in the request. */
export interface ParentEdit {
	readonly role: Role;
	readonly parents: readonly string[];
	readonly at: readonly (string | number)[];
}

/**
 * Replaces role parents, without recording the change. The parents of a tenant role are tenant roles, and the parents
 * of a resource role are roles of the same resource. Throws `not_found` for any other parent, and `unprocessable` if a
 * role would extend itself.
 */
export async function setParents(unit: WritingUnit, edits: readonly ParentEdit[]): Promise<void> {
	if (edits.length === 0) return;
	const wanted = edits.flatMap(({ role, parents }) => parents.map((reference) => ({ role, reference })));
	const found = await pairWithParts(unit, Role, wanted, ({ role: { resource_id }, reference }) => ({
		resource_id,
		reference,
	}));
	const parentsOfRole = groupBy(found, ([{ role }]) => role.id);
	const ids = edits.map(({ role }) => {
		const parents = (parentsOfRole.get(role.id) ?? []).map(([, parent]) => parent.id);
		return [role.id, [...new Set(parents)]] as const;
	});
	await replaceParents(unit, new Map(ids));
	await refuseCycles(unit, edits);
}

/** Adds a parent to a role, unless the role already extends this parent. Throws like `setParents`. */
export async function addParent(unit: WritingUnit, role: Role, reference: string): Promise<Role> {
	const { resource_id } = role;
	const parent = await unit.find(Role, reference, { resource_id });
	return changeParents(unit, role, (ids) => [...new Set([...ids, parent.id])]);
}

/** Removes a parent from a role. Throws `not_found` if the role does not extend this parent. */
export async function removeParent(unit: WritingUnit, role: Role, reference: string): Promise<Role> {
	const { resource_id } = role;
	const parent = await unit.find(Role, reference, { resource_id });
	return changeParents(unit, role, (ids) => {
		if (!ids.includes(parent.id)) throw notFound(RoleParent.title, reference);
		return ids.filter((id) => id !== parent.id);
	});
}

/** Returns the ids of all roles extended by a role, at any depth. */
export async function ancestorIds(unit: ReadingUnit, role: Role): Promise<readonly string[]> {
	return [...reachable(role.id, upwards(await parentRows(unit)))];
}

/** Returns the ids of all roles extending this role, at any depth. */
export async function descendantIds(unit: ReadingUnit, role: Role): Promise<readonly string[]> {
	const children = groupBy(await parentRows(unit), (row) => row.parent_id);
	return [...reachable(role.id, (id) => (children.get(id) ?? []).map((row) => row.role_id))];
}

async function changeParents(
	unit: WritingUnit,
	role: Role,
	change: (ids: readonly string[]) => readonly string[],
): Promise<Role> {
	const changed = await recordRoleChanges(unit, [role], async () => {
		const ids = (await parentRows(unit, [role.id])).map((row) => row.parent_id);
		await replaceParents(unit, new Map([[role.id, change(ids)]]));
		await refuseCycles(unit, [{ role, at: ['path', 'parent_role_id'] }]);
		return undefined;
	});
	return onlyRow(changed);
}

async function refuseCycles(unit: ReadingUnit, edits: readonly Omit<ParentEdit, 'parents'>[]): Promise<void> {
	const rows = await parentRows(unit);
	const parents = upwards(rows);
	const suspects = belowCycles(rows);
	const problems = edits
		.filter(({ role }) => suspects.has(role.id) && reachable(role.id, parents).has(role.id))
		.map(({ role, at }) => ({ loc: at, msg: `the role \`${role.key}\` would extend itself`, type: 'role_cycle' }));
	if (problems.length > 0) throw unprocessable(problems);
}

/** Returns the roles in or below a cycle. A valid hierarchy has no such roles. */
function belowCycles(rows: Awaited<ReturnType<typeof parentRows>>): ReadonlySet<string> {
	const unsettled = new Map([...groupBy(rows, (row) => row.role_id)].map(([id, own]) => [id, own.length]));
	const children = groupBy(rows, (row) => row.parent_id);
	const settled = [...children.keys()].filter((id) => !unsettled.has(id));
	for (let id = settled.pop(); id !== undefined; id = settled.pop()) {
		for (const { role_id } of children.get(id) ?? []) {
			const left = (unsettled.get(role_id) ?? 0) - 1;
			unsettled.set(role_id, left);
			if (left > 0) continue;
			unsettled.delete(role_id);
			settled.push(role_id);
		}
	}
	return new Set(unsettled.keys());
}

function upwards(rows: Awaited<ReturnType<typeof parentRows>>): (id: string) => readonly string[] {
	const parents = groupBy(rows, (row) => row.role_id);
	return (id) => (parents.get(id) ?? []).map((row) => row.parent_id);
}

/** Returns all ids reachable from `start` through `next`. Includes `start` only if a path leads back to it. */
function reachable(start: string, next: (id: string) => readonly string[]): ReadonlySet<string> {
	const reached = new Set<string>();
	const waiting = [start];
	for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
		for (const step of next(id)) {
			if (!reached.has(step)) waiting.push(step);
			reached.add(step);
		}
	}
	return reached;
}

import { duplicate, notFound, unprocessable } from '../failure.js';
import type { ChangedRecord } from '../store/change.js';
import {
	type AssignmentFilter,
	type AssignmentIds,
	type AssignmentReference,
	type AssignmentRow,
	assignmentsBetween,
	assignmentsBy,
	deleteAssignments,
	insertAssignments,
	type Named,
	type Participants,
	participantsIn,
	type RoleAssignment,
	someAssignments,
} from '../store/table/role-assignment.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { UserKey } from '../wire/common.js';
import type { RoleAssignmentBulkQuery, RoleAssignmentRead } from '../wire/role-assignment.js';
import { ensurePlaces, findPlaces, type Resolved, resolve } from './assignment-place.js';
import { removePortions } from './portions.js';

/** An assignment as the API shows it. */
export function readAssignment(unit: ReadingUnit, row: AssignmentRow): RoleAssignmentRead {
	return { ...row, ...unit.scope };
}

/** Gives one role. Throws `not_found` for what does not exist, `duplicate` when the user has it there already. */
export async function assign(unit: WritingUnit, reference: AssignmentReference): Promise<AssignmentRow> {
	const [row] = await assignMany(unit, [reference]);
	if (row === undefined) throw duplicate('role assignment', nameOf(reference));
	return row;
}

/**
 * Gives many roles; those held already, and repetitions, are skipped. Users that do not exist fail the whole, are
 * skipped, or are created with nothing but the key; instances that do not exist are created in the tenant that is named
 * with them. Returns what was given.
 */
export async function assignMany(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
	missingUsers: RoleAssignmentBulkQuery['missing_user_policy'] = 'fail',
): Promise<readonly AssignmentRow[]> {
	if (references.length === 0) return [];
	const found = await participantsIn(unit, references);
	const created = missingUsers === 'create' ? await createMissing(unit, references, found.users) : [];
	const users = new Map<string, Named>([...found.users, ...created.map((user) => [user.key, user] as const)]);
	const wanted = missingUsers === 'ignore' ? references.filter(({ user }) => users.has(user)) : references;
	const places = await ensurePlaces(unit, wanted, found.tenants);
	return insert(unit, resolve(wanted, { ...found, users }, places));
}

/** Takes one role. Throws `not_found` when the user does not have it there. */
export async function unassign(unit: WritingUnit, reference: AssignmentReference): Promise<AssignmentRow> {
	const [row] = await unassignMany(unit, [reference]);
	if (row === undefined) throw notFound('RoleAssignment', nameOf(reference));
	return row;
}

/** Takes many roles; those not held are skipped. Returns what was taken. Throws `not_found` for what does not exist. */
export async function unassignMany(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
): Promise<readonly AssignmentRow[]> {
	if (references.length === 0) return [];
	const found = await participantsIn(unit, references);
	const rows = await heldBetween(unit, resolve(references, found, await findPlaces(unit, references)));
	return remove(unit, rows);
}

/** Makes users hold exactly these roles, in tenants and on instances. Throws as `assignMany`. */
export async function replaceAssignments(
	unit: WritingUnit,
	user_ids: readonly string[],
	references: readonly AssignmentReference[],
): Promise<void> {
	if (user_ids.length === 0) return;
	const found = await participantsIn(unit, references);
	const wanted = resolve(references, found, await ensurePlaces(unit, references, found.tenants));
	const identities = new Set(wanted.map(identityOf));
	const held = await assignmentsBy(unit, { user_ids }).castTo<AssignmentRow[]>();
	await remove(
		unit,
		held.filter((row) => !identities.has(identityOf(row))),
	);
	await insert(unit, wanted);
}

/** Takes every role that passes the filter: what must go before its user, role or tenant goes. Returns how many. */
export async function removeAssignments(unit: WritingUnit, filter: AssignmentFilter): Promise<number> {
	return removePortions(
		() => someAssignments(unit, filter),
		(rows) => remove(unit, rows),
	);
}

/**
 * The assignments among `wanted` that exist, oldest first: looked for by both ends, because either may have very many
 * others.
 */
async function heldBetween(unit: ReadingUnit, wanted: readonly Resolved[]): Promise<readonly AssignmentRow[]> {
	const once = new Map(wanted.map((row) => [identityOf(row), row]));
	const onInstances = wanted.filter(({ resource_instance_id }) => resource_instance_id !== null);
	const inTenants = wanted.filter(({ resource_instance_id }) => resource_instance_id === null);
	const held = [
		...(await assignmentsBetween(unit, {
			user_ids: distinct(inTenants.map(({ user_id }) => user_id)),
			tenant_ids: distinct(inTenants.map(({ tenant_id }) => tenant_id)),
		})),
		...(await assignmentsBetween(unit, {
			user_ids: distinct(onInstances.map(({ user_id }) => user_id)),
			resource_instance_ids: distinct(onInstances.flatMap(({ resource_instance_id }) => resource_instance_id ?? [])),
		})),
	];
	const rows = held.flatMap((row): AssignmentRow[] => {
		const resolved = once.get(identityOf(row));
		return resolved === undefined ? [] : [keyed(row, resolved)];
	});
	return rows.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** An assignment with the keys of what it joins. */
function keyed(row: RoleAssignment, { user, role, tenant, resource_instance }: Resolved): AssignmentRow {
	return { ...row, user, role, tenant, resource_instance };
}

async function insert(unit: WritingUnit, wanted: readonly Resolved[]): Promise<readonly AssignmentRow[]> {
	const once = new Map(wanted.map((row) => [identityOf(row), row]));
	return (await insertAssignments(unit, [...once.values()])).flatMap((row) => {
		const resolved = once.get(identityOf(row));
		if (resolved === undefined) return [];
		const given = keyed(row, resolved);
		unit.record('role_assignment', 'create', nameOf(given), null, recordOf(given));
		return given;
	});
}

async function remove(unit: WritingUnit, rows: readonly AssignmentRow[]): Promise<readonly AssignmentRow[]> {
	await deleteAssignments(unit, rows);
	for (const row of rows) unit.record('role_assignment', 'delete', nameOf(row), recordOf(row), null);
	return rows;
}

async function createMissing(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
	known: Participants['users'],
): Promise<readonly User[]> {
	const keys = new Set(references.map(({ user }) => user).filter((user) => !known.has(user)));
	refuseWrongKeys(references, keys);
	const rows = [...keys].map((key) => ({ key, attributes: {} }));
	return unit.createMany(User, rows, (user) => user.key);
}

/** What only names an existing user may be any text; what becomes a user's key may not. */
function refuseWrongKeys(references: readonly AssignmentReference[], missing: ReadonlySet<string>): void {
	const problems = references.flatMap(({ user }, index) => {
		const [issue] = (missing.has(user) ? UserKey.safeParse(user).error?.issues : undefined) ?? [];
		return issue === undefined ? [] : [{ loc: ['body', index, 'user'], msg: issue.message, type: issue.code }];
	});
	if (problems.length > 0) throw unprocessable(problems);
}

function distinct(ids: readonly string[]): readonly string[] {
	return [...new Set(ids)];
}

function recordOf(row: AssignmentRow): ChangedRecord {
	const { environment_id: _, ...record } = row;
	return { ...record };
}

function identityOf(row: AssignmentIds): string {
	return `${row.user_id}/${row.role_id}/${row.tenant_id}/${row.resource_instance_id}`;
}

interface NamedParts {
	readonly user: string;
	readonly role: string;
	readonly tenant?: string | undefined;
	readonly resource_instance?: string | null | undefined;
}

function nameOf({ user, role, tenant, resource_instance }: NamedParts): string {
	return `${user}#${role}@${resource_instance ?? tenant}`;
}

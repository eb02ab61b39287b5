import { duplicate, notFound, unprocessable } from '../failure.js';
import { groupBy } from '../group-by.js';
import type { ChangedRecord } from '../store/change.js';
import { grantsOf, Role } from '../store/table/role.js';
import {
	type AssignmentFilter,
	type AssignmentIds,
	type AssignmentReference,
	type AssignmentRow,
	assignmentsBy,
	deleteAssignments,
	insertAssignments,
	type Named,
	type Participants,
	participantsIn,
	someAssignments,
} from '../store/table/role-assignment.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { UserKey } from '../wire/common.js';
import type {
	RoleAssignmentBulkQuery,
	RoleAssignmentDetailedRead,
	RoleAssignmentRead,
} from '../wire/role-assignment.js';

/** An assignment as the API shows it. */
export function readAssignment(unit: ReadingUnit, row: AssignmentRow): RoleAssignmentRead {
	return { ...row, ...unit.scope };
}

/** Assignments as the API shows them with what is known of each user, role and tenant. */
export async function readDetailedAssignments(
	unit: ReadingUnit,
	rows: readonly AssignmentRow[],
): Promise<readonly RoleAssignmentDetailedRead[]> {
	const users = await unit.findMany(
		User,
		rows.map((row) => row.user_id),
	);
	const roles = await unit.findMany(
		Role,
		rows.map((row) => row.role_id),
	);
	const tenants = await unit.findMany(
		Tenant,
		rows.map((row) => row.tenant_id),
	);
	const grants = groupBy(
		await grantsOf(
			unit,
			[...roles.values()].map((role) => role.id),
		),
		(grant) => grant.role_id,
	);
	return rows.flatMap((row) => {
		const user = users.get(row.user_id);
		const role = roles.get(row.role_id);
		const tenant = tenants.get(row.tenant_id);
		if (user === undefined || role === undefined || tenant === undefined) return [];
		const permissions = (grants.get(role.id) ?? []).map((grant) => `${grant.resource}:${grant.action}`);
		const details = {
			user,
			role: { ...role, permissions },
			tenant: { ...tenant, attributes: tenant.attributes ?? {} },
		};
		return [{ ...row, ...unit.scope, ...details }];
	});
}

/** Gives one role. Throws `not_found` for what does not exist, `duplicate` when the user has it there already. */
export async function assign(unit: WritingUnit, reference: AssignmentReference): Promise<AssignmentRow> {
	const [row] = await assignMany(unit, [reference]);
	if (row === undefined) throw duplicate('role assignment', nameOf(reference));
	return row;
}

/**
 * Gives many roles; those held already, and repetitions, are skipped. Users that do not exist fail the whole, are
 * skipped, or are created with nothing but the key. Returns what was given.
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
	return insert(unit, resolve(wanted, { ...found, users }));
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
	const rows = await heldBetween(unit, resolve(references, await participantsIn(unit, references)));
	return remove(unit, rows);
}

/** Makes users hold exactly these roles. Throws `not_found` for what does not exist. */
export async function replaceAssignments(
	unit: WritingUnit,
	user_ids: readonly string[],
	references: readonly AssignmentReference[],
): Promise<void> {
	if (user_ids.length === 0) return;
	const wanted = new Set(resolve(references, await participantsIn(unit, references)).map(identityOf));
	const held = await assignmentsBy(unit, { user_ids }).castTo<AssignmentRow[]>();
	await remove(
		unit,
		held.filter((row) => !wanted.has(identityOf(row))),
	);
	await assignMany(unit, references);
}

/** Takes every role that passes the filter: what must go before its user, role or tenant goes. Returns how many. */
export async function removeAssignments(unit: WritingUnit, filter: AssignmentFilter): Promise<number> {
	let removed = 0;
	for (let rows = await someAssignments(unit, filter); rows.length > 0; rows = await someAssignments(unit, filter)) {
		await remove(unit, rows);
		removed += rows.length;
	}
	return removed;
}

interface Resolved extends AssignmentReference, AssignmentIds {}

/** The assignments that references mean, by keys and by ids. Throws `not_found` for the first that names nothing. */
function resolve(references: readonly AssignmentReference[], found: Participants): readonly Resolved[] {
	const users = references.map(({ user }) => found.users.get(user) ?? missing(User, user));
	const roles = references.map(({ role }) => found.roles.get(role) ?? missing(Role, role));
	const tenants = references.map(({ tenant }) => found.tenants.get(tenant) ?? missing(Tenant, tenant));
	return references.flatMap((_, index) => {
		const [user, role, tenant] = [users[index], roles[index], tenants[index]];
		if (user === undefined || role === undefined || tenant === undefined) return [];
		const keys = { user: user.key, role: role.key, tenant: tenant.key };
		return [{ ...keys, user_id: user.id, role_id: role.id, tenant_id: tenant.id }];
	});
}

function missing({ title }: { readonly title: string }, reference: string): never {
	throw notFound(title, reference);
}

/** The assignments among `wanted` that exist. Found by user, whose assignments are few and indexed, then narrowed. */
async function heldBetween(unit: ReadingUnit, wanted: readonly Resolved[]): Promise<readonly AssignmentRow[]> {
	if (wanted.length === 0) return [];
	const identities = new Set(wanted.map(identityOf));
	const user_ids = [...new Set(wanted.map((row) => row.user_id))];
	const held = await assignmentsBy(unit, { user_ids }).castTo<AssignmentRow[]>();
	return held.filter((row) => identities.has(identityOf(row)));
}

async function insert(unit: WritingUnit, wanted: readonly Resolved[]): Promise<readonly AssignmentRow[]> {
	const once = new Map(wanted.map((row) => [identityOf(row), row]));
	return (await insertAssignments(unit, [...once.values()])).map((row) => {
		const { user = '', role = '', tenant = '' } = once.get(identityOf(row)) ?? {};
		const given: AssignmentRow = { ...row, user, role, tenant };
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

function recordOf(row: AssignmentRow): ChangedRecord {
	const { environment_id: _, ...record } = row;
	return { ...record };
}

function identityOf(row: AssignmentIds): string {
	return `${row.user_id}/${row.role_id}/${row.tenant_id}`;
}

function nameOf({ user, role, tenant }: AssignmentReference): string {
	return `${user}#${role}@${tenant}`;
}

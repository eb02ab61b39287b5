import { everyone } from '../../../compiler/everyone.js';
import { duplicate, maxProblems, notFound, type Problem, unprocessable } from '../../failure.js';
import { changeExpiries } from '../../store/table/assignment-expiry.js';
import {
	type AssignmentReference,
	type Named,
	type Participants,
	participantsIn,
} from '../../store/table/assignment-reference.js';
import { Role } from '../../store/table/role.js';
import {
	type AssignmentFilter,
	type AssignmentIds,
	type AssignmentRow,
	assignmentsBetween,
	assignmentsBy,
	assignmentsToRemove,
	deleteAssignments,
	type HolderAt,
	insertAssignments,
	type RoleAssignment,
	someAssignments,
} from '../../store/table/role-assignment.js';
import { ensureEveryone, Holder, User } from '../../store/table/user.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { UserKey } from '../../wire/common.js';
import type { RoleAssignmentBulkQuery, RoleAssignmentRead } from '../../wire/facts/role-assignment.js';
import { refuseConditionsOverLimit } from '../check-limit/condition-limit.js';
import { endsBefore } from '../ends-before.js';
import { removeInChunks } from '../remove-in-chunks.js';
import { conditionProblems, readCondition } from '../schema/condition-values.js';
import { grantSets } from '../schema/grant-condition.js';
import {
	type AssignmentTargets,
	ensureTargets,
	findTargets,
	type PlaceOf,
	type ResolvedAssignment,
	refuseClosedRoles,
	refuseComputedRoles,
	resolveAssignments,
} from './assignment-reference.js';
import { assignToSets, divideReferences, unassignFromSets } from './set-assignment.js';

/** Converts an assignment to its API object. */
export function readAssignment(unit: ReadingUnit, row: AssignmentRow): RoleAssignmentRead {
	return { ...row, ...unit.scope, expires_at: row.expires_at ?? undefined, condition: readCondition(row) };
}

/**
 * Assigns a role, or extends an existing assignment. Throws `not_found` for a missing object, and `duplicate` if the
 * existing assignment does not end earlier.
 */
export async function assign(unit: WritingUnit, reference: AssignmentReference): Promise<AssignmentRow> {
	const [row] = await assignMany(unit, [reference], 'fail', () => ['body']);
	if (row === undefined) throw duplicate('role assignment', assignmentName(reference));
	return row;
}

/**
 * Assigns many roles. Extends an existing assignment if the new expiry is later or absent. Skips other existing
 * assignments and repetitions. `missingUsers` decides whether an unknown user fails the whole call, is skipped, or is
 * created with only a key. Throws `unprocessable`, at the reference's place, for a role that cannot be assigned to
 * everyone, and like `assignToSets`. Creates unknown instances in the referenced tenants. Returns the added and
 * extended assignments.
 */
export async function assignMany(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
	missingUsers: RoleAssignmentBulkQuery['missing_user_policy'] = 'fail',
	placeOf: PlaceOf = (index) => ['body', index],
): Promise<readonly AssignmentRow[]> {
	if (references.length === 0) return [];
	const { toUsers, toSets } = divideReferences(references, placeOf);
	if (toSets.length > 0) {
		const placed = (index: number) => toUsers[index]?.place ?? ['body'];
		const others = toUsers.map(({ reference }) => reference);
		return [...(await assignMany(unit, others, missingUsers, placed)), ...(await assignToSets(unit, toSets))];
	}
	if (references.some(({ user }) => user === everyone)) await ensureEveryone(unit);
	const found = await participantsIn(unit, references);
	const created = missingUsers === 'create' ? await createMissing(unit, references, found.users) : [];
	const users = new Map<string, Named>([...found.users, ...created.map((user) => [user.key, user] as const)]);
	const wanted = missingUsers === 'ignore' ? references.filter(({ user }) => users.has(user)) : references;
	const targets = await ensureTargets(unit, wanted, found.tenants);
	refuseClosedRoles(references, users, targets, placeOf);
	return insert(unit, resolveAssignments(wanted, { ...found, users }, targets));
}

/**
 * Assigns roles with exactly the passed expiries, even if an existing assignment ends later. `found` and `targets`
 * contain all referenced users, roles, tenants and instances. Does not check the limits for assignments to sets of
 * users and for conditional assignments. Throws like `assignMany`.
 */
export async function assignExactly(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
	found: Participants,
	targets: AssignmentTargets,
	placeOf: PlaceOf,
): Promise<void> {
	const { toUsers, toSets } = divideReferences(references, placeOf);
	await assignToSets(unit, toSets, { changes: 'replace', unlimited: true });
	const named = toUsers.map(({ reference }) => reference);
	refuseComputedRoles(named, targets);
	refuseClosedRoles(named, found.users, targets, (index) => toUsers[index]?.place ?? ['body']);
	await insert(unit, resolveAssignments(named, found, targets), { changes: 'replace', unlimited: true });
}

/**
 * Assigns the role in an approved request. Does nothing if the user has an assignment that does not end earlier. Throws
 * `not_found` for a missing object.
 */
export async function assignForRequest(
	unit: WritingUnit,
	reference: AssignmentReference,
	requestId: string,
): Promise<void> {
	const found = await participantsIn(unit, [reference]);
	const targets = await ensureTargets(unit, [reference], found.tenants);
	await insert(unit, resolveAssignments([reference], found, targets), { requestId });
}

/** Removes a role assignment. Throws `not_found` if the user does not hold the role there. */
export async function unassign(unit: WritingUnit, reference: AssignmentReference): Promise<AssignmentRow> {
	const [row] = await unassignMany(unit, [reference]);
	if (row === undefined) throw notFound('RoleAssignment', assignmentName(reference));
	return row;
}

/**
 * Removes many role assignments, and skips missing assignments. Returns the removed assignments. Throws `not_found` for
 * an unknown user, role, tenant or instance.
 */
export async function unassignMany(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
): Promise<readonly AssignmentRow[]> {
	if (references.length === 0) return [];
	const { toUsers, toSets } = divideReferences(references, (index) => ['body', index]);
	if (toSets.length > 0) {
		const others = toUsers.map(({ reference }) => reference);
		return [...(await unassignMany(unit, others)), ...(await unassignFromSets(unit, toSets))];
	}
	const found = await participantsIn(unit, references);
	const rows = await heldBetween(unit, resolveAssignments(references, found, await findTargets(unit, references)));
	return remove(unit, rows);
}

/**
 * Replaces all roles held by these users, in tenants and on instances, with the passed roles and expiries. Throws like
 * `assignMany`.
 */
export async function replaceAssignments(
	unit: WritingUnit,
	user_ids: readonly string[],
	references: readonly AssignmentReference[],
): Promise<void> {
	if (user_ids.length === 0) return;
	const found = await participantsIn(unit, references);
	const wanted = resolveAssignments(references, found, await ensureTargets(unit, references, found.tenants));
	const identities = new Set(wanted.map(assignmentIdentity));
	const held = await assignmentsBy(unit, { user_ids }).all();
	await remove(
		unit,
		held.filter((row) => !identities.has(assignmentIdentity(row))),
	);
	await insert(unit, wanted, { changes: 'replace' });
}

/**
 * Removes every matching assignment. Must run before its user, role or tenant is deleted. Returns the number removed.
 */
export async function removeAssignments(unit: WritingUnit, filter: AssignmentFilter): Promise<number> {
	return removeInChunks(assignmentsToRemove(unit, filter), (rows) => remove(unit, rows));
}

/** Removes the assignments of a role to everyone. */
export async function removePublicAssignments(unit: WritingUnit, roleId: string): Promise<void> {
	const holder = (await unit.findMany(Holder, [everyone])).get(everyone);
	if (holder !== undefined) await removeAssignments(unit, { role_ids: [roleId], user_ids: [holder.id] });
}

/** Removes expired assignments, up to the limit of a statement. Returns the number removed. */
export async function removeExpiredAssignments(unit: WritingUnit): Promise<number> {
	return (await remove(unit, await someAssignments(unit, { expired: true }))).length;
}

/**
 * Returns the existing assignments among `wanted`, oldest first. The lookup uses both the user and the role's place,
 * because each alone may have very many assignments.
 */
async function heldBetween(
	unit: ReadingUnit,
	wanted: readonly ResolvedAssignment[],
): Promise<readonly AssignmentRow[]> {
	const distinctRows = new Map(wanted.map((row) => [assignmentIdentity(row), row]));
	const inTenants: HolderAt[] = [];
	const onInstances: HolderAt[] = [];
	for (const { user_id, tenant_id, resource_instance_id } of wanted) {
		if (resource_instance_id === null) inTenants.push({ user_id, place_id: tenant_id });
		else onInstances.push({ user_id, place_id: resource_instance_id });
	}
	const held = [
		...(await assignmentsBetween(unit, 'tenants', inTenants)),
		...(await assignmentsBetween(unit, 'instances', onInstances)),
	];
	const rows = held.flatMap((row): AssignmentRow[] => {
		const resolved = distinctRows.get(assignmentIdentity(row));
		return resolved === undefined ? [] : [withKeys(row, resolved)];
	});
	return rows.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** Adds keys to an assignment row. */
function withKeys(row: RoleAssignment, { user, role, tenant, resource_instance }: ResolvedAssignment): AssignmentRow {
	return { ...row, user, role, tenant, resource_instance };
}

async function insert(
	unit: WritingUnit,
	wanted: readonly ResolvedAssignment[],
	{ requestId = null, changes = 'extend', unlimited = false }: InsertOptions = {},
): Promise<readonly AssignmentRow[]> {
	await refuseWrongGrants(unit, wanted);
	const given = await insertRows(unit, wanted, requestId, changes);
	const conditional = wanted.filter(({ condition_set }) => condition_set !== null);
	if (conditional.length > 0 && !unlimited) {
		await refuseConditionsOverLimit(unit, [...new Set(conditional.map(({ user_id }) => user_id))]);
	}
	return given;
}

async function insertRows(
	unit: WritingUnit,
	wanted: readonly ResolvedAssignment[],
	requestId: string | null,
	changes: 'extend' | 'replace',
): Promise<readonly AssignmentRow[]> {
	const rows = longestEach(wanted);
	const inserted = (await insertAssignments(unit, [...rows.values()], requestId)).flatMap((row) => {
		const resolved = rows.get(assignmentIdentity(row));
		if (resolved === undefined) return [];
		const given = withKeys(row, resolved);
		unit.record('role_assignment', 'create', assignmentName(given), null, assignmentRecord(given));
		return given;
	});
	const added = new Set(inserted.map(assignmentIdentity));
	const stored = [...rows].filter(([identity]) => !added.has(identity)).map(([, row]) => row);
	if (stored.length === 0) return inserted;
	const changed = (await changeExpiries(unit, stored, { changes, requestId })).flatMap(({ before, after }) => {
		const resolved = rows.get(assignmentIdentity(after));
		if (resolved === undefined) return [];
		const given = withKeys(after, resolved);
		const record = assignmentRecord(withKeys(before, resolved));
		unit.record('role_assignment', 'update', assignmentName(given), record, assignmentRecord(given));
		return given;
	});
	return [...inserted, ...changed];
}

interface InsertOptions {
	/** Id of the request that caused the assignments. */
	readonly requestId?: string | null;
	/** With `extend`, existing assignments get only later expiries. With `replace`, they always get the passed expiry. */
	readonly changes?: 'extend' | 'replace';
	/** If set, the caller checks the limit for conditional assignments. */
	readonly unlimited?: boolean;
}

/**
 * Removes duplicates. Of equal unconditional assignments, keeps the latest expiry. Of equal conditional assignments,
 * keeps the last values and their expiry.
 */
function longestEach(wanted: readonly ResolvedAssignment[]): ReadonlyMap<string, ResolvedAssignment> {
	const rows = new Map<string, ResolvedAssignment>();
	for (const row of wanted) {
		const known = rows.get(assignmentIdentity(row));
		if (known === undefined || row.condition_set !== null || endsBefore(known, row)) {
			rows.set(assignmentIdentity(row), row);
		}
	}
	return rows;
}

/** Throws `unprocessable` for conditions the roles do not declare, and for values that do not fit the parameters. */
async function refuseWrongGrants(unit: ReadingUnit, wanted: readonly ResolvedAssignment[]): Promise<void> {
	const conditional = wanted.filter(({ condition_set }) => condition_set !== null);
	if (conditional.length === 0) return;
	const roles = await unit.findMany(
		Role,
		conditional.map(({ role_id }) => role_id),
	);
	const sets = await grantSets(
		unit,
		conditional.flatMap(({ condition_set }) => condition_set ?? []),
	);
	const problems = conditional.flatMap((row): readonly Problem[] => {
		const at = [...row.place, 'condition'];
		if (row.resource_instance_id === null) {
			const msg = 'must be omitted without `resource_instance`: tenant roles are not assigned under conditions';
			return [{ loc: at, msg, type: 'value_error' }];
		}
		if (row.user === everyone) {
			const msg = 'must be omitted for the user `*`: a role assigned to everyone cannot have a condition';
			return [{ loc: at, msg, type: 'value_error' }];
		}
		const { grant_conditions = [] } = roles.get(row.role_id) ?? {};
		return conditionProblems(row, { title: 'role', key: row.role, grant_conditions }, sets, row.place);
	});
	if (problems.length > 0) throw unprocessable(problems.slice(0, maxProblems));
}

async function remove(unit: WritingUnit, rows: readonly AssignmentRow[]): Promise<readonly AssignmentRow[]> {
	await deleteAssignments(unit, rows);
	for (const row of rows) unit.record('role_assignment', 'delete', assignmentName(row), assignmentRecord(row), null);
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

/** Rejects invalid keys for new users. A reference to an existing user may be any string. */
function refuseWrongKeys(references: readonly AssignmentReference[], missing: ReadonlySet<string>): void {
	const problems = references.flatMap(({ user }, index) => {
		const [issue] = (missing.has(user) ? UserKey.safeParse(user).error?.issues : undefined) ?? [];
		return issue === undefined ? [] : [{ loc: ['body', index, 'user'], msg: issue.message, type: issue.code }];
	});
	if (problems.length > 0) throw unprocessable(problems);
}

function assignmentRecord(row: AssignmentRow): ChangedRecord {
	const { environment_id: _, element_request_id = null, expires_at, condition_set, condition_values, ...record } = row;
	const condition = readCondition({ condition_set, condition_values });
	return {
		...record,
		...(condition === undefined ? {} : { condition }),
		...(element_request_id === null ? {} : { element_request_id }),
		...(expires_at === null ? {} : { expires_at }),
	};
}

function assignmentIdentity(row: AssignmentIds): string {
	return `${row.user_id}/${row.role_id}/${row.tenant_id}/${row.resource_instance_id}/${row.condition_set ?? ''}`;
}

interface NamedParts {
	readonly user: string;
	readonly role: string;
	readonly tenant?: string | undefined;
	readonly resource_instance?: string | null | undefined;
	readonly condition_set?: string | null;
	readonly condition?: { readonly set: string } | undefined;
}

function assignmentName({ user, role, tenant, resource_instance, condition_set, condition }: NamedParts): string {
	const set = condition_set ?? condition?.set;
	return `${user}#${role}@${resource_instance ?? tenant}${set === undefined ? '' : ` under ${set}`}`;
}

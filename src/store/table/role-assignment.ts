import type { Model, QueryBuilder } from 'objection';
import type { Attributes } from '../../../compiler/model.js';
import { whereIdsIn } from '../query/filter.js';
import { holdsNow } from '../query/holds-now.js';
import { matchesBoth } from '../query/matches-both.js';
import { rowChunks, rowsPerStatement } from '../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { chunksToRemove } from '../unit/chunks-to-remove.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';
import { instanceNameIn } from './resource-instance.js';

/** A role held by a user in a tenant, or on a resource instance of the tenant. */
export class RoleAssignment extends EnvironmentModel {
	static override readonly tableName = 'role_assignments';
	static readonly kind = 'role_assignment';
	static readonly title = 'RoleAssignment';
	static readonly expires = true;
	static override readonly jsonAttributes = ['condition_values'];

	declare user_id: string;
	declare role_id: string;
	declare tenant_id: string;
	/** `null` for a tenant role. */
	declare resource_instance_id: string | null;
	/** Approved element request that created the assignment; `null` if there was none. */
	declare element_request_id: string | null;
	/** Expiry; `null` if it does not expire. */
	declare expires_at: Date | null;
	/** The assignment's condition set key; `null` if there is none. */
	declare condition_set: string | null;
	/** Condition values; `null` if there are none. */
	declare condition_values: Attributes | null;
}

/** An assignment with its user, role, tenant and instance keys. */
export interface AssignmentRow extends Readonly<Omit<RoleAssignment, keyof Model | 'element_request_id'>> {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
	/** `<resource key>:<instance key>`; `null` for a tenant role. */
	readonly resource_instance: string | null;
	readonly element_request_id?: string | null;
}

/**
 * Filter for assignments. An assignment matches if each list contains the assignment's value. Absent lists do not
 * filter.
 */
export interface AssignmentFilter {
	readonly ids?: readonly string[] | undefined;
	readonly user_ids?: readonly string[] | undefined;
	readonly role_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
	readonly resource_instance_ids?: readonly string[] | undefined;
	/** The instances' resources. */
	readonly resource_ids?: readonly string[] | undefined;
	/** True: only assignments on resource instances; false: only tenant roles. */
	readonly on_instances?: boolean | undefined;
	/** Only assignments under a condition. */
	readonly conditional?: true;
	/** Include expired assignments, which are skipped otherwise. */
	readonly stored?: true;
	/** Only expired assignments; requires `stored`. */
	readonly expired?: true;
}

/** Returns the environment's assignments matching the filter, with keys, oldest first. */
export function assignmentsBy(unit: ReadingUnit, filter: AssignmentFilter): RowQuery<AssignmentRow> {
	const rows = keyedQuery(unit, filter, ['role_assignments.*']).orderBy('role_assignments.id');
	const unjoined = filter.resource_ids === undefined ? narrow(assignmentQuery(unit, filter), filter) : undefined;
	return rowQuery(rows.castTo<(RoleAssignment & AssignmentRow)[]>(), unjoined);
}

/**
 * Returns these users' assignments, with keys, oldest first. Faster than `assignmentsBy` for the few users in typical
 * requests.
 */
export async function readHeldRoles(unit: ReadingUnit, user_ids: readonly string[]): Promise<readonly AssignmentRow[]> {
	return (await unit.prepared<AssignmentRow>('assignments_of_users', ofUsers, { user_ids: [...user_ids] })).rows;
}

const ofUsers = `select role_assignments.*, users.key as "user", roles.key as role, tenants.key as tenant,
		resources.key || ':' || resource_instances.key as resource_instance
	from role_assignments
	join users on users.environment_id = :environment_id and users.id = role_assignments.user_id
	join roles on roles.environment_id = :environment_id and roles.id = role_assignments.role_id
	join tenants on tenants.environment_id = :environment_id and tenants.id = role_assignments.tenant_id
	left join resource_instances on resource_instances.environment_id = :environment_id
		and resource_instances.id = role_assignments.resource_instance_id
	left join resources on resources.environment_id = :environment_id and resources.id = resource_instances.resource_id
	where role_assignments.environment_id = :environment_id and role_assignments.user_id = any(:user_ids::uuid[])
		and ${holdsNow('role_assignments')}
	order by role_assignments.id`;

/** An assignment's keys, expiry and condition. */
export type AssignmentKeys = Pick<
	AssignmentRow,
	'user' | 'role' | 'tenant' | 'resource_instance' | 'expires_at' | 'condition_set' | 'condition_values'
>;

/**
 * Returns the keys, expiry and condition of the assignments matching the filter, in no particular order, because there
 * may be very many.
 */
export async function assignmentKeys(unit: ReadingUnit, filter: AssignmentFilter): Promise<readonly AssignmentKeys[]> {
	return keyedQuery(unit, filter, [
		'role_assignments.expires_at',
		'role_assignments.condition_set',
		'role_assignments.condition_values',
	]).castTo<AssignmentKeys[]>();
}

/** Returns a query for the assignments matching the filter, with these columns and the keys. */
function keyedQuery(
	unit: ReadingUnit,
	filter: AssignmentFilter,
	columns: readonly string[],
): QueryBuilder<RoleAssignment, RoleAssignment[]> {
	const query = assignmentQuery(unit, filter)
		.join('users', sameEnvironment('role_assignments', 'user_id', 'users'))
		.join('roles', sameEnvironment('role_assignments', 'role_id', 'roles'))
		.join('tenants', sameEnvironment('role_assignments', 'tenant_id', 'tenants'))
		.leftJoin('resource_instances', sameEnvironment('role_assignments', 'resource_instance_id', 'resource_instances'))
		.leftJoin('resources', sameEnvironment('resource_instances', 'resource_id', 'resources'))
		.select(...columns, 'users.key as user', 'roles.key as role', 'tenants.key as tenant')
		.select(instanceNameIn('resources', 'resource_instances').as('resource_instance'));
	return narrow(query, filter);
}

function assignmentQuery(unit: ReadingUnit, { stored }: AssignmentFilter) {
	return stored ? unit.queryStored(RoleAssignment) : unit.query(RoleAssignment);
}

function narrow(
	query: QueryBuilder<RoleAssignment, RoleAssignment[]>,
	filter: AssignmentFilter,
): QueryBuilder<RoleAssignment, RoleAssignment[]> {
	whereIdsIn(query, {
		'role_assignments.id': filter.ids,
		'role_assignments.user_id': filter.user_ids,
		'role_assignments.role_id': filter.role_ids,
		'role_assignments.tenant_id': filter.tenant_ids,
		'role_assignments.resource_instance_id': filter.resource_instance_ids,
		'resource_instances.resource_id': filter.resource_ids,
	});
	if (filter.expired) query.whereRaw('role_assignments.expires_at <= statement_timestamp()');
	if (filter.conditional) query.whereNotNull('role_assignments.condition_set');
	if (filter.on_instances === true) query.whereNotNull('role_assignments.resource_instance_id');
	if (filter.on_instances === false) query.whereNull('role_assignments.resource_instance_id');
	return query;
}

/** Returns at most `rowsPerStatement` stored assignments matching the filter, including expired assignments. */
export async function someAssignments(unit: ReadingUnit, filter: AssignmentFilter): Promise<readonly AssignmentRow[]> {
	const query = unit.queryStored(RoleAssignment);
	if (filter.resource_ids !== undefined) {
		query.join('resource_instances', sameEnvironment('role_assignments', 'resource_instance_id', 'resource_instances'));
	}
	narrow(query, filter);
	// Most deleted objects have no assignments. Checking this table first avoids planning the joins for them.
	const found = await query.select('role_assignments.id').limit(rowsPerStatement);
	if (found.length === 0) return [];
	return assignmentsBy(unit, { ids: found.map(({ id }) => id), stored: true }).all();
}

/**
 * Yields the stored assignments matching the filter, in chunks. The caller deletes each chunk before reading the next.
 */
export function assignmentsToRemove(
	unit: WritingUnit,
	filter: AssignmentFilter,
): AsyncIterable<readonly AssignmentRow[]> {
	const stored = { ...filter, stored: true } as const;
	const query = keyedQuery(unit, stored, ['role_assignments.*']).castTo<(RoleAssignment & AssignmentRow)[]>();
	return chunksToRemove<RoleAssignment, AssignmentRow>(unit, RoleAssignment, query, () =>
		someAssignments(unit, filter),
	);
}

/** A user, and a tenant or an instance in which the user may have roles. */
export interface HolderAt {
	readonly user_id: string;
	readonly place_id: string;
}

const conditionsAt = {
	tenants: (place: string) => `${matchesBoth('tenant_id', 'user_id', place, 'wanted.user_id')}
		and cast(resource_instance_id as text) is null`,
	instances: (place: string) =>
		`resource_instance_id = ${place} and cast(user_id as text) = cast(wanted.user_id as text)`,
} as const;

/**
 * Returns an SQL query for the stored assignments of `wanted.user_id` in a tenant or on an instance, which is passed as
 * SQL. INVARIANT: with `offset 0`, the query uses an index that contains both ids, even without statistics, because a
 * user or a place alone may have very many assignments.
 */
export function heldAt(places: keyof typeof conditionsAt, place: string): string {
	return `select * from role_assignments where environment_id = :environment_id and ${conditionsAt[places](place)}`;
}

/**
 * Returns the assignments of these users in these tenants, or on these instances. Includes expired assignments if
 * `stored` is true.
 */
export async function assignmentsBetween(
	unit: ReadingUnit,
	places: keyof typeof conditionsAt,
	pairs: readonly HolderAt[],
	{ stored = false } = {},
): Promise<readonly RoleAssignment[]> {
	if (pairs.length === 0) return [];
	const { rows } = await unit.raw<RoleAssignment>(
		`select held.* from (
			select distinct * from unnest(:users::uuid[], :places::uuid[]) as pairs (user_id, place_id)
		) as wanted cross join lateral (
			${heldAt(places, 'wanted.place_id')} and (:stored or ${holdsNow('role_assignments')}) offset 0
		) as held`,
		{ users: pairs.map(({ user_id }) => user_id), places: pairs.map(({ place_id }) => place_id), stored },
	);
	return rows.map((row) => RoleAssignment.fromDatabaseJson(row));
}

/** An assignment's user, role, tenant and instance ids, and its condition. */
export type AssignmentIds = Pick<
	AssignmentRow,
	'user_id' | 'role_id' | 'tenant_id' | 'resource_instance_id' | 'condition_set'
>;

/** A new assignment's ids, expiry and values. */
export type AssignmentColumns = AssignmentIds & Pick<AssignmentRow, 'expires_at' | 'condition_values'>;

/**
 * Inserts the assignments that do not exist yet, with the request id if one is passed. Returns the inserted
 * assignments. Does not write to the change log.
 */
export async function insertAssignments(
	unit: WritingUnit,
	wanted: readonly AssignmentColumns[],
	element_request_id: string | null = null,
): Promise<readonly RoleAssignment[]> {
	const columns = wanted.map(({ user_id, role_id, tenant_id, resource_instance_id, expires_at, ...condition }) => {
		const { id, created_at } = unit.stamp();
		const { condition_set, condition_values } = condition;
		const ids = { id, created_at, user_id, role_id, tenant_id, resource_instance_id, element_request_id };
		return { ...ids, expires_at, condition_set, condition_values };
	});
	return unit.insertMissing(RoleAssignment, columns);
}

/** Deletes these assignments. Does not write to the change log. */
export async function deleteAssignments(unit: WritingUnit, rows: readonly AssignmentRow[]): Promise<void> {
	for (const [, chunk] of rowChunks(rows)) {
		const ids = chunk.map((row) => row.id);
		await unit.queryStored(RoleAssignment).whereRaw('role_assignments.id = any(?::uuid[])', [ids]).delete();
	}
}

/** A tenant role held by a user, with role key and tenant key. */
export interface HeldTenantRole extends Pick<RoleAssignment, 'user_id' | 'tenant_id'> {
	readonly role: string;
	readonly tenant: string;
}

/** Returns these users' tenant roles, in no particular order. For callers with very many users. */
export async function heldTenantRoles(
	unit: ReadingUnit,
	userIds: readonly string[],
): Promise<readonly HeldTenantRole[]> {
	// The common table expression is materialized: otherwise, with outdated statistics, the planner would read all
	// tenant roles for each chunk of users.
	const { rows } = await unit.raw<HeldTenantRole>(
		`with held as materialized (
			select user_id, tenant_id, role_id, resource_instance_id from role_assignments
			where environment_id = :environment_id and user_id = any(:user_ids::uuid[]) and ${holdsNow('role_assignments')}
		)
		select held.user_id, held.tenant_id, roles.key as role, tenants.key as tenant from held
			join roles on roles.environment_id = :environment_id and roles.id = held.role_id
			join tenants on tenants.environment_id = :environment_id and tenants.id = held.tenant_id
		where held.resource_instance_id is null`,
		{ user_ids: [...userIds] },
	);
	return rows;
}

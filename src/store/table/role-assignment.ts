import type { Model, QueryBuilder } from 'objection';
import { groupBy } from '../../../compiler/group-by.js';
import type { Attributes } from '../../../compiler/model.js';
import { whereIdsIn } from '../query/filter.js';
import { holdsNow } from '../query/holds-now.js';
import { matchesBoth } from '../query/matches-both.js';
import { idsAmong, rowsByReference, whereReferred } from '../query/reference.js';
import { rowChunks, rowsPerStatement } from '../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { chunksToRemove } from '../unit/chunks-to-remove.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';
import { instanceNameIn } from './resource-instance.js';
import { Role } from './role.js';

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
	/** Element request that led to the assignment; `null` if there was none. */
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

/** An assignment's keys and expiry. */
export type AssignmentKeys = Pick<
	AssignmentRow,
	'user' | 'role' | 'tenant' | 'resource_instance' | 'expires_at' | 'condition_set' | 'condition_values'
>;

/**
 * Returns the keys and expiry of the assignments matching the filter, in no particular order, because there may be very
 * many.
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

/**
 * User, role and place of an assignment, each by id or key. The place is a tenant, or a resource instance with or
 * without its tenant.
 */
export interface AssignmentReference {
	readonly user: string;
	readonly role: string;
	readonly tenant?: string | undefined;
	readonly resource_instance?: string | undefined;
	/** The new assignment's expiry; absent if it does not expire. */
	readonly expires_at?: string | undefined;
	/** Condition set under which the role is assigned, with values for a new assignment; absent if there is none. */
	readonly condition?: { readonly set: string; readonly values?: object | undefined } | undefined;
	/** Location in the request; the whole body if absent. */
	readonly place?: readonly (string | number)[];
}

/** An object to which a reference refers. */
export interface Named {
	readonly id: string;
	readonly key: string;
}

/** Objects in assignment references, keyed by reference. Omits unknown references. */
export interface Participants {
	readonly users: ReadonlyMap<string, Named>;
	/** Tenant roles only. Resource roles are looked up later, when their resource is known. */
	readonly roles: ReadonlyMap<string, Named>;
	readonly tenants: ReadonlyMap<string, Named>;
}

/** Returns the users, tenant roles and tenants in the references. Uses a single statement. */
export async function participantsIn(
	unit: ReadingUnit,
	references: readonly AssignmentReference[],
): Promise<Participants> {
	const wanted = {
		users: [...new Set(references.map(({ user }) => user))],
		roles: [...new Set(references.flatMap(({ role, resource_instance }) => (resource_instance ? [] : [role])))],
		tenants: [...new Set(references.flatMap(({ tenant }) => tenant ?? []))],
	};
	const { rows } = await unit.raw<Named & { readonly kind: keyof Participants }>(
		(['users', 'roles', 'tenants'] satisfies (keyof Participants)[])
			.map(
				(kind) => `select '${kind}' as kind, id, key from ${kind} where environment_id = :environment_id
					${kind === 'roles' ? 'and resource_id is null' : ''}
					and (key = any(:${kind}::text[]) or id = any(:${kind}_ids::uuid[]))`,
			)
			.join(' union all '),
		{
			...wanted,
			users_ids: idsAmong(wanted.users),
			roles_ids: idsAmong(wanted.roles),
			tenants_ids: idsAmong(wanted.tenants),
		},
	);
	const named = (kind: keyof Participants) =>
		rowsByReference(
			rows.filter((row) => row.kind === kind),
			wanted[kind],
		);
	return { users: named('users'), roles: named('roles'), tenants: named('tenants') };
}

/** Returns these resources' roles in the references, keyed by resource, then by reference. */
export async function resourceRolesIn(
	unit: ReadingUnit,
	resourceIds: readonly string[],
	references: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, Role>>> {
	const wanted = [...new Set(references)];
	const query = whereIdsIn(unit.query(Role), { 'roles.resource_id': resourceIds });
	const roles = groupBy(await whereReferred(query, 'roles', wanted), (role) => role.resource_id);
	return new Map(resourceIds.map((id) => [id, rowsByReference(roles.get(id) ?? [], wanted)]));
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
function heldAt(places: keyof typeof conditionsAt, place: string): string {
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

/** An assignment before and after its expiry was changed. */
export interface ChangedAssignment {
	readonly before: RoleAssignment;
	readonly after: RoleAssignment;
}

/**
 * Changes these assignments' expiry and values if they are stored. With `extend`, changes an expiry only to a later
 * time, unless the values change: new values must not last longer than the caller allows. An expired assignment is
 * granted again: it gets the request id `requestId`, or none if `requestId` is null. Does not write to the change log.
 */
export async function changeExpiries(
	unit: WritingUnit,
	wanted: readonly AssignmentColumns[],
	{ changes, requestId }: { readonly changes: 'extend' | 'replace'; readonly requestId: string | null },
): Promise<readonly ChangedAssignment[]> {
	const changed: ChangedAssignment[] = [];
	for (const [, chunk] of rowChunks(wanted)) {
		const { rows } = await unit.raw<ExpiryChange>(
			`with before as (
				select held.id, held.expires_at, held.element_request_id, held.condition_values,
					nullif(wanted.expiry, '')::timestamptz as expiry, nullif(wanted.given, '')::jsonb as given
				from unnest(:users::uuid[], :roles::uuid[], :tenants::uuid[], :instances::text[], :expiries::text[],
					:sets::text[], :values::text[]) as wanted (user_id, role_id, tenant_id, instance, expiry, set, given)
				cross join lateral (
					(${heldAt('tenants', 'wanted.tenant_id')} and wanted.instance = '' offset 0)
					union all (${heldAt('instances', `nullif(wanted.instance, '')::uuid`)} offset 0)
				) as held
				where held.role_id = wanted.role_id and held.tenant_id = wanted.tenant_id
					and held.condition_set is not distinct from nullif(wanted.set, '')
					and (held.condition_values is distinct from nullif(wanted.given, '')::jsonb or (
						held.expires_at is distinct from nullif(wanted.expiry, '')::timestamptz
						and (:replace or held.expires_at < coalesce(nullif(wanted.expiry, ''), 'infinity')::timestamptz)
					))
			)
			update role_assignments set expires_at = before.expiry, condition_values = before.given, element_request_id = coalesce(
				:request::uuid, case when before.expires_at <= statement_timestamp() then null else before.element_request_id end
			)
			from before where role_assignments.environment_id = :environment_id and role_assignments.id = before.id
			returning role_assignments.*, before.expires_at as previous_expires_at,
				before.condition_values as previous_values, before.element_request_id as previous_request_id`,
			{
				users: chunk.map(({ user_id }) => user_id),
				roles: chunk.map(({ role_id }) => role_id),
				tenants: chunk.map(({ tenant_id }) => tenant_id),
				instances: chunk.map(({ resource_instance_id }) => resource_instance_id ?? ''),
				expiries: chunk.map(({ expires_at }) => expires_at?.toISOString() ?? ''),
				sets: chunk.map(({ condition_set }) => condition_set ?? ''),
				values: chunk.map(({ condition_values }) =>
					condition_values === null ? '' : JSON.stringify(condition_values),
				),
				replace: changes === 'replace',
				request: requestId,
			},
		);
		changed.push(...rows.map(asChangedAssignment));
	}
	return changed;
}

interface ExpiryChange extends RoleAssignment {
	readonly previous_expires_at: Date | null;
	readonly previous_request_id: string | null;
	readonly previous_values: Attributes | null;
}

function asChangedAssignment({
	previous_expires_at,
	previous_request_id,
	previous_values,
	...columns
}: ExpiryChange): ChangedAssignment {
	const after = RoleAssignment.fromDatabaseJson(columns);
	const before = RoleAssignment.fromDatabaseJson({
		...columns,
		expires_at: previous_expires_at,
		element_request_id: previous_request_id,
		condition_values: previous_values,
	});
	return { before, after };
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

/** A role's conditional assignments with the same condition and values. */
export interface ConditionalAssignment {
	readonly role_id: string;
	readonly condition_set: string;
	readonly condition_values: Attributes;
}

/**
 * Returns the different roles, conditions and values in stored conditional assignments for these roles or sets,
 * including expired assignments, in no particular order.
 */
export async function conditionalAssignments(
	unit: ReadingUnit,
	{ role_ids, sets }: { readonly role_ids?: readonly string[]; readonly sets?: readonly string[] },
): Promise<readonly ConditionalAssignment[]> {
	const query = unit
		.queryStored(RoleAssignment)
		.whereNotNull('role_assignments.condition_set')
		.distinct('role_assignments.role_id', 'role_assignments.condition_set', 'role_assignments.condition_values');
	if (role_ids !== undefined) query.whereRaw('role_assignments.role_id = any(?::uuid[])', [role_ids]);
	if (sets !== undefined) query.whereRaw('role_assignments.condition_set = any(?::text[])', [sets]);
	return query.castTo<ConditionalAssignment[]>();
}

/** The most expensive conditions that a check may evaluate. */
interface ConditionStepsFound {
	/** User key. */
	readonly user: string;
	readonly tenant: string;
	/** The instance of the assignments; `null` if they are anywhere in the tenant. */
	readonly resource_instance: string | null;
	readonly steps: number;
}

/**
 * Returns the user with the most expensive conditional assignments: on an instance, together with all assignments of
 * leading roles in its tenant. Roles on other instances are derived from leading roles. `steps` contains the steps of
 * each condition, and `calls` the number of its evaluations for each role.
 */
export async function mostConditionSteps(
	unit: ReadingUnit,
	{
		userIds,
		leadingRoleIds,
		steps,
		calls,
	}: {
		readonly userIds: readonly string[] | 'all';
		readonly leadingRoleIds: readonly string[];
		readonly steps: ReadonlyMap<string, number>;
		readonly calls: ReadonlyMap<string, number>;
	},
): Promise<ConditionStepsFound | undefined> {
	const { rows } = await unit.raw<ConditionStepsFound>(
		`with summed as (
			select user_id, tenant_id, instance_id, sum(weights.steps * called.calls) as steps from (
				select user_id, tenant_id, role_id, condition_set,
					case when role_id = any(:leading::uuid[]) then null else resource_instance_id end as instance_id
				from role_assignments
				where environment_id = :environment_id and condition_set is not null and ${holdsNow('role_assignments')}
					and (:all or user_id = any(:users::uuid[]))
			) as held
			join unnest(:sets::text[], :steps::float8[]) as weights (set, steps) on weights.set = held.condition_set
			join unnest(:roles::uuid[], :calls::float8[]) as called (role_id, calls) on called.role_id = held.role_id
			group by user_id, tenant_id, instance_id
		), most as (
			select summed.user_id, summed.tenant_id, summed.instance_id,
				summed.steps + coalesce(inherited.steps, 0) as total
			from summed
			left join summed as inherited on summed.instance_id is not null and inherited.instance_id is null
				and inherited.user_id = summed.user_id and inherited.tenant_id = summed.tenant_id
			order by total desc limit 1
		)
		select users.key as "user", tenants.key as tenant, most.total as steps,
			resources.key || ':' || resource_instances.key as resource_instance
		from most
		join users on users.environment_id = :environment_id and users.id = most.user_id
		join tenants on tenants.environment_id = :environment_id and tenants.id = most.tenant_id
		left join resource_instances on resource_instances.environment_id = :environment_id
			and resource_instances.id = most.instance_id
		left join resources on resources.environment_id = :environment_id and resources.id = resource_instances.resource_id`,
		{
			all: userIds === 'all',
			users: userIds === 'all' ? [] : [...userIds],
			leading: [...leadingRoleIds],
			sets: [...steps.keys()],
			steps: [...steps.values()],
			roles: [...calls.keys()],
			calls: [...calls.values()],
		},
	);
	return rows[0];
}

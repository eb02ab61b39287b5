import { groupBy } from '../../../compiler/group-by.js';
import { holdsNow } from '../query/holds-now.js';
import { matchesBoth } from '../query/matches-both.js';
import type { AssignmentRow } from '../table/role-assignment.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { TupleStep } from './fact-edges.js';

/**
 * Reads the parts of role paths: relationships between instances, and a user's assigned roles. Skips expired rows.
 * INVARIANT: each lookup reads an index up to a limit, even without statistics. An id from `unnest` is planned like an
 * average id. For a literal id, the planner might instead choose a table scan, expecting it to reach the limit soon.
 */

/** Ids of an instance, as subject or object, and of a relation. */
export interface InstanceRelation {
	readonly instance_id: string;
	readonly relation_id: string;
}

/** Relationships, and the instances whose relationships were truncated at the limit. */
export interface FoundTuples {
	readonly tuples: readonly TupleStep[];
	readonly cut: ReadonlySet<string>;
}

export type TupleEnd = 'subject' | 'object';

const conditions: Readonly<Record<TupleEnd, string>> = {
	subject: 'subject_id = wanted.instance_id and cast(relation_id as text) = cast(wanted.relation_id as text)',
	object: matchesBoth('object_id', 'relation_id', 'wanted.instance_id', 'wanted.relation_id'),
};

/** Maximum number of relationships per read. */
const mostTuples = 20_000;

/**
 * Returns the relationships that have these instances as subject or object, depending on `end`: at most `most` per
 * instance and relation. Ignores conditional relationships unless `conditional` is true. If the total reaches
 * `mostTuples`, all instances are reported as truncated.
 */
export async function tuplesAt(
	unit: ReadingUnit,
	end: TupleEnd,
	wanted: readonly InstanceRelation[],
	{ most, conditional = false }: { readonly most: number; readonly conditional?: boolean },
): Promise<FoundTuples> {
	if (wanted.length === 0) return { tuples: [], cut: new Set() };
	const { rows } = await unit.raw<TupleStep>(
		`select step.* from unnest(:instances::uuid[], :relations::uuid[]) as wanted (instance_id, relation_id)
		cross join lateral (
			select id, subject_id, relation_id, object_id, expires_at, condition_set from relationship_tuples
			where environment_id = :environment_id and ${conditions[end]}
				${conditional ? '' : 'and condition_set is null'} and ${holdsNow('relationship_tuples')}
			limit :most offset 0
		) as step limit :all`,
		{
			instances: wanted.map(({ instance_id }) => instance_id),
			relations: wanted.map(({ relation_id }) => relation_id),
			most: most + 1,
			all: mostTuples,
		},
	);
	const tuples: TupleStep[] = [];
	const cut = new Set(rows.length < mostTuples ? [] : wanted.map(({ instance_id }) => instance_id));
	for (const same of groupBy(rows, (row) => `${row[`${end}_id`]} ${row.relation_id}`).values()) {
		tuples.push(...same.slice(0, most));
		const [first] = same;
		if (same.length > most && first !== undefined) cut.add(first[`${end}_id`]);
	}
	return { tuples, cut };
}

/** Ids of a role assigned to a user on an instance. */
export interface AssignedRole
	extends Pick<AssignmentRow, 'id' | 'role_id' | 'tenant_id' | 'expires_at' | 'condition_set'> {
	readonly instance_id: string;
}

const assignedColumns = 'id, role_id, resource_instance_id as instance_id, tenant_id, expires_at, condition_set';

/** Returns all roles assigned to a user on these instances, with or without conditions. */
export async function rolesAssignedOn(
	unit: ReadingUnit,
	userId: string,
	instanceIds: readonly string[],
): Promise<readonly AssignedRole[]> {
	if (instanceIds.length === 0) return [];
	const { rows } = await unit.raw<AssignedRole>(
		`select held.* from unnest(:instances::uuid[]) as wanted (id) cross join lateral (
			select ${assignedColumns} from role_assignments
			where environment_id = :environment_id and resource_instance_id = wanted.id
				and cast(user_id as text) = :user and ${holdsNow('role_assignments')} offset 0
		) as held`,
		{ instances: [...instanceIds], user: userId },
	);
	return rows;
}

/**
 * Returns a user's assignments to these resource roles, at most `most` per role: only assignments without a condition,
 * unless `conditional` is true.
 */
export async function rolesAssigned(
	unit: ReadingUnit,
	{ userId, conditional }: { readonly userId: string; readonly conditional: boolean },
	roleIds: readonly string[],
	most: number,
): Promise<{ readonly assigned: readonly AssignedRole[]; readonly cut: boolean }> {
	if (roleIds.length === 0) return { assigned: [], cut: false };
	const { rows } = await unit.raw<AssignedRole>(
		`select held.* from unnest(array[:user::uuid]) as holder (id) cross join unnest(:roles::uuid[]) as wanted (id)
		cross join lateral (
			select ${assignedColumns} from role_assignments
			where environment_id = :environment_id and ${matchesBoth('user_id', 'role_id', 'holder.id', 'wanted.id')}
				and (:conditional or condition_set is null) and ${holdsNow('role_assignments')} limit :most offset 0
		) as held`,
		{ roles: [...roleIds], user: userId, conditional, most: most + 1 },
	);
	const lists = [...groupBy(rows, ({ role_id }) => role_id).values()];
	return { assigned: lists.flatMap((list) => list.slice(0, most)), cut: lists.some((list) => list.length > most) };
}

/** Ids of a role assigned to a user in a tenant. */
export type AssignedTenantRole = Omit<AssignedRole, 'instance_id' | 'condition_set'>;

/** Returns at most `most` of a user's roles in a tenant, without roles on instances. */
export async function rolesAssignedIn(
	unit: ReadingUnit,
	userId: string,
	tenantId: string,
	most: number,
): Promise<readonly AssignedTenantRole[]> {
	const { rows } = await unit.raw<AssignedTenantRole>(
		`select held.* from unnest(array[:user::uuid], array[:tenant::uuid]) as wanted (id, tenant) cross join lateral (
			select id, role_id, tenant_id, expires_at from role_assignments
			where environment_id = :environment_id and ${matchesBoth('tenant_id', 'user_id', 'wanted.tenant', 'wanted.id')}
				and cast(resource_instance_id as text) is null and ${holdsNow('role_assignments')} limit :most offset 0
		) as held`,
		{ tenant: tenantId, user: userId, most },
	);
	return rows;
}

/**
 * Derivation of a role on the object from a role on the subject, through a relation. See `relationSteps` for steps
 * without roles.
 */
export interface RoleStep {
	/** Role on the subject. */
	readonly source_id: string;
	/** Derived role on the object. */
	readonly target_id: string;
	readonly relation_id: string;
	/** True if a role assigned on the object disables the derivation. */
	readonly stops: boolean;
}

/**
 * Returns a step for each relation, regardless of derivations. Each step is written as if every resource had a single
 * role, whose id is the resource's id.
 */
export async function relationSteps(unit: ReadingUnit): Promise<readonly RoleStep[]> {
	const { rows } = await unit.raw<RoleStep>(
		`select id as relation_id, subject_resource_id as source_id, resource_id as target_id, false as stops
		from relations where environment_id = :environment_id`,
		{},
	);
	return rows;
}

/** Ids of a role assigned to a user in a tenant or on an instance. */
export type HeldRole = AssignedTenantRole & { readonly instance_id: string | null };

/**
 * Returns up to `most` roles assigned to a user without a condition, sorted from oldest to newest. If `tenantId` is not
 * null, returns only roles in this tenant.
 */
export async function rolesHeld(
	unit: ReadingUnit,
	userId: string,
	tenantId: string | null,
	most: number,
): Promise<readonly HeldRole[]> {
	const place =
		tenantId === null ? 'user_id = wanted.id' : matchesBoth('tenant_id', 'user_id', 'wanted.tenant', 'wanted.id');
	const { rows } = await unit.raw<HeldRole>(
		`select held.* from unnest(array[:user::uuid], array[:tenant::uuid]) as wanted (id, tenant) cross join lateral (
			select ${assignedColumns} from role_assignments
			where environment_id = :environment_id and ${place} and condition_set is null
				and ${holdsNow('role_assignments')} limit :most offset 0
		) as held order by held.id`,
		{ user: userId, tenant: tenantId, most },
	);
	return rows;
}

import { roleOperands } from '../../../compiler/role-expression.js';
import { expiryMilliseconds } from '../query/holds-now.js';
import type { TupleIds } from '../table/relationship-tuple.js';
import { computedRoles, rolesOfResources } from '../table/role.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/**
 * Follows relationships from instance to instance. Each walk is a single statement. INVARIANT: each step uses the index
 * that begins with the instance, even without statistics. Comparing the relation as text rules out all other indexes,
 * and `offset 0` prevents the planner from merging the step into the outer query.
 */

/** A tuple as a path step. Expired tuples are included until the sweeper deletes them. */
export type StepIds = Pick<TupleIds, 'subject_id' | 'relation_id' | 'object_id'> &
	Partial<Pick<TupleIds, 'condition_set'>>;

/** A step with its expiry in milliseconds since 1970. */
export interface ExpiringStep extends StepIds {
	readonly expires_at: number | null;
}

const stepColumns = `subject_id, relation_id, object_id, condition_set,
	${expiryMilliseconds('relationship_tuples')} as expires_at`;

/**
 * Returns these instances and all instances reachable from them. If there are more than `most`, returns `most` plus 1
 * of them.
 */
export async function instancesDownstream(
	unit: ReadingUnit,
	relationIds: readonly string[],
	instanceIds: readonly string[],
	most?: number,
): Promise<readonly string[]> {
	const { rows } = await unit.raw<{ readonly id: string }>(
		`with recursive reached (id) as (
			select unnest(:instances::uuid[])
			union
			select next.id from reached cross join lateral (
				select object_id as id from relationship_tuples
				where environment_id = :environment_id and subject_id = reached.id
					and cast(relation_id as text) = any(:relations::text[]) offset 0
			) as next
		)
		select id from reached limit :limit`,
		{ instances: [...instanceIds], relations: [...relationIds], limit: oneMoreThan(most) },
	);
	return rows.map(({ id }) => id);
}

/** Relations to follow upstream, and the maximum number of tuples to read. */
interface UpstreamWalk {
	readonly relationIds: readonly string[];
	/** Relations that enter a path: their tuples are returned but not followed. */
	readonly enteringIds?: readonly string[];
	/** If set, conditional tuples are ignored. */
	readonly unconditional?: true;
	readonly most?: number;
}

/**
 * Returns the distinct tuples on paths to these instances. If there are more than `most`, returns `most` plus 1 of
 * them.
 */
export async function tuplesUpstream(
	unit: ReadingUnit,
	{ relationIds, enteringIds = [], unconditional, most }: UpstreamWalk,
	instanceIds: readonly string[],
): Promise<readonly ExpiringStep[]> {
	const into = (object: string, relations: string) =>
		`select ${stepColumns} from relationship_tuples
		where environment_id = :environment_id and object_id = ${object}
			and cast(relation_id as text) = any(${relations}) ${unconditional ? 'and condition_set is null' : ''} offset 0`;
	const { rows } = await unit.raw<ExpiringStep>(
		`with recursive upstream (id) as (
			select unnest(:instances::uuid[])
			union
			select before.subject_id from upstream
				cross join lateral (${into('upstream.id', ':relations::text[]')}) as before
		)
		select step.* from upstream
			cross join lateral (${into('upstream.id', ':relations::text[] || :entering::text[]')}) as step limit :limit`,
		{
			instances: [...new Set(instanceIds)],
			relations: [...relationIds],
			entering: enteringIds.filter((id) => !relationIds.includes(id)),
			limit: oneMoreThan(most),
		},
	);
	return rows;
}

/**
 * Returns all unconditional tuples of these relations. If there are more than `most`, returns `most` plus 1 of them.
 */
export async function tuplesAlong(
	unit: ReadingUnit,
	relationIds: readonly string[],
	most?: number,
): Promise<readonly ExpiringStep[]> {
	const { rows } = await unit.raw<ExpiringStep>(
		`select ${stepColumns} from relationship_tuples
		where environment_id = :environment_id and relation_id = any(:relations::uuid[]) and condition_set is null
		limit :limit`,
		{ relations: [...relationIds], limit: oneMoreThan(most) },
	);
	return rows;
}

/** Derivation of a role from a source role, by ids. */
export interface DerivationStep {
	readonly role_id: string;
	/** The derived role's resource. */
	readonly resource_id: string;
	readonly source_role_id: string;
	readonly relation_id: string;
	/** True if a role assigned on the object disables the derivation, as set on the derivation or its block. */
	readonly no_direct_roles_on_object: boolean;
	/** True if the derived role's resource has user sets, which may name its roles. */
	readonly asked_by_sets: boolean;
	/** True if the relation declares conditions. */
	readonly conditional?: boolean;
}

/** A computed role and its operands, by ids. An operand may occur several times. */
export interface ComputedRoleIds {
	readonly role_id: string;
	readonly resource_id: string;
	readonly operand_ids: readonly string[];
}

export async function computedRoleIds(unit: ReadingUnit): Promise<readonly ComputedRoleIds[]> {
	const computed = await computedRoles(unit).all();
	if (computed.length === 0) return [];
	const resourceIds = [...new Set(computed.flatMap(({ resource_id }) => resource_id ?? []))];
	const ids = new Map(
		(await rolesOfResources(unit, resourceIds).all()).map(({ id, key, resource_id }) => [`${resource_id} ${key}`, id]),
	);
	return computed.map(({ id, resource_id, computed: expression }) => ({
		role_id: id,
		resource_id: resource_id ?? '',
		operand_ids:
			expression === null
				? []
				: roleOperands(expression).flatMap(({ role }) => ids.get(`${resource_id} ${role}`) ?? []),
	}));
}

/** Returns all derivations if at least one of them uses these relations, and no derivations otherwise. */
export async function derivationsWith(
	unit: ReadingUnit,
	relationIds: readonly string[] | 'all',
): Promise<readonly DerivationStep[]> {
	const { rows } = await unit.raw<DerivationStep>(
		`select step.role_id, roles.resource_id, step.source_role_id, step.relation_id,
			step.no_direct_roles_on_object or roles.no_direct_roles_on_object as no_direct_roles_on_object,
			exists (
				select from condition_sets
				where environment_id = :environment_id and resource_id = roles.resource_id and type = 'userset'
			) as asked_by_sets,
			relations.grant_conditions <> '[]'::jsonb as conditional
		from role_derivations as step
		join roles on roles.environment_id = :environment_id and roles.id = step.role_id
		join relations on relations.environment_id = :environment_id and relations.id = step.relation_id
		where step.environment_id = :environment_id and (:all or exists (
			select from role_derivations
			where environment_id = :environment_id and relation_id = any(:relations::uuid[])
		))`,
		{ all: relationIds === 'all', relations: relationIds === 'all' ? [] : [...relationIds] },
	);
	return rows;
}

/** Yields all tuples of these relations, in chunks. */
export async function* tuplePortions(
	unit: ReadingUnit,
	relationIds: readonly string[],
): AsyncGenerator<readonly StepIds[]> {
	const most = 20_000;
	let after: string | null = null;
	do {
		const { rows }: { readonly rows: readonly (StepIds & { readonly id: string })[] } = await unit.raw(
			`select id, subject_id, relation_id, object_id, condition_set from relationship_tuples
			where environment_id = :environment_id and (:after::uuid is null or id > :after)
				and cast(relation_id as text) = any(:relations::text[])
			order by id limit :limit`,
			{ after, relations: [...relationIds], limit: most },
		);
		yield rows;
		after = rows.length < most ? null : (rows.at(-1)?.id ?? null);
	} while (after !== null);
}

/** Returns true if at least one tuple uses these relations. */
export async function anyTuple(unit: ReadingUnit, relationIds: readonly string[]): Promise<boolean> {
	const { rows } = await unit.raw(
		`select from relationship_tuples
		where environment_id = :environment_id and relation_id = any(:relations::uuid[]) limit 1`,
		{ relations: [...new Set(relationIds)] },
	);
	return rows.length > 0;
}

/** Returns the instances among `instanceIds` that are subjects in these relations. */
export async function leadingOn(
	unit: ReadingUnit,
	relationIds: readonly string[],
	instanceIds: readonly string[],
): Promise<ReadonlySet<string>> {
	const { rows } = await unit.raw<{ readonly id: string }>(
		`select wanted.id from unnest(:instances::uuid[]) as wanted (id) where exists (
			select from relationship_tuples where environment_id = :environment_id and subject_id = wanted.id
				and cast(relation_id as text) = any(:relations::text[])
		)`,
		{ instances: [...instanceIds], relations: [...relationIds] },
	);
	return new Set(rows.map(({ id }) => id));
}

/** Returns the row limit of a statement: `most` plus 1, or null for no limit. */
function oneMoreThan(most: number | undefined): number | null {
	return most === undefined ? null : most + 1;
}

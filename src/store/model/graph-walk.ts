import type { TupleIds } from '../table/relationship-tuple.js';
import { expiryMilliseconds } from '../unit/holds-now.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/**
 * Follows relationships of some relations from instance to instance, each time in one statement. INVARIANT: each step
 * uses the index of the instance, even without statistics: the relation is compared as text, which rules out the other
 * indexes, and `offset 0` keeps the planner from merging the step.
 */

/** A tuple as a step of a path. Expired ones are stored, and so are steps, until they are swept. */
export type StepIds = Pick<TupleIds, 'subject_id' | 'relation_id' | 'object_id'>;

/** A step, and when it ends, in milliseconds since 1970. */
export interface ExpiringStep extends StepIds {
	readonly expires_at: number | null;
}

const stepColumns = `subject_id, relation_id, object_id, ${expiryMilliseconds('relationship_tuples')} as expires_at`;

/** The instances that paths from these lead to, these included; `most` and one more when there are more. */
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

/** Which relations a walk upstream follows, and the most tuples that it reads. */
interface UpstreamWalk {
	/** The relations that paths follow. */
	readonly relationIds: readonly string[];
	/** The relations by which a path is entered: their tuples are returned but not followed any further. */
	readonly enteringIds?: readonly string[];
	readonly most?: number;
}

/** The tuples on the paths that lead to these instances, each once; `most` and one more when there are more. */
export async function tuplesUpstream(
	unit: ReadingUnit,
	{ relationIds, enteringIds = [], most }: UpstreamWalk,
	instanceIds: readonly string[],
): Promise<readonly ExpiringStep[]> {
	const into = (object: string, relations: string) =>
		`select ${stepColumns} from relationship_tuples
		where environment_id = :environment_id and object_id = ${object}
			and cast(relation_id as text) = any(${relations}) offset 0`;
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

/** All tuples of these relations; `most` and one more when there are more. */
export async function tuplesAlong(
	unit: ReadingUnit,
	relationIds: readonly string[],
	most?: number,
): Promise<readonly ExpiringStep[]> {
	const { rows } = await unit.raw<ExpiringStep>(
		`select ${stepColumns} from relationship_tuples
		where environment_id = :environment_id and relation_id = any(:relations::uuid[]) limit :limit`,
		{ relations: [...relationIds], limit: oneMoreThan(most) },
	);
	return rows;
}

/** How a role is derived from another one, by ids. */
export interface DerivationStep {
	readonly role_id: string;
	/** The resource of that role. */
	readonly resource_id: string;
	readonly source_role_id: string;
	readonly relation_id: string;
	/** Whether a role assigned on the object stops it, by the derivation's own setting or that of its block. */
	readonly no_direct_roles_on_object: boolean;
}

/** All derivations, if anything is derived through any of these relations, or else none. */
export async function derivationsWith(
	unit: ReadingUnit,
	relationIds: readonly string[] | 'all',
): Promise<readonly DerivationStep[]> {
	const { rows } = await unit.raw<DerivationStep>(
		`select step.role_id, roles.resource_id, step.source_role_id, step.relation_id,
			step.no_direct_roles_on_object or roles.no_direct_roles_on_object as no_direct_roles_on_object
		from role_derivations as step
		join roles on roles.environment_id = :environment_id and roles.id = step.role_id
		where step.environment_id = :environment_id and (:all or exists (
			select from role_derivations
			where environment_id = :environment_id and relation_id = any(:relations::uuid[])
		))`,
		{ all: relationIds === 'all', relations: relationIds === 'all' ? [] : [...relationIds] },
	);
	return rows;
}

/** All tuples of these relations, in chunks. */
export async function* tuplePortions(
	unit: ReadingUnit,
	relationIds: readonly string[],
): AsyncGenerator<readonly StepIds[]> {
	const most = 20_000;
	let after: string | null = null;
	do {
		const { rows }: { readonly rows: readonly (StepIds & { readonly id: string })[] } = await unit.raw(
			`select id, subject_id, relation_id, object_id from relationship_tuples
			where environment_id = :environment_id and (:after::uuid is null or id > :after)
				and cast(relation_id as text) = any(:relations::text[])
			order by id limit :limit`,
			{ after, relations: [...relationIds], limit: most },
		);
		yield rows;
		after = rows.length < most ? null : (rows.at(-1)?.id ?? null);
	} while (after !== null);
}

/** Whether there is any tuple of these relations. */
export async function anyTuple(unit: ReadingUnit, relationIds: readonly string[]): Promise<boolean> {
	const { rows } = await unit.raw(
		`select from relationship_tuples
		where environment_id = :environment_id and relation_id = any(:relations::uuid[]) limit 1`,
		{ relations: [...new Set(relationIds)] },
	);
	return rows.length > 0;
}

/** Which of these instances is the subject of any of these relations. */
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

/** The limit of a statement: one more than `most`, or none. */
function oneMoreThan(most: number | undefined): number | null {
	return most === undefined ? null : most + 1;
}

import type { TupleIds } from './table/relationship-tuple.js';
import type { ReadingUnit } from './unit.js';

/**
 * Ways that relationships make from instance to instance, followed along some relations, in one statement each.
 * INVARIANT: each step goes by the index of the instance, also in a database that has not counted its rows yet: so the
 * relation is compared as a text, for which the others are no use, and `offset 0` keeps the step as it is.
 */

/** A tuple as a step of a way. */
export type StepIds = Pick<TupleIds, 'subject_id' | 'relation_id' | 'object_id'>;

/** The instances that ways from these come to, these among them; `most` and one more when there are more. */
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
		{ instances: [...instanceIds], relations: [...relationIds], limit: limitOf(most) },
	);
	return rows.map(({ id }) => id);
}

/** Along which relations tuples are looked for, and how many. */
export interface Upstream {
	/** Those that ways follow. */
	readonly relationIds: readonly string[];
	/** Those by which something enters a way: told, and not followed any further. */
	readonly enteringIds?: readonly string[];
	readonly most?: number;
}

/** The tuples on the ways that lead to these instances, each once; `most` and one more when there are more. */
export async function tuplesUpstream(
	unit: ReadingUnit,
	{ relationIds, enteringIds = [], most }: Upstream,
	instanceIds: readonly string[],
): Promise<readonly StepIds[]> {
	const into = (object: string, relations: string) =>
		`select subject_id, relation_id, object_id from relationship_tuples
		where environment_id = :environment_id and object_id = ${object}
			and cast(relation_id as text) = any(${relations}) offset 0`;
	const { rows } = await unit.raw<StepIds>(
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
			limit: limitOf(most),
		},
	);
	return rows;
}

/** All tuples of these relations; `most` and one more when there are more. */
export async function tuplesAlong(
	unit: ReadingUnit,
	relationIds: readonly string[],
	most?: number,
): Promise<readonly StepIds[]> {
	const { rows } = await unit.raw<StepIds>(
		`select subject_id, relation_id, object_id from relationship_tuples
		where environment_id = :environment_id and relation_id = any(:relations::uuid[]) limit :limit`,
		{ relations: [...relationIds], limit: limitOf(most) },
	);
	return rows;
}

/** How a role is derived from another one, by ids. */
export interface DerivationStep {
	readonly role_id: string;
	readonly source_role_id: string;
	readonly relation_id: string;
	/** Whether a role assigned on the object stops it, by the rule or by its block. */
	readonly no_direct_roles_on_object: boolean;
}

/** The derivations that lead, over any number of them, to these roles or to those derived through these relations. */
export async function derivationsUpstream(
	unit: ReadingUnit,
	of: { readonly role_ids?: readonly string[]; readonly relation_ids?: readonly string[] },
): Promise<readonly DerivationStep[]> {
	const { rows } = await unit.raw<DerivationStep>(
		`with recursive upstream (id) as (
			select role_id from role_derivations where environment_id = :environment_id
				and (relation_id = any(:relations::uuid[]) or role_id = any(:roles::uuid[]))
			union
			select before.source_role_id from upstream join role_derivations as before
				on before.environment_id = :environment_id and before.role_id = upstream.id
		)
		select step.role_id, step.source_role_id, step.relation_id,
			step.no_direct_roles_on_object or roles.no_direct_roles_on_object as no_direct_roles_on_object
		from upstream
		join role_derivations as step on step.environment_id = :environment_id and step.role_id = upstream.id
		join roles on roles.environment_id = :environment_id and roles.id = step.role_id`,
		{ relations: [...(of.relation_ids ?? [])], roles: [...(of.role_ids ?? [])] },
	);
	return rows;
}

/** No limit where there is none. */
function limitOf(most: number | undefined): number | null {
	return most === undefined ? null : most + 1;
}

import type { Model, QueryBuilder } from 'objection';
import type { Attributes } from '../../../compiler/model.js';
import { whereIdsIn } from '../query/filter.js';
import { matchesAll } from '../query/matches-both.js';
import { rowChunks, rowsPerStatement } from '../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { chunksToRemove } from '../unit/chunks-to-remove.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';
import { hiddenRelations, isShown } from './relation.js';
import { instanceNameIn } from './resource-instance.js';

/** A relationship from the subject instance to the object instance, both in the same tenant. */
export class RelationshipTuple extends EnvironmentModel {
	static override readonly tableName = 'relationship_tuples';
	static readonly kind = 'relationship_tuple';
	static readonly title = 'RelationshipTuple';
	static readonly expires = true;
	static override readonly jsonAttributes = ['condition_values'];

	declare subject_id: string;
	declare relation_id: string;
	declare object_id: string;
	declare tenant_id: string;
	declare updated_at: Date;
	/** Expiry; `null` if it does not expire. */
	declare expires_at: Date | null;
	/** The tuple's condition set key; `null` if there is none. */
	declare condition_set: string | null;
	/** Condition values; `null` if there are none. */
	declare condition_values: Attributes | null;
}

/** A tuple's keys. Subject and object have the form `<resource key>:<instance key>`. */
export interface TupleKeys {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
	readonly tenant: string;
}

/** A tuple's instance, relation and tenant ids, and its condition. */
export type TupleIds = Pick<
	RelationshipTuple,
	'subject_id' | 'relation_id' | 'object_id' | 'tenant_id' | 'condition_set'
>;

export interface TupleRow extends TupleKeys, Readonly<Omit<RelationshipTuple, keyof Model>> {}

/** Filter for tuples. A tuple matches if each list contains the tuple's value. Absent lists do not filter. */
export interface TupleFilter {
	readonly relation_ids?: readonly string[] | undefined;
	readonly subject_ids?: readonly string[] | undefined;
	readonly object_ids?: readonly string[] | undefined;
	/** Instances on either side. */
	readonly instance_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
	/** Resources of the subjects, and of the objects. */
	readonly subject_type_ids?: readonly string[] | undefined;
	readonly object_type_ids?: readonly string[] | undefined;
	/** Only tuples under a condition. */
	readonly conditional?: true;
	/** Include hidden relation tuples, which are skipped otherwise. */
	readonly hidden?: true;
	/** Include expired tuples, which are skipped otherwise. */
	readonly stored?: true;
	/** Only expired tuples; requires `stored`. */
	readonly expired?: true;
}

/** Returns the environment's tuples matching the filter, with keys, oldest first. */
export function tuplesBy(unit: ReadingUnit, filter: TupleFilter): RowQuery<TupleRow> {
	const joined = filter.subject_type_ids !== undefined || filter.object_type_ids !== undefined;
	return rowQuery(
		tupleQuery(unit, filter).castTo<TupleRow[]>(),
		joined ? undefined : withoutHidden(unit, narrow(storedOrLive(unit, filter), filter), filter),
	);
}

/** Like `tuplesBy`, but in no particular order, because there may be very many tuples. */
export async function tuplesUnordered(unit: ReadingUnit, filter: TupleFilter): Promise<readonly TupleRow[]> {
	return tupleQuery(unit, filter).clearOrder().castTo<TupleRow[]>();
}

function tupleQuery(unit: ReadingUnit, filter: TupleFilter): QueryBuilder<RelationshipTuple, RelationshipTuple[]> {
	const query = storedOrLive(unit, filter)
		.join('resource_instances as subjects', sameEnvironment('relationship_tuples', 'subject_id', 'subjects'))
		.join('resources as subject_types', sameEnvironment('subjects', 'resource_id', 'subject_types'))
		.join('relations', sameEnvironment('relationship_tuples', 'relation_id', 'relations'))
		.join('resource_instances as objects', sameEnvironment('relationship_tuples', 'object_id', 'objects'))
		.join('resources as object_types', sameEnvironment('objects', 'resource_id', 'object_types'))
		.join('tenants', sameEnvironment('relationship_tuples', 'tenant_id', 'tenants'))
		.select('relationship_tuples.*', 'relations.key as relation', 'tenants.key as tenant')
		.select(
			instanceNameIn('subject_types', 'subjects').as('subject'),
			instanceNameIn('object_types', 'objects').as('object'),
		)
		.orderBy('relationship_tuples.id');
	if (!filter.hidden) query.whereRaw(isShown);
	return narrow(query, filter);
}

/** Skips hidden relation tuples in a query without joins. */
function withoutHidden(
	unit: ReadingUnit,
	query: QueryBuilder<RelationshipTuple, RelationshipTuple[]>,
	{ hidden }: TupleFilter,
): QueryBuilder<RelationshipTuple, RelationshipTuple[]> {
	return hidden
		? query
		: query.whereNotIn('relationship_tuples.relation_id', hiddenRelations(unit).select('relations.id'));
}

function storedOrLive(unit: ReadingUnit, { stored }: TupleFilter) {
	return stored ? unit.queryStored(RelationshipTuple) : unit.query(RelationshipTuple);
}

function narrow(
	query: QueryBuilder<RelationshipTuple, RelationshipTuple[]>,
	filter: TupleFilter,
): QueryBuilder<RelationshipTuple, RelationshipTuple[]> {
	whereIdsIn(query, {
		'relationship_tuples.relation_id': filter.relation_ids,
		'relationship_tuples.subject_id': filter.subject_ids,
		'relationship_tuples.object_id': filter.object_ids,
		'relationship_tuples.tenant_id': filter.tenant_ids,
		'subjects.resource_id': filter.subject_type_ids,
		'objects.resource_id': filter.object_type_ids,
	});
	if (filter.expired) query.whereRaw('relationship_tuples.expires_at <= statement_timestamp()');
	if (filter.conditional) query.whereNotNull('relationship_tuples.condition_set');
	const { instance_ids } = filter;
	if (instance_ids === undefined) return query;
	return query.where((either) => {
		for (const side of ['relationship_tuples.subject_id', 'relationship_tuples.object_id']) {
			either.orWhereRaw('?? = any(?::uuid[])', [side, instance_ids]);
		}
	});
}

/** Returns at most `rowsPerStatement` stored tuples matching the filter, including expired tuples. */
export async function someTuples(unit: ReadingUnit, filter: TupleFilter): Promise<readonly TupleRow[]> {
	return tupleQuery(unit, { ...filter, stored: true, hidden: true })
		.limit(rowsPerStatement)
		.castTo<TupleRow[]>();
}

/** Yields the stored tuples matching the filter, in chunks. The caller deletes each chunk before reading the next. */
export function tuplesToRemove(unit: WritingUnit, filter: TupleFilter): AsyncIterable<readonly TupleRow[]> {
	const query = tupleQuery(unit, { ...filter, stored: true, hidden: true }).castTo<TupleRow[]>();
	return chunksToRemove(unit, RelationshipTuple, query);
}

/** Columns of the unique index, apart from the environment and the condition. */
export const tupleKey = ['object_id', 'relation_id', 'subject_id'] as const;

/** A new tuple's ids, expiry and values. */
export type TupleColumns = TupleIds & Pick<TupleRow, 'expires_at' | 'condition_values'>;

/** Inserts the tuples that do not exist yet, and returns the inserted tuples. Does not write to the change log. */
export async function insertTuples(
	unit: WritingUnit,
	wanted: readonly TupleColumns[],
): Promise<readonly RelationshipTuple[]> {
	const columns = wanted.map(({ subject_id, relation_id, object_id, tenant_id, expires_at, ...condition }) => ({
		...unit.stamp(),
		subject_id,
		relation_id,
		object_id,
		tenant_id,
		expires_at,
		condition_set: condition.condition_set,
		condition_values: condition.condition_values,
	}));
	return unit.insertMissing(RelationshipTuple, columns);
}

/** A tuple before and after its expiry or values were changed. */
export interface ChangedTuple {
	readonly before: RelationshipTuple;
	readonly after: RelationshipTuple;
}

/**
 * Changes these tuples' expiry and values if they are stored. With `extend`, changes an expiry only to a later time,
 * unless the values change. Does not write to the change log.
 */
export async function changeTupleExpiries(
	unit: WritingUnit,
	wanted: readonly TupleColumns[],
	changes: 'extend' | 'replace',
): Promise<readonly ChangedTuple[]> {
	const changed: ChangedTuple[] = [];
	for (const [, chunk] of rowChunks(wanted)) {
		const { rows } = await unit.raw<TupleChange>(
			`with before as (
				select held.id, held.expires_at, held.updated_at, held.condition_values,
					nullif(wanted.expiry, '')::timestamptz as expiry, nullif(wanted.given, '')::jsonb as given
				from unnest(:subjects::uuid[], :relations::uuid[], :objects::uuid[], :expiries::text[], :sets::text[],
					:values::text[]) as wanted (subject_id, relation_id, object_id, expiry, set, given)
				cross join lateral (
					select id, expires_at, updated_at, condition_values from relationship_tuples
					where environment_id = :environment_id
						and ${matchesAll(
							tupleKey,
							tupleKey.map((column) => `wanted.${column}`),
						)}
						and condition_set is not distinct from nullif(wanted.set, '') offset 0
				) as held
				where held.condition_values is distinct from nullif(wanted.given, '')::jsonb or (
					held.expires_at is distinct from nullif(wanted.expiry, '')::timestamptz
					and (:replace or held.expires_at < coalesce(nullif(wanted.expiry, ''), 'infinity')::timestamptz)
				)
			)
			update relationship_tuples set expires_at = before.expiry, condition_values = before.given, updated_at = :now
			from before where relationship_tuples.environment_id = :environment_id and relationship_tuples.id = before.id
			returning relationship_tuples.*, before.expires_at as previous_expires_at,
				before.condition_values as previous_values, before.updated_at as previous_updated_at`,
			{
				subjects: chunk.map(({ subject_id }) => subject_id),
				relations: chunk.map(({ relation_id }) => relation_id),
				objects: chunk.map(({ object_id }) => object_id),
				expiries: chunk.map(({ expires_at }) => expires_at?.toISOString() ?? ''),
				sets: chunk.map(({ condition_set }) => condition_set ?? ''),
				values: chunk.map(({ condition_values }) =>
					condition_values === null ? '' : JSON.stringify(condition_values),
				),
				replace: changes === 'replace',
				now: unit.now,
			},
		);
		changed.push(...rows.map(asChangedTuple));
	}
	return changed;
}

interface TupleChange extends RelationshipTuple {
	readonly previous_expires_at: Date | null;
	readonly previous_values: Attributes | null;
	readonly previous_updated_at: Date;
}

function asChangedTuple({
	previous_expires_at,
	previous_values,
	previous_updated_at,
	...columns
}: TupleChange): ChangedTuple {
	const after = RelationshipTuple.fromDatabaseJson(columns);
	const before = RelationshipTuple.fromDatabaseJson({
		...columns,
		expires_at: previous_expires_at,
		condition_values: previous_values,
		updated_at: previous_updated_at,
	});
	return { before, after };
}

/** Deletes these tuples. Does not write to the change log. */
export async function deleteTuples(unit: WritingUnit, rows: readonly TupleRow[]): Promise<void> {
	for (const [, chunk] of rowChunks(rows)) {
		const ids = chunk.map((row) => row.id);
		await unit.queryStored(RelationshipTuple).whereRaw('relationship_tuples.id = any(?::uuid[])', [ids]).delete();
	}
}

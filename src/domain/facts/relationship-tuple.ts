import { duplicate, notFound } from '../../failure.js';
import { Relation } from '../../store/table/relation.js';
import {
	changeTupleExpiries,
	deleteTuples,
	insertTuples,
	RelationshipTuple,
	someTuples,
	type TupleFilter,
	type TupleIds,
	type TupleKeys,
	type TupleRow,
	tuplesBy,
	tuplesToRemove,
} from '../../store/table/relationship-tuple.js';
import { instancesWithIds } from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId } from '../../wire/common.js';
import type {
	RelationshipTupleCreate,
	RelationshipTupleRead,
	RelationshipTupleRemove,
} from '../../wire/facts/relationship-tuple.js';
import { refuseTuplesOverLimit } from '../check-limit/cycle-limit.js';
import { endsBefore } from '../ends-before.js';
import { removeInChunks } from '../remove-in-chunks.js';
import { readCondition } from '../schema/grant-condition.js';
import { findInstances } from './named-instance.js';
import { type NamedTuple, resolveTuples } from './named-tuple.js';

/** Converts a tuple to its API object. */
export function readTuple(unit: ReadingUnit, row: TupleRow): RelationshipTupleRead {
	return { ...row, ...unit.scope, expires_at: row.expires_at ?? undefined };
}

/** Converts tuples to API objects with both instances, the relation and the tenant. */
export async function readDetailedTuples(
	unit: ReadingUnit,
	rows: readonly TupleRow[],
): Promise<readonly RelationshipTupleRead[]> {
	const ids = [...new Set(rows.flatMap((row) => [row.subject_id, row.object_id]))];
	const found = await instancesWithIds(unit, ids);
	const instances = new Map(found.map((instance) => [instance.id, instance]));
	const relations = await unit.findMany(
		Relation,
		rows.map((row) => row.relation_id),
	);
	const tenants = await unit.findMany(
		Tenant,
		rows.map((row) => row.tenant_id),
	);
	return rows.map((row) => {
		const tenant = tenants.get(row.tenant_id);
		return {
			...readTuple(unit, row),
			subject_details: instances.get(row.subject_id),
			object_details: instances.get(row.object_id),
			relation_details: relations.get(row.relation_id),
			tenant_details: tenant && { ...tenant, attributes: tenant.attributes ?? {} },
		};
	});
}

/**
 * Creates a relationship, or extends an existing relationship. Throws like `relateMany`, and `duplicate` if the
 * existing relationship does not end earlier.
 */
export async function relate(unit: WritingUnit, body: RelationshipTupleCreate): Promise<TupleRow> {
	const [row] = await relateMany(unit, [body]);
	if (row === undefined) throw duplicate('relationship tuple', tupleName(body));
	return row;
}

/**
 * Creates many relationships. Extends an existing relationship if the new expiry is later or absent. Skips other
 * existing relationships and repetitions. Creates missing instances in the tenants that the bodies name. Returns the
 * created and extended relationships. Throws `not_found` for a missing object, `mismatched_tenants` for instances in
 * two tenants, `mismatched_relation` for a subject with the wrong type, and `limit_reached` like
 * `refuseTuplesOverLimit`.
 */
export async function relateMany(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleCreate[],
): Promise<readonly TupleRow[]> {
	const made = await writeTuples(unit, await resolveTuples(unit, bodies));
	await refuseTuplesOverLimit(unit, made);
	return made;
}

/**
 * Like `relateMany`, but for resolved tuples and without the limit check. Callers with several steps run the check once
 * at the end. With `replace`, each relationship gets exactly the passed expiry, even if the existing relationship ends
 * later.
 */
export async function writeTuples(
	unit: WritingUnit,
	tuples: readonly NamedTuple[],
	changes: 'extend' | 'replace' = 'extend',
): Promise<readonly TupleRow[]> {
	if (tuples.length === 0) return [];
	const wanted = longestEach(tuples);
	const withKeys = (row: RelationshipTuple): TupleRow => {
		const { subject = '', relation = '', object = '', tenant = '' } = wanted.get(tupleIdentity(row)) ?? {};
		return { ...row, subject, relation, object, tenant };
	};
	const inserted = (await insertTuples(unit, [...wanted.values()])).map((row) => {
		const made = withKeys(row);
		unit.record('relationship_tuple', 'create', tupleName(made), null, tupleRecord(made));
		return made;
	});
	const added = new Set(inserted.map(tupleIdentity));
	const stored = [...wanted].filter(([identity]) => !added.has(identity)).map(([, tuple]) => tuple);
	if (stored.length === 0) return inserted;
	const extended = (await changeTupleExpiries(unit, stored, changes)).map(({ before, after }) => {
		const made = withKeys(after);
		unit.record('relationship_tuple', 'update', tupleName(made), tupleRecord(withKeys(before)), tupleRecord(made));
		return made;
	});
	return [...inserted, ...extended];
}

/** Returns each tuple once, with its latest expiry. */
function longestEach(tuples: readonly NamedTuple[]): ReadonlyMap<string, NamedTuple> {
	const found = new Map<string, NamedTuple>();
	for (const tuple of tuples) {
		const known = found.get(tupleIdentity(tuple));
		if (known === undefined || endsBefore(known, tuple)) found.set(tupleIdentity(tuple), tuple);
	}
	return found;
}

/**
 * Deletes a relationship. Throws `not_found` if it does not exist, for example because an object in it is missing.
 */
export async function unrelate(unit: WritingUnit, body: RelationshipTupleRemove): Promise<TupleRow> {
	const [row] = await unrelateMany(unit, [body]);
	if (row === undefined) throw notFound(RelationshipTuple.title, tupleName(body));
	return row;
}

/**
 * Deletes many relationships. Skips relationships that do not exist, even if an object they name is missing. Returns
 * the deleted relationships.
 */
export async function unrelateMany(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleRemove[],
): Promise<readonly TupleRow[]> {
	const instances = await findInstances(
		unit,
		bodies.flatMap(({ subject, object }) => [subject, object]),
	);
	const pairs = bodies.flatMap(({ subject, relation, object }) => {
		const [from, to] = [instances.get(subject), instances.get(object)];
		return from === undefined || to === undefined ? [] : [{ subject_id: from.id, object_id: to.id, relation }];
	});
	if (pairs.length === 0) return [];
	const named = new Set(
		pairs.flatMap(({ subject_id, object_id, relation }) =>
			[relation, asId(relation) ?? relation].map((name) => `${subject_id}/${name}/${object_id}`),
		),
	);
	const rows = await tuplesBy(unit, {
		subject_ids: [...new Set(pairs.map(({ subject_id }) => subject_id))],
		object_ids: [...new Set(pairs.map(({ object_id }) => object_id))],
	}).all();
	const isNamed = ({ subject_id, relation, relation_id, object_id }: TupleRow) =>
		[relation, relation_id].some((name) => named.has(`${subject_id}/${name}/${object_id}`));
	return endTuples(unit, rows.filter(isNamed));
}

/**
 * Deletes every matching relationship. Must run before its instance, relation or tenant is deleted. Returns the number
 * deleted.
 */
export async function removeTuples(
	unit: WritingUnit,
	filter: Pick<TupleFilter, 'relation_ids' | 'instance_ids' | 'tenant_ids'>,
): Promise<number> {
	return removeInChunks(tuplesToRemove(unit, filter), (rows) => endTuples(unit, rows));
}

/** Deletes expired relationships, up to the limit of a statement. Returns the number deleted. */
export async function removeExpiredTuples(unit: WritingUnit): Promise<number> {
	return (await endTuples(unit, await someTuples(unit, { expired: true }))).length;
}

/** Deletes these tuples. Returns them. */
export async function endTuples(unit: WritingUnit, rows: readonly TupleRow[]): Promise<readonly TupleRow[]> {
	await deleteTuples(unit, rows);
	for (const row of rows) unit.record('relationship_tuple', 'delete', tupleName(row), tupleRecord(row), null);
	return rows;
}

function tupleRecord(row: TupleRow): ChangedRecord {
	const { environment_id: _, expires_at, condition_set, condition_values, ...record } = row;
	const condition = readCondition({ condition_set, condition_values });
	return {
		...record,
		...(condition !== undefined && { condition }),
		...(expires_at !== null && { expires_at }),
	};
}

function tupleIdentity({ subject_id, relation_id, object_id, condition_set }: Omit<TupleIds, 'tenant_id'>): string {
	return `${subject_id}/${relation_id}/${object_id}/${condition_set ?? ''}`;
}

/** Returns a tuple in the common relationship notation. */
function tupleName({ subject, relation, object }: Pick<TupleKeys, 'subject' | 'relation' | 'object'>): string {
	return `${object}#${relation}@${subject}`;
}

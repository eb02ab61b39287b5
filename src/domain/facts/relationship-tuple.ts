import { duplicate, maxProblems, notFound, unprocessable } from '../../failure.js';
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
import { conditionProblems, readCondition } from '../schema/condition-values.js';
import { grantSets } from '../schema/grant-condition.js';
import type { PlaceOf } from './assignment-reference.js';
import { findInstances } from './named-instance.js';
import { type NamedTuple, readConditions, resolveTuples } from './named-tuple.js';

/** Converts a tuple to its API object. */
export function readTuple(unit: ReadingUnit, row: TupleRow): RelationshipTupleRead {
	return { ...row, ...unit.scope, expires_at: row.expires_at ?? undefined, condition: readCondition(row) };
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
	const [row] = await relateMany(unit, [body], () => ['body']);
	if (row === undefined) throw duplicate('relationship tuple', tupleName(body));
	return row;
}

/**
 * Creates many relationships. Extends an existing relationship if the new expiry is later or absent. Skips other
 * existing relationships and repetitions. Creates missing instances in the tenants that the bodies name. Returns the
 * created and extended relationships. Throws `not_found` for a missing object, `mismatched_tenants` for instances in
 * two tenants, `mismatched_relation` for a subject with the wrong type, `unprocessable` at the tuple's place for a
 * wrong condition, and `limit_reached` like `refuseTuplesOverLimit`.
 */
export async function relateMany(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleCreate[],
	placeOf: PlaceOf = (index) => ['body', index],
): Promise<readonly TupleRow[]> {
	const made = await writeTuples(unit, await resolveTuples(unit, bodies, placeOf));
	await refuseTuplesOverLimit(unit, made);
	return made;
}

/**
 * Like `relateMany`, but for resolved tuples and without the limit check. Callers with several steps run the check once
 * at the end. With `replace`, each relationship gets exactly the passed expiry, even if the existing relationship ends
 * later. Relating again under the same condition with different values replaces the values and the expiry.
 */
export async function writeTuples(
	unit: WritingUnit,
	tuples: readonly NamedTuple[],
	changes: 'extend' | 'replace' = 'extend',
): Promise<readonly TupleRow[]> {
	if (tuples.length === 0) return [];
	await refuseWrongGrants(unit, tuples);
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

/**
 * Throws `unprocessable` for conditions the relations do not declare, and for values that do not fit the parameters.
 */
async function refuseWrongGrants(unit: ReadingUnit, wanted: readonly NamedTuple[]): Promise<void> {
	const conditional = wanted.filter(({ condition_set }) => condition_set !== null);
	if (conditional.length === 0) return;
	const relations = await unit.findMany(
		Relation,
		conditional.map(({ relation_id }) => relation_id),
	);
	const sets = await grantSets(
		unit,
		conditional.flatMap(({ condition_set }) => condition_set ?? []),
	);
	const problems = conditional.flatMap(({ place = ['body'], ...row }) => {
		const { grant_conditions = [] } = relations.get(row.relation_id) ?? {};
		return conditionProblems(row, { title: 'relation', key: row.relation, grant_conditions }, sets, place);
	});
	if (problems.length > 0) throw unprocessable(problems.slice(0, maxProblems));
}

/**
 * Removes duplicates. Of equal unconditional tuples, keeps the latest expiry. Of equal conditional tuples, keeps the
 * last values and their expiry.
 */
function longestEach(tuples: readonly NamedTuple[]): ReadonlyMap<string, NamedTuple> {
	const found = new Map<string, NamedTuple>();
	for (const tuple of tuples) {
		const known = found.get(tupleIdentity(tuple));
		if (known === undefined || tuple.condition_set !== null || endsBefore(known, tuple)) {
			found.set(tupleIdentity(tuple), tuple);
		}
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
	const conditions = await readConditions(unit, bodies);
	const pairs = bodies.flatMap(({ subject, relation, object, condition }) => {
		const [from, to] = [instances.get(subject), instances.get(object)];
		const { condition_set } = conditions(condition);
		const ids = { subject_id: from?.id ?? '', object_id: to?.id ?? '' };
		return from === undefined || to === undefined ? [] : [{ ...ids, relation, condition_set }];
	});
	if (pairs.length === 0) return [];
	const named = new Set(
		pairs.flatMap(({ relation, ...ids }) =>
			[relation, asId(relation) ?? relation].map((name) => tupleIdentity({ ...ids, relation_id: name })),
		),
	);
	const rows = await tuplesBy(unit, {
		subject_ids: [...new Set(pairs.map(({ subject_id }) => subject_id))],
		object_ids: [...new Set(pairs.map(({ object_id }) => object_id))],
	}).all();
	const isNamed = (row: TupleRow) =>
		[row.relation, row.relation_id].some((name) => named.has(tupleIdentity({ ...row, relation_id: name })));
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

interface NamedParts extends Pick<TupleKeys, 'subject' | 'relation' | 'object'> {
	readonly condition_set?: string | null;
	readonly condition?: { readonly set: string } | undefined;
}

/** Returns a tuple in the common relationship notation, with its condition. */
function tupleName({ subject, relation, object, condition_set, condition }: NamedParts): string {
	const set = condition_set ?? condition?.set;
	return `${object}#${relation}@${subject}${set === undefined ? '' : ` under ${set}`}`;
}

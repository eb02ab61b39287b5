import { duplicate, notFound } from '../failure.js';
import type { ChangedRecord } from '../store/change.js';
import { Relation } from '../store/table/relation.js';
import {
	deleteTuples,
	insertTuples,
	RelationshipTuple,
	someTuples,
	type TupleFilter,
	type TupleIds,
	type TupleKeys,
	type TupleRow,
	tuplesBy,
} from '../store/table/relationship-tuple.js';
import { type InstanceRow, instancesBy } from '../store/table/resource-instance.js';
import { Tenant } from '../store/table/tenant.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { asId } from '../wire/common.js';
import type {
	RelationshipTupleCreate,
	RelationshipTupleRead,
	RelationshipTupleRemove,
} from '../wire/relationship-tuple.js';
import { refuseCrowds } from './circle-limit.js';
import { findInstances } from './named-instance.js';
import { resolveTuples } from './named-tuple.js';
import { removePortions } from './portions.js';

/** A tuple as the API shows it. */
export function readTuple(unit: ReadingUnit, row: TupleRow): RelationshipTupleRead {
	return { ...row, ...unit.scope };
}

/** Tuples as the API shows them with what is known of both instances, the relation and the tenant. */
export async function readDetailedTuples(
	unit: ReadingUnit,
	rows: readonly TupleRow[],
): Promise<readonly RelationshipTupleRead[]> {
	const ids = [...new Set(rows.flatMap((row) => [row.subject_id, row.object_id]))];
	const found = await instancesBy(unit, { ids }).castTo<InstanceRow[]>();
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

/** Makes one relationship. Throws as `relateMany`, and `duplicate` when it is there already. */
export async function relate(unit: WritingUnit, body: RelationshipTupleCreate): Promise<TupleRow> {
	const [row] = await relateMany(unit, [body]);
	if (row === undefined) throw duplicate('relationship tuple', nameOf(body));
	return row;
}

/**
 * Makes many relationships; those that are there already, and repetitions, are skipped. Instances that do not exist are
 * created in the tenant that is named with them. Returns what was made. Throws `not_found` for what does not exist,
 * `mismatched_tenants` for instances of two tenants, `mismatched_relation` for a subject of another type than the
 * relation's, `limit_reached` as `refuseCrowds`.
 */
export async function relateMany(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleCreate[],
): Promise<readonly TupleRow[]> {
	const made = await relateUnbounded(unit, bodies);
	await refuseCrowds(unit, made);
	return made;
}

/** As `relateMany`, but for the limit: for who makes still more, and asks about all of it when it is made. */
export async function relateUnbounded(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleCreate[],
): Promise<readonly TupleRow[]> {
	if (bodies.length === 0) return [];
	const wanted = new Map((await resolveTuples(unit, bodies)).map((tuple) => [identityOf(tuple), tuple]));
	return (await insertTuples(unit, [...wanted.values()])).map((row) => {
		const { subject = '', relation = '', object = '', tenant = '' } = wanted.get(identityOf(row)) ?? {};
		const made: TupleRow = { ...row, subject, relation, object, tenant };
		unit.record('relationship_tuple', 'create', nameOf(made), null, recordOf(made));
		return made;
	});
}

/** Ends one relationship. Throws `not_found` when there is none, whatever of it is missing. */
export async function unrelate(unit: WritingUnit, body: RelationshipTupleRemove): Promise<TupleRow> {
	const [row] = await unrelateMany(unit, [body]);
	if (row === undefined) throw notFound(RelationshipTuple.title, nameOf(body));
	return row;
}

/** Ends many relationships; those that are not there are skipped, whatever of them is missing. Returns what ended. */
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
	}).castTo<TupleRow[]>();
	const isNamed = ({ subject_id, relation, relation_id, object_id }: TupleRow) =>
		[relation, relation_id].some((name) => named.has(`${subject_id}/${name}/${object_id}`));
	return remove(unit, rows.filter(isNamed));
}

/** Ends every relationship that passes the filter: what must go before its instance, relation or tenant goes. */
export async function removeTuples(
	unit: WritingUnit,
	filter: Pick<TupleFilter, 'relation_ids' | 'instance_ids' | 'tenant_ids'>,
): Promise<number> {
	return removePortions(
		() => someTuples(unit, filter),
		(rows) => remove(unit, rows),
	);
}

async function remove(unit: WritingUnit, rows: readonly TupleRow[]): Promise<readonly TupleRow[]> {
	await deleteTuples(unit, rows);
	for (const row of rows) unit.record('relationship_tuple', 'delete', nameOf(row), recordOf(row), null);
	return rows;
}

function recordOf(row: TupleRow): ChangedRecord {
	const { environment_id: _, ...record } = row;
	return { ...record };
}

function identityOf({ subject_id, relation_id, object_id }: Omit<TupleIds, 'tenant_id'>): string {
	return `${subject_id}/${relation_id}/${object_id}`;
}

/** A tuple for people, as relationships are usually written. */
function nameOf({ subject, relation, object }: Pick<TupleKeys, 'subject' | 'relation' | 'object'>): string {
	return `${object}#${relation}@${subject}`;
}

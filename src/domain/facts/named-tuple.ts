import type { Attributes } from '../../../compiler/model.js';
import { mismatchedRelation, mismatchedTenants, notFound } from '../../failure.js';
import type { Named } from '../../store/table/assignment-reference.js';
import { Relation } from '../../store/table/relation.js';
import type { TupleColumns, TupleKeys } from '../../store/table/relationship-tuple.js';
import { type InstanceRow, ResourceInstance } from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId, instanceName } from '../../wire/common.js';
import type { RelationshipTupleCreate } from '../../wire/facts/relationship-tuple.js';
import { asDate } from '../as-date.js';
import { grantSets } from '../schema/grant-condition.js';
import type { PlaceOf } from './assignment-reference.js';
import { createMissingInstances, findInstances } from './named-instance.js';

/** A tuple, with keys and ids. */
export interface NamedTuple extends TupleKeys, TupleColumns {
	/** Place in the request; the whole body if absent. */
	readonly place?: ReturnType<PlaceOf>;
}

/**
 * Resolves tuples, after creating missing instances in their tenants. Throws `not_found` for a missing object,
 * `mismatched_relation` and `mismatched_tenants`.
 */
export async function resolveTuples(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleCreate[],
	placeOf: PlaceOf,
): Promise<readonly NamedTuple[]> {
	const instances = await ensureInstances(unit, bodies);
	const relations = await findRelations(unit, bodies);
	const conditions = await readConditions(unit, bodies);
	return bodies.map((body, index) => ({
		...resolve(body, instances, relations),
		...conditions(body.condition),
		place: placeOf(index),
	}));
}

/** Returns a function that converts a condition to its columns. Keeps the request's reference to an unknown set. */
export async function readConditions(unit: ReadingUnit, bodies: readonly ConditionOfTuple[]) {
	const references = bodies.flatMap(({ condition }) => condition?.set ?? []);
	const sets = references.length === 0 ? new Map<string, Named>() : await grantSets(unit, references);
	return (condition: ConditionOfTuple['condition']): Pick<TupleColumns, 'condition_set' | 'condition_values'> => {
		if (condition === undefined) return { condition_set: null, condition_values: null };
		const { set, values } = condition;
		// The request and the document contain JSON.
		return { condition_set: sets.get(set)?.key ?? set, condition_values: (values ?? {}) as Attributes };
	};
}

interface ConditionOfTuple {
	readonly condition?: { readonly set: string; readonly values?: object } | undefined;
}

/** A tuple, without its condition. */
type TupleBetween = Omit<NamedTuple, 'condition_set' | 'condition_values'>;

type Instances = ReadonlyMap<string, InstanceRow>;

/**
 * Returns the instances on both sides. Looks up tenants only for missing instances, because existing instances already
 * have a tenant.
 */
async function ensureInstances(unit: WritingUnit, bodies: readonly RelationshipTupleCreate[]): Promise<Instances> {
	const found = await findInstances(
		unit,
		bodies.flatMap(({ subject, object }) => [subject, object]),
	);
	const incomplete = bodies.filter(({ subject, object }) => !found.has(subject) || !found.has(object));
	if (incomplete.length === 0) return found;
	const names = incomplete.flatMap(({ tenant }) => tenant ?? []);
	const tenants = await unit.findAll(Tenant, names);
	const wanted = incomplete.flatMap((body) => {
		const tenant = body.tenant === undefined ? undefined : tenants.get(body.tenant);
		return [body.subject, body.object].map((reference) => ({ reference, tenant }));
	});
	return createMissingInstances(unit, found, wanted);
}

type Relations = ReadonlyMap<string, Relation>;

/** Returns relations, keyed by the id of their objects' resource together with their own key or id. */
async function findRelations(unit: ReadingUnit, bodies: readonly RelationshipTupleCreate[]): Promise<Relations> {
	const names = bodies.map(({ relation }) => relation);
	const rows = await unit.findNamed(Relation, names);
	return new Map([
		...rows.map((row) => [`${row.resource_id}/${row.key}`, row] as const),
		...rows.map((row) => [`${row.resource_id}/${row.id}`, row] as const),
	]);
}

function resolve(
	{ subject, relation, object, expires_at }: RelationshipTupleCreate,
	instances: Instances,
	relations: Relations,
): TupleBetween {
	const from = instances.get(subject) ?? missing(ResourceInstance, subject);
	const to = instances.get(object) ?? missing(ResourceInstance, object);
	const found =
		relations.get(`${to.resource_id}/${asId(relation)}`) ??
		relations.get(`${to.resource_id}/${relation}`) ??
		missing(Relation, relation);
	return tupleBetween(from, found, to, expires_at);
}

/**
 * Returns the tuple between two instances, without its condition. Throws `mismatched_relation`, `mismatched_tenants`.
 */
export function tupleBetween(
	from: InstanceRow,
	relation: Relation,
	to: InstanceRow,
	expires_at: string | undefined,
): TupleBetween {
	const keys = { subject: rowName(from), object: rowName(to), relation: relation.key };
	refuseMismatch(from, relation, to);
	const ids = { subject_id: from.id, relation_id: relation.id, object_id: to.id, tenant_id: to.tenant_id };
	return { ...keys, ...ids, tenant: to.tenant, expires_at: asDate(expires_at) };
}

function refuseMismatch(from: InstanceRow, relation: Relation, to: InstanceRow): void {
	if (relation.subject_resource_id !== from.resource_id) {
		throw mismatchedRelation({
			subject: rowName(from),
			subjectType: from.resource,
			relation: relation.key,
			objectType: to.resource,
		});
	}
	if (from.tenant_id !== to.tenant_id) {
		throw mismatchedTenants({ name: rowName(from), tenant: from.tenant }, { name: rowName(to), tenant: to.tenant });
	}
}

function missing({ title }: { readonly title: string }, reference: string): never {
	throw notFound(title, reference);
}

function rowName({ resource, key }: InstanceRow): string {
	return instanceName(resource, key);
}

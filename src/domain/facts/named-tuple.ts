import { mismatchedRelation, mismatchedTenants, notFound } from '../../failure.js';
import { Relation } from '../../store/table/relation.js';
import type { TupleColumns, TupleKeys } from '../../store/table/relationship-tuple.js';
import { type InstanceRow, ResourceInstance } from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId, instanceName } from '../../wire/common.js';
import type { RelationshipTupleCreate } from '../../wire/facts/relationship-tuple.js';
import { asDate } from '../as-date.js';
import { createMissingInstances, findInstances } from './named-instance.js';

/** A tuple, with keys and ids. */
export interface NamedTuple extends TupleKeys, TupleColumns {}

/**
 * Resolves tuples, after creating missing instances in their tenants. Throws `not_found` for a missing object,
 * `mismatched_relation` and `mismatched_tenants`.
 */
export async function resolveTuples(
	unit: WritingUnit,
	bodies: readonly RelationshipTupleCreate[],
): Promise<readonly NamedTuple[]> {
	const instances = await ensureInstances(unit, bodies);
	const relations = await findRelations(unit, bodies);
	return bodies.map((body) => resolve(body, instances, relations));
}

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
	const tenants = await unit.findAll(
		Tenant,
		incomplete.flatMap(({ tenant }) => tenant ?? []),
	);
	const wanted = incomplete.flatMap((body) => {
		const tenant = body.tenant === undefined ? undefined : tenants.get(body.tenant);
		return [body.subject, body.object].map((reference) => ({ reference, tenant }));
	});
	return createMissingInstances(unit, found, wanted);
}

type Relations = ReadonlyMap<string, Relation>;

/** Returns relations, keyed by their objects' resource and by reference. A reference is a key or an id. */
async function findRelations(unit: ReadingUnit, bodies: readonly RelationshipTupleCreate[]): Promise<Relations> {
	const rows = await unit.findNamed(
		Relation,
		bodies.map(({ relation }) => relation),
	);
	return new Map([
		...rows.map((row) => [`${row.resource_id}/${row.key}`, row] as const),
		...rows.map((row) => [`${row.resource_id}/${row.id}`, row] as const),
	]);
}

function resolve(
	{ subject, relation, object, expires_at }: RelationshipTupleCreate,
	instances: Instances,
	relations: Relations,
): NamedTuple {
	const from = instances.get(subject) ?? missing(ResourceInstance, subject);
	const to = instances.get(object) ?? missing(ResourceInstance, object);
	const found =
		relations.get(`${to.resource_id}/${asId(relation)}`) ??
		relations.get(`${to.resource_id}/${relation}`) ??
		missing(Relation, relation);
	return tupleBetween(from, found, to, expires_at);
}

/** Returns the tuple between two instances. Throws `mismatched_relation` and `mismatched_tenants`. */
export function tupleBetween(
	from: InstanceRow,
	relation: Relation,
	to: InstanceRow,
	expires_at: string | undefined,
): NamedTuple {
	const keys = { subject: rowName(from), object: rowName(to), relation: relation.key };
	refuseMismatch(from, relation, to);
	const ids = { subject_id: from.id, relation_id: relation.id, object_id: to.id, tenant_id: to.tenant_id };
	const plain = { condition_set: null, condition_values: null };
	return { ...keys, ...ids, tenant: to.tenant, expires_at: asDate(expires_at), ...plain };
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

import { type CircularRelation, circularRelations } from '../../../compiler/cycle.js';
import type { ClosureNeighbourhood, InstanceName } from '../../../compiler/data/delta.js';
import type { Relationship, Schema } from '../../../compiler/model.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { expiring } from './expiring.js';
import { type ExpiringStep, instancesDownstream, tuplesAlong, tuplesUpstream } from './graph-walk.js';

/**
 * Maximum number of instances and relationships in a closure update. Above these numbers, a snapshot is sent instead.
 */
const maxInstances = 20_000;
const maxRelationships = 100_000;

/**
 * Reads the unconditional relationships needed to compute closures: all closures, or only the closures affected by
 * added or removed relationships. An instance's closure changes when a relationship on a path to the instance changes.
 * The search starts at the objects of the changed relationships. It also finds the instances at the end of a removed
 * path, because the part of the path after the last removed relationship still exists.
 */
export async function closuresAround(
	unit: ReadingUnit,
	schema: Schema,
	changed: readonly Relationship[] | 'all',
): Promise<ClosureNeighbourhood | 'too_many'> {
	const circular = circularRelations(schema);
	const names = new Set(circular.map(relationName));
	const starts =
		changed === 'all' ? changed : changed.filter(({ type, relation }) => names.has(relationName({ type, relation })));
	if (circular.length === 0 || starts.length === 0) return { of: starts === 'all' ? starts : [], relationships: [] };
	const relations = await relationsIn(unit, circular);
	if (starts === 'all') {
		const tuples = await tuplesAlong(unit, [...relations.keys()], maxRelationships);
		return tuples.length > maxRelationships
			? 'too_many'
			: { of: 'all', relationships: await named(unit, relations, tuples) };
	}
	return closuresAroundObjects(unit, relations, starts);
}

async function closuresAroundObjects(
	unit: ReadingUnit,
	relations: Relations,
	starts: readonly Relationship[],
): Promise<ClosureNeighbourhood | 'too_many'> {
	const objects = new Map(
		starts.map(({ type, instance }) => [JSON.stringify([type, instance]), { type, key: instance }]),
	);
	const relationIds = [...relations].filter(([, { inside }]) => inside).map(([id]) => id);
	const ids = await instanceIds(unit, [...objects.values()]);
	const reached = await instancesDownstream(unit, relationIds, ids, maxInstances);
	if (objects.size > maxInstances || reached.length > maxInstances) return 'too_many';
	const along = {
		relationIds,
		enteringIds: [...relations.keys()],
		unconditional: true,
		most: maxRelationships,
	} as const;
	const tuples = await tuplesUpstream(unit, along, reached);
	if (tuples.length > maxRelationships) return 'too_many';
	// A deleted object has no relationships upstream and no closure.
	for (const { type, key } of (await instanceNames(unit, reached)).values())
		objects.set(JSON.stringify([type, key]), { type, key });
	return { of: [...objects.values()], relationships: await named(unit, relations, tuples) };
}

/** Relations keyed by id. */
type Relations = ReadonlyMap<string, { readonly key: string; readonly inside: boolean }>;

/**
 * Returns these relations by id. A relation that stays within one cycle and enters a different cycle is considered
 * inside.
 */
async function relationsIn(unit: ReadingUnit, circular: readonly CircularRelation[]): Promise<Relations> {
	const { rows } = await unit.raw<{ readonly id: string; readonly key: string; readonly inside: boolean }>(
		`select relations.id, relations.key, bool_or(wanted.inside) as inside
		from unnest(:types::text[], :keys::text[], :inside::boolean[]) as wanted (type, key, inside)
		join resources on resources.environment_id = :environment_id and resources.key = wanted.type
		join relations on relations.environment_id = :environment_id
			and relations.resource_id = resources.id and relations.key = wanted.key
		group by relations.id, relations.key`,
		{
			types: circular.map(({ type }) => type),
			keys: circular.map(({ relation }) => relation),
			inside: circular.map(({ inside }) => inside),
		},
	);
	return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the ids of these instances; omits instances that do not exist. */
async function instanceIds(unit: ReadingUnit, names: readonly InstanceName[]): Promise<readonly string[]> {
	const { rows } = await unit.raw<{ readonly id: string }>(
		`select resource_instances.id from unnest(:types::text[], :keys::text[]) as wanted (type, key)
		join resources on resources.environment_id = :environment_id and resources.key = wanted.type
		join resource_instances on resource_instances.environment_id = :environment_id
			and resource_instances.resource_id = resources.id and resource_instances.key = wanted.key`,
		{ types: names.map(({ type }) => type), keys: names.map(({ key }) => key) },
	);
	return rows.map(({ id }) => id);
}

async function named(
	unit: ReadingUnit,
	relations: Relations,
	tuples: readonly ExpiringStep[],
): Promise<readonly Relationship[]> {
	const names = await instanceNames(unit, [
		...new Set(tuples.flatMap(({ subject_id, object_id }) => [subject_id, object_id])),
	]);
	return tuples.flatMap(({ subject_id, relation_id, object_id, expires_at }) => {
		const [subject, object, relation] = [names.get(subject_id), names.get(object_id), relations.get(relation_id)?.key];
		if (subject === undefined || object === undefined || relation === undefined) return [];
		const ends = { type: object.type, instance: object.key, subject_type: subject.type, subject: subject.key };
		return [{ ...ends, relation, ...expiring(expires_at) }];
	});
}

/** Returns instance names keyed by id. */
async function instanceNames(unit: ReadingUnit, ids: readonly string[]): Promise<ReadonlyMap<string, InstanceName>> {
	if (ids.length === 0) return new Map();
	const { rows } = await unit.raw<InstanceName & { readonly id: string }>(
		`select resource_instances.id, resources.key as type, resource_instances.key from resource_instances
		join resources on resources.environment_id = :environment_id and resources.id = resource_instances.resource_id
		where resource_instances.environment_id = :environment_id and resource_instances.id = any(:ids::uuid[])`,
		{ ids: [...ids] },
	);
	return new Map(rows.map((row) => [row.id, row]));
}

function relationName({ type, relation }: { readonly type: string; readonly relation: string }): string {
	return JSON.stringify([type, relation]);
}

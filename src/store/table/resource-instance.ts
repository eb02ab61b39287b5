import { type QueryBuilder, type RawBuilder, raw } from 'objection';
import { asId, instanceName, instanceParts } from '../../wire/common.js';
import { searchPattern, whereIdsIn } from '../query/filter.js';
import { idsAmong } from '../query/reference.js';
import { rowsPerStatement } from '../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { chunksToRemove } from '../unit/chunks-to-remove.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { KeyedModel, sameEnvironment } from './environment-model.js';

/** An object of a resource type, in a tenant. */
export class ResourceInstance extends KeyedModel {
	static override readonly tableName = 'resource_instances';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'resource_instance';
	static readonly title = 'ResourceInstance';

	declare resource_id: string;
	declare tenant_id: string;
	declare attributes: Record<string, unknown>;
}

/** An instance with its resource key and tenant key. */
export type InstanceRow = ResourceInstance & { readonly resource: string; readonly tenant: string };

/** Filter for instances. An instance must match an entry in each list. Absent lists do not filter. */
export interface InstanceFilter {
	readonly ids?: readonly string[] | undefined;
	readonly resource_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
	/** Each search is an id, a substring of the key or of `<resource key>:<key>`, or a pattern with `*` for either. */
	readonly searches?: readonly string[] | undefined;
}

/**
 * Returns the SQL for `<resource key>:<instance key>`, built from the names of the joined tables. Its value is null if
 * the row has no instance.
 */
export function instanceNameIn(resources: string, instances: string): RawBuilder {
	return raw(`?? || ':' || ??`, [`${resources}.key`, `${instances}.key`]);
}

/** Returns the environment's instances matching the filter, with keys, oldest first. */
export function instancesBy(unit: ReadingUnit, filter: InstanceFilter): RowQuery<InstanceRow> {
	const unjoined = filter.searches === undefined ? whereIdsMatch(unit.query(ResourceInstance), filter) : undefined;
	return rowQuery(instanceQuery(unit, filter).castTo<InstanceRow[]>(), unjoined);
}

/** Like `instancesBy`, but returns a query that can be joined further. */
export function instanceQuery(
	unit: ReadingUnit,
	filter: InstanceFilter,
): QueryBuilder<ResourceInstance, ResourceInstance[]> {
	const query = unit
		.query(ResourceInstance)
		.join('resources', sameEnvironment('resource_instances', 'resource_id', 'resources'))
		.join('tenants', sameEnvironment('resource_instances', 'tenant_id', 'tenants'))
		.select('resource_instances.*', 'resources.key as resource', 'tenants.key as tenant')
		.orderBy('resource_instances.id');
	whereIdsMatch(query, filter);
	return filter.searches === undefined ? query : whereSearchedFor(query, filter.searches);
}

function whereIdsMatch(query: QueryBuilder<ResourceInstance, ResourceInstance[]>, filter: InstanceFilter) {
	return whereIdsIn(query, {
		'resource_instances.id': filter.ids,
		'resource_instances.resource_id': filter.resource_ids,
		'resource_instances.tenant_id': filter.tenant_ids,
	});
}

function whereSearchedFor(query: QueryBuilder<ResourceInstance, ResourceInstance[]>, searches: readonly string[]) {
	const patterns = searches.map((search) => searchPattern(search));
	return query.where((any) => {
		any
			.whereRaw('resource_instances.key ilike any(?::text[])', [patterns])
			.orWhereRaw('(?) ilike any(?::text[])', [instanceNameIn('resources', 'resource_instances'), patterns])
			.orWhereRaw('resource_instances.id = any(?::uuid[])', [idsAmong(searches)]);
	});
}

/** Returns the id and `<resource key>:<instance key>` of all instances, in no particular order. */
export async function instanceNames(
	unit: ReadingUnit,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
	return unit
		.query(ResourceInstance)
		.join('resources', sameEnvironment('resource_instances', 'resource_id', 'resources'))
		.select('resource_instances.id', instanceNameIn('resources', 'resource_instances').as('name'))
		.castTo<{ id: string; name: string }[]>();
}

/** Yields the instances matching the filter, in chunks. The caller deletes each chunk before reading the next. */
export function instancesToRemove(unit: WritingUnit, filter: InstanceFilter): AsyncIterable<readonly InstanceRow[]> {
	return chunksToRemove(unit, ResourceInstance, instanceQuery(unit, filter).castTo<InstanceRow[]>());
}

/** Returns at most `rowsPerStatement` instances after this id that match the filter. */
export async function someInstancesAfter(
	unit: ReadingUnit,
	filter: InstanceFilter,
	id: string,
): Promise<readonly InstanceRow[]> {
	return instanceQuery(unit, filter)
		.where('resource_instances.id', '>', id)
		.limit(rowsPerStatement)
		.castTo<InstanceRow[]>();
}

/**
 * Returns instances by reference, omitting unknown references. INVARIANT: if a reference matches both an id and a key,
 * the id match is used. An id or `<resource key>:<instance key>` identifies a single instance. A bare instance key
 * matches all instances with this key, in all resources.
 */
export async function instancesNamed(
	unit: ReadingUnit,
	references: Iterable<string>,
): Promise<ReadonlyMap<string, readonly InstanceRow[]>> {
	const wanted = new Set(references);
	const pairs = [...wanted].map(instanceParts).filter((parts) => parts !== null);
	const found = new Map<string, InstanceRow[]>();
	for (const row of await instancesAt(unit, pairs)) found.set(instanceName(row.resource, row.key), [row]);
	const others = [...wanted].filter((reference) => !found.has(reference) && instanceParts(reference) === null);
	const byId = new Map((await instancesWithIds(unit, idsAmong(others))).map((row) => [row.id, row]));
	for (const reference of others) {
		const row = byId.get(asId(reference) ?? '');
		if (row !== undefined) found.set(reference, [row]);
	}
	const bare = others.filter((reference) => !found.has(reference));
	for (const row of await instancesCalled(unit, bare)) found.set(row.key, [...(found.get(row.key) ?? []), row]);
	return found;
}

/**
 * Returns the instances with these pairs of resource key and instance key. Ids, pairs and bare keys have separate
 * queries, because each of these uses an index, while a single query with three conditions would not.
 */
async function instancesAt(
	unit: ReadingUnit,
	pairs: readonly { readonly resource: string; readonly key: string }[],
): Promise<readonly InstanceRow[]> {
	if (pairs.length === 0) return [];
	return lookUpInstances(
		unit,
		`select resources.environment_id, resources.id as resource_id, pairs.key
			from unnest(:types::text[], :keys::text[]) as pairs (type, key)
			join resources on resources.environment_id = :environment_id and resources.key = pairs.type`,
		'resource_id = wanted.resource_id and key = wanted.key',
		{ types: pairs.map(({ resource }) => resource), keys: pairs.map(({ key }) => key) },
	);
}

/** Returns the instances with these ids, with keys, oldest first. */
export async function instancesWithIds(unit: ReadingUnit, ids: readonly string[]): Promise<readonly InstanceRow[]> {
	if (ids.length === 0) return [];
	return lookUpInstances(
		unit,
		'select distinct :environment_id::uuid as environment_id, id from unnest(:ids::uuid[]) as ids (id)',
		'id = wanted.id',
		{ ids: [...ids] },
	);
}

/**
 * Returns the instances that match a row in the query `wanted`, oldest first. INVARIANT: instances are looked up
 * through an index, even without statistics, or with statistics from before the environment's first row. This requires
 * `offset 0`, and the environment id from `wanted`: for an id from a query, the planner expects as many rows as in an
 * average environment. Otherwise it might read all instances of the environment for each row.
 */
async function lookUpInstances(
	unit: ReadingUnit,
	wanted: string,
	condition: string,
	bindings: Readonly<Record<string, string[]>>,
): Promise<readonly InstanceRow[]> {
	const { rows } = await unit.raw<InstanceRow>(
		`with wanted as materialized (${wanted})
		select found.*, types.key as resource, places.key as tenant from wanted cross join lateral (
			select * from resource_instances where environment_id = wanted.environment_id and ${condition} offset 0
		) as found cross join lateral (
			select key from resources where environment_id = found.environment_id and id = found.resource_id offset 0
		) as types cross join lateral (
			select key from tenants where environment_id = found.environment_id and id = found.tenant_id offset 0
		) as places
		order by found.id`,
		bindings,
	);
	return rows.map((row) => ResourceInstance.fromDatabaseJson(row) as InstanceRow);
}

async function instancesCalled(unit: ReadingUnit, keys: readonly string[]): Promise<readonly InstanceRow[]> {
	if (keys.length === 0) return [];
	return instanceQuery(unit, {}).whereRaw('resource_instances.key = any(?::text[])', [keys]).castTo<InstanceRow[]>();
}

/** Returns the instance with these keys, or `null` if there is none. */
export async function instanceWithKeys(unit: ReadingUnit, resource: string, key: string): Promise<InstanceRow | null> {
	const [row] = await instancesAt(unit, [{ resource, key }]);
	return row ?? null;
}

/** Returns the instances with these pairs of resource id and instance key. */
export async function instancesKeyed(
	unit: ReadingUnit,
	wanted: readonly { readonly resource: { readonly id: string }; readonly key: string }[],
): Promise<readonly ResourceInstance[]> {
	return unit
		.query(ResourceInstance)
		.whereRaw('(resource_id, key) in (select * from unnest(?::uuid[], ?::text[]))', [
			wanted.map(({ resource }) => resource.id),
			wanted.map(({ key }) => key),
		]);
}

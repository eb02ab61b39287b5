import type { KeyedModel } from '../../store/table/environment-model.js';
import { Resource } from '../../store/table/resource.js';
import { tenantRolesOnly } from '../../store/table/role.js';
import { type PartModel, partsWithKeys, rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { TableModel, Within } from '../../store/unit/table-model.js';
import { type DocumentPlace, unknownReference } from './part.js';

/**
 * Resolves keys in documents to objects. Domain functions are then called with ids, because a key may look like a
 * different object's id.
 */

/** Returns the object with a key. Throws `not_found` with the key's location. */
export type FindByKey<M> = (key: string, place: DocumentPlace) => M;

/** Loads the objects in `within` with these keys. */
export async function keyResolver<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	keys: Iterable<string>,
	within: Within = {},
): Promise<FindByKey<M>> {
	const rows = await rowsWithKeys(unit, table, keys, within);
	return (key, place) => {
		const row = rows.get(key);
		if (row === undefined) throw unknownReference(place, table.title, key);
		return row;
	};
}

/** An action, relation or role, identified by its key and resource key. A tenant role has no resource. */
export interface PartName {
	readonly resource: string | null;
	readonly key: string;
}

/** Returns the resource part with a name. Throws `not_found` with the name's location. */
export type FindPart<M> = (name: PartName, place: DocumentPlace) => M;

/** Loads the given resource parts in a few statements. */
export async function partResolver<M extends PartModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	names: readonly PartName[],
): Promise<FindPart<M>> {
	const owners = names.flatMap(({ resource }) => resource ?? []);
	const resources = await rowsWithKeys(unit, Resource, owners);
	const pairs = names.flatMap(({ resource, key }) => {
		const owner = resources.get(resource ?? '');
		return owner === undefined ? [] : [{ resource_id: owner.id, key }];
	});
	const partAt = await partsWithKeys(unit, table, pairs);
	const ownerless = names.filter(({ resource }) => resource === null).map(({ key }) => key);
	const others = await rowsWithKeys(unit, table, ownerless, tenantRolesOnly);
	return ({ resource, key }, place) => {
		const owner = resources.get(resource ?? '');
		const row = resource === null ? others.get(key) : owner && partAt(owner.id, key);
		if (row === undefined) throw unknownReference(place, table.title, resource === null ? key : `${resource}:${key}`);
		return row;
	};
}

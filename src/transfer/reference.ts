import type { KeyedModel } from '../store/table/environment-model.js';
import { Resource } from '../store/table/resource.js';
import { tenantRolesOnly } from '../store/table/role.js';
import { type PartModel, partsWithKeys, rowsWithKeys } from '../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { TableModel, Within } from '../store/unit/table-model.js';
import { type DocumentPlace, unknownReference } from './part.js';

/**
 * Resolves the keys in documents. From here on, ids are passed, because a key may look like the id of another object.
 */

/** Finds the object with a key. Throws `not_found`, with the place of the key, if there is none. */
export type FindByKey<M> = (key: string, place: DocumentPlace) => M;

/** Loads the objects of `within` with these keys. */
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

/** An action, relation or role by its key and that of its resource; a tenant role is of no resource. */
export interface PartName {
	readonly resource: string | null;
	readonly key: string;
}

/** Finds a part of a resource. Throws `not_found`, with the place of the name, if there is none. */
export type FindPart<M> = (name: PartName, place: DocumentPlace) => M;

/** Loads the parts of resources with these names, in a few statements. */
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

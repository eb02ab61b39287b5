import type { KeyedModel } from '../store/table/environment-model.js';
import { Resource } from '../store/table/resource.js';
import { ofTenants } from '../store/table/role.js';
import type { ReadingUnit, Table, Within } from '../store/unit.js';
import { type PartModel, partsWithKeys, rowsWithKeys } from '../store/whole.js';
import { nothingAt, type Place } from './transfer-part.js';

/** What documents refer to, by keys. Ids are passed on from here: a key might look like the id of something else. */

/** Finds the object with a key. Throws `not_found`, saying where the key is, when there is none. */
export type ByKey<M> = (key: string, place: Place) => M;

/** Finds the objects of `within` with these keys. */
export async function referencesTo<M extends KeyedModel>(
	unit: ReadingUnit,
	table: Table<M>,
	keys: Iterable<string>,
	within: Within = {},
): Promise<ByKey<M>> {
	const rows = await rowsWithKeys(unit, table, keys, within);
	return (key, place) => {
		const row = rows.get(key);
		if (row === undefined) throw nothingAt(place, table.title, key);
		return row;
	};
}

/** An action, relation or role by its key and that of its resource; a tenant role is of no resource. */
export interface PartName {
	readonly resource: string | null;
	readonly key: string;
}

/** Finds what belongs to a resource. Throws `not_found`, saying where the name is, when there is none. */
export type ByPartName<M> = (name: PartName, place: Place) => M;

/** Finds what belongs to resources and has these names, in a few statements. */
export async function referencesToParts<M extends PartModel>(
	unit: ReadingUnit,
	table: Table<M>,
	names: readonly PartName[],
): Promise<ByPartName<M>> {
	const owners = names.flatMap(({ resource }) => resource ?? []);
	const resources = await rowsWithKeys(unit, Resource, owners);
	const pairs = names.flatMap(({ resource, key }) => {
		const owner = resources.get(resource ?? '');
		return owner === undefined ? [] : [{ resource_id: owner.id, key }];
	});
	const partOf = await partsWithKeys(unit, table, pairs);
	const ownerless = names.filter(({ resource }) => resource === null).map(({ key }) => key);
	const others = await rowsWithKeys(unit, table, ownerless, ofTenants);
	return ({ resource, key }, place) => {
		const owner = resources.get(resource ?? '');
		const row = resource === null ? others.get(key) : owner && partOf(owner.id, key);
		if (row === undefined) throw nothingAt(place, table.title, resource === null ? key : `${resource}:${key}`);
		return row;
	};
}

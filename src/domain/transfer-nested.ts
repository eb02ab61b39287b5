import { groupBy } from '../group-by.js';
import { Resource } from '../store/table/resource.js';
import type { ReadingUnit, Table, WritingUnit } from '../store/unit.js';
import { type PartModel, partsWithin, partsWithKeys, rowsWithKeys } from '../store/whole.js';
import type { ResourceEntry } from '../wire/environment-document.js';
import { type Entry, entriesOfMap, nestedKeys, nestedName, type Part, rowsByKey, valuesOf } from './transfer-part.js';

/** What belongs to a resource and is an object of its own: in documents it is inside of the resource. */

/** A row and the resource that it is of. */
export interface Owned<M> {
	readonly resource: Resource;
	readonly row: M;
}

/** An entry to be written, the resource that it is of, and the row that is there to be changed. */
export interface OwnedEntry<M, V> extends Entry<V> {
	readonly key: string;
	readonly resource: Resource;
	readonly row: M | undefined;
}

/** What tells one kind of what belongs to resources from another. */
export interface Nested<M extends PartModel, V> extends Pick<Part<V>, 'title' | 'shown'> {
	readonly table: Table<M>;
	readonly member: 'relations' | 'action_groups' | 'roles';
	mapOf(resource: ResourceEntry): Readonly<Record<string, V>>;
	/** What each row says. */
	describe(unit: ReadingUnit, rows: readonly M[]): Promise<(row: M) => V>;
	write(unit: WritingUnit, entries: readonly OwnedEntry<M, V>[]): Promise<void>;
	removeOwned(unit: WritingUnit, owned: readonly Owned<M>[]): Promise<void>;
}

/** One kind of what belongs to resources: named by the resource and its own key. */
export function nestedPart<M extends PartModel, V>(nested: Nested<M, V>): Part<V> {
	const { title, member, shown } = nested;
	return {
		...{ title, shown, member: ['schema', 'resources', member], list: false },
		scope: ({ name }) => [['resources', nestedKeys(name)[0]]],
		entriesOf: ({ schema }) =>
			Object.entries(schema?.resources ?? {}).flatMap(([holder, resource]) => {
				const entries = entriesOfMap(['schema', 'resources', holder, member], nested.mapOf(resource));
				return entries.map((entry) => ({ ...entry, name: nestedName(holder, entry.name) }));
			}),
		async *portions(unit) {
			for await (const resources of rowsByKey(unit, Resource)) {
				yield entriesOf(unit, nested, await allOf(unit, nested, resources));
			}
		},
		async held(unit, entries) {
			const found = (await find(unit, nested, entries)).flatMap(existing);
			return valuesOf(await entriesOf(unit, nested, found));
		},
		async write(unit, entries) {
			if (entries.length > 0) await nested.write(unit, await find(unit, nested, entries));
		},
		async remove(unit, entries) {
			await nested.removeOwned(unit, (await find(unit, nested, entries)).flatMap(existing));
		},
	};
}

/** All of the resources', in the order of their keys. */
async function allOf<M extends PartModel, V>(
	unit: ReadingUnit,
	{ table }: Nested<M, V>,
	resources: readonly Resource[],
): Promise<readonly Owned<M>[]> {
	const ids = resources.map(({ id }) => id);
	const rows = groupBy(await partsWithin(unit, table, ids), ({ resource_id }) => resource_id);
	return resources.flatMap((resource) =>
		(rows.get(resource.id) ?? [])
			.toSorted((left, right) => (left.key < right.key ? -1 : 1))
			.map((row) => ({ resource, row })),
	);
}

async function entriesOf<M extends PartModel, V>(
	unit: ReadingUnit,
	{ member, describe }: Nested<M, V>,
	owned: readonly Owned<M>[],
): Promise<readonly Entry<V>[]> {
	const describedAs = await describe(
		unit,
		owned.map(({ row }) => row),
	);
	return owned.map(({ resource, row }) => ({
		name: nestedName(resource.key, row.key),
		place: ['schema', 'resources', resource.key, member, row.key],
		value: describedAs(row),
	}));
}

/** What entries name. A resource that is not there has nothing: a document writes it before what belongs to it. */
async function find<M extends PartModel, V>(
	unit: ReadingUnit,
	{ table }: Nested<M, V>,
	entries: readonly Entry<V>[],
): Promise<readonly OwnedEntry<M, V>[]> {
	const holders = entries.map(({ name }) => nestedKeys(name)[0]);
	const resources = await rowsWithKeys(unit, Resource, holders);
	const owned = entries.flatMap((entry) => {
		const [holder, key] = nestedKeys(entry.name);
		const resource = resources.get(holder);
		return resource === undefined ? [] : [{ ...entry, key, resource }];
	});
	const rowOf = await partsWithKeys(
		unit,
		table,
		owned.map(({ key, resource }) => ({ resource_id: resource.id, key })),
	);
	return owned.map((entry) => ({ ...entry, row: rowOf(entry.resource.id, entry.key) }));
}

function existing<M>({ resource, row }: { readonly resource: Resource; readonly row: M | undefined }): Owned<M>[] {
	return row === undefined ? [] : [{ resource, row }];
}

import { groupBy } from '../../../compiler/group-by.js';
import { Resource } from '../../store/table/resource.js';
import { type PartModel, partsWithin, partsWithKeys, rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { TableModel } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ResourceEntry } from '../../wire/general/environment-document.js';
import {
	type DocumentPart,
	type Entry,
	mapEntries,
	nestedKeys,
	nestedName,
	rowsInKeyOrder,
	valuesByName,
} from './part.js';

/** Objects in a resource. Documents nest them in the resource. */

/** A row with its resource. */
interface Owned<M> {
	readonly resource: Resource;
	readonly row: M;
}

/** An entry to write, with its resource and its existing row, if any. */
interface OwnedEntry<M, V> extends Entry<V> {
	readonly key: string;
	readonly resource: Resource;
	readonly row: M | undefined;
}

/** Operations that differ between nested kinds. */
export interface NestedKind<M extends PartModel, V> extends Pick<DocumentPart<V>, 'title' | 'toDocument'> {
	readonly table: TableModel<M>;
	readonly member: 'relations' | 'action_groups' | 'roles';
	entryMap(resource: ResourceEntry): Readonly<Record<string, V>>;
	/** Returns a function to convert a row to its document value. */
	describe(unit: ReadingUnit, rows: readonly M[]): Promise<(row: M) => V>;
	write(unit: WritingUnit, entries: readonly OwnedEntry<M, V>[]): Promise<void>;
	removeOwned(unit: WritingUnit, owned: readonly Owned<M>[]): Promise<void>;
}

/** Returns the part for a nested kind. Names combine the resource key and the object key. */
export function nestedPart<M extends PartModel, V>(nested: NestedKind<M, V>): DocumentPart<V> {
	const { title, member } = nested;
	return {
		title,
		toDocument: nested.toDocument,
		member: ['schema', 'resources', member],
		list: false,
		scope: ({ name }) => [['resources', nestedKeys(name)[0]]],
		entriesIn: ({ schema }) =>
			Object.entries(schema?.resources ?? {}).flatMap(([holder, resource]) => {
				const entries = mapEntries(['schema', 'resources', holder, member], nested.entryMap(resource));
				return entries.map((entry) => ({ ...entry, name: nestedName(holder, entry.name) }));
			}),
		async *chunks(unit) {
			for await (const resources of rowsInKeyOrder(unit, Resource)) {
				yield describeEntries(unit, nested, await findOwned(unit, nested, resources));
			}
		},
		async stored(unit, entries) {
			const found = (await findNamed(unit, nested, entries)).flatMap(existing);
			return valuesByName(await describeEntries(unit, nested, found));
		},
		async write(unit, entries) {
			if (entries.length > 0) await nested.write(unit, await findNamed(unit, nested, entries));
		},
		async remove(unit, entries) {
			await nested.removeOwned(unit, (await findNamed(unit, nested, entries)).flatMap(existing));
		},
	};
}

/** Returns all rows in these resources, in key order. */
async function findOwned<M extends PartModel, V>(
	unit: ReadingUnit,
	{ table }: NestedKind<M, V>,
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

async function describeEntries<M extends PartModel, V>(
	unit: ReadingUnit,
	{ member, describe }: NestedKind<M, V>,
	owned: readonly Owned<M>[],
): Promise<readonly Entry<V>[]> {
	const ownedRows = owned.map(({ row }) => row);
	const describedAs = await describe(unit, ownedRows);
	return owned.map(({ resource, row }) => ({
		name: nestedName(resource.key, row.key),
		place: ['schema', 'resources', resource.key, member, row.key],
		value: describedAs(row),
	}));
}

/**
 * Returns the rows for entries. Skips entries whose resource is missing. During a write the resource exists,
 * because a document writes resources before nested objects.
 */
async function findNamed<M extends PartModel, V>(
	unit: ReadingUnit,
	{ table }: NestedKind<M, V>,
	entries: readonly Entry<V>[],
): Promise<readonly OwnedEntry<M, V>[]> {
	const holders = entries.map(({ name }) => nestedKeys(name)[0]);
	const resources = await rowsWithKeys(unit, Resource, holders);
	const owned = entries.flatMap((entry) => {
		const [holder, key] = nestedKeys(entry.name);
		const resource = resources.get(holder);
		return resource === undefined ? [] : [{ ...entry, key, resource }];
	});
	const rowAt = await partsWithKeys(
		unit,
		table,
		owned.map(({ key, resource }) => ({ resource_id: resource.id, key })),
	);
	return owned.map((entry) => ({ ...entry, row: rowAt(entry.resource.id, entry.key) }));
}

function existing<M>({ resource, row }: { readonly resource: Resource; readonly row: M | undefined }): Owned<M>[] {
	return row === undefined ? [] : [{ resource, row }];
}

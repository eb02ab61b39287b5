import { removeInstances, syncInstances } from '../../domain/facts/resource-instance.js';
import { Resource } from '../../store/table/resource.js';
import {
	type InstanceRow,
	instanceNames,
	instancesBy,
	instancesNamed,
	ResourceInstance,
} from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceName, instanceParts } from '../../wire/common.js';
import type { InstanceEntry } from '../../wire/general/environment-document.js';
import {
	chunked,
	type DocumentPart,
	type Entry,
	entryNames,
	mapEntries,
	unknownReference,
	valuesByName,
	withoutDefaults,
} from './part.js';
import { type FindByKey, keyResolver } from './reference.js';

const member = ['facts', 'resource_instances'] as const;

/** Resource instances, identified by resource and key. */
export const instancePart: DocumentPart<InstanceEntry> = {
	title: 'resource instance',
	member,
	scope: null,
	list: false,
	isEmpty: (unit) => unit.isEmpty(ResourceInstance),
	entriesIn: ({ facts }) => mapEntries(member, facts?.resource_instances),
	async *chunks(unit) {
		for await (const names of instanceNamesInChunks(unit)) {
			const ids = names.map(({ id }) => id);
			const rows = await instancesBy(unit, { ids }).all();
			const entries = new Map(rows.map((row) => [row.id, instanceEntry(row)]));
			yield ids.flatMap((id) => entries.get(id) ?? []);
		}
	},
	async stored(unit, entries) {
		return valuesByName((await findNamedInstances(unit, entryNames(entries))).map(instanceEntry));
	},
	toDocument: (value) => withoutDefaults(value, { attributes: {} }),
	async write(unit, entries) {
		const tenantKeys = entries.map(({ value }) => value.tenant);
		const tenantAt = await keyResolver(unit, Tenant, tenantKeys);
		const resourceKeys = entries.map(({ name }) => nameParts(name).resource);
		const resourceAt = await keyResolver(unit, Resource, resourceKeys);
		const tenants = new Map(
			entries.map(({ name, place, value }) => [name, tenantAt(value.tenant, [...place, 'tenant'])]),
		);
		const held = await findNamedInstances(unit, entryNames(entries.filter(({ exists }) => exists)));
		// An instance cannot move to a different tenant, so it is deleted and created again.
		const moved = held.filter((row) => tenants.get(rowName(row))?.id !== row.tenant_id);
		await removeInstances(unit, { ids: moved.map(({ id }) => id) });
		await syncInstances(
			unit,
			entries.map(({ name, place, value }) => {
				const { resource, key } = nameParts(name);
				const tenant = tenants.get(name)?.id ?? '';
				return { key, resource: resourceAt(resource, place).id, tenant, attributes: value.attributes };
			}),
		);
	},
	async remove(unit, entries) {
		await removeInstances(unit, { ids: (await findNamedInstances(unit, entryNames(entries))).map(({ id }) => id) });
	},
};

/** Yields all instances' ids and names in name order, in chunks. */
export async function* instanceNamesInChunks(
	unit: ReadingUnit,
): AsyncGenerator<readonly { readonly id: string; readonly name: string }[]> {
	const names = await instanceNames(unit);
	yield* chunked(names.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
}

/** Returns a lookup for instances by name. */
export async function instanceResolver(unit: ReadingUnit, names: readonly string[]): Promise<FindByKey<InstanceRow>> {
	const rows = new Map((await findNamedInstances(unit, names)).map((row) => [rowName(row), row]));
	return (name, place) => {
		const row = rows.get(name);
		if (row === undefined) throw unknownReference(place, ResourceInstance.title, name);
		return row;
	};
}

/** Returns the existing instances with these names. */
export async function findNamedInstances(unit: ReadingUnit, names: readonly string[]): Promise<readonly InstanceRow[]> {
	return [...(await instancesNamed(unit, names)).values()].flat();
}

function instanceEntry(row: InstanceRow): Entry<InstanceEntry> {
	const name = rowName(row);
	return { name, place: [...member, name], value: { tenant: row.tenant, attributes: row.attributes } };
}

function rowName({ resource, key }: InstanceRow): string {
	return instanceName(resource, key);
}

/** Splits a name into resource and key. Document validation ensures that both are present. */
function nameParts(name: string) {
	return instanceParts(name) ?? { resource: name, key: name };
}
